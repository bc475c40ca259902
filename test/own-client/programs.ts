/** Programs that documents show, compiled as by somebody who depends on the package. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/fixture.js';
import { root } from '../support/paths.js';
import { document, fenced } from './markdown.js';

const run = promisify(execFile);

/** Debian's packages belong to Debian's Python, which need not be the first one on the path. */
export const python = ['python3', '/usr/bin/python3'].find((candidate) => {
  try {
    execFileSync(candidate, ['-c', 'import nacl.signing, websockets'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

/** Runs the blocks of docs/own-client.md as one script against a server; gives its output. */
export async function ownClient(url: string): Promise<string> {
  const script = join(temporaryFolder(), 'agent.py');
  writeFileSync(script, fenced(document('docs/own-client.md'), 'python').join('\n'));
  const { stdout } = await run(python!, [script, url], { timeout: 600_000 });
  return stdout;
}

export interface Compiled {
  folder: string;
  /** The compiled program of each, as a path. */
  files: string[];
  /** What the compiler says; '' when all is well. */
  problems: string;
}

/** A folder in which `folkmoot` is installed, as far as a program can tell. */
export function dependingFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/folkmoot'));
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  return folder;
}

/** Compiles programs in strict TypeScript, with the package's own declarations checked, too. */
export async function compiled(programs: readonly string[]): Promise<Compiled> {
  const folder = dependingFolder();
  const names = programs.map((_, index) => `program-${index}`);
  for (const [index, text] of programs.entries()) {
    writeFileSync(join(folder, `${names[index]}.mts`), text);
  }
  const tsc = join(root, 'node_modules/.bin/tsc');
  const how = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  const sources = names.map((name) => `${name}.mts`);
  const problems = await run(tsc, [...how, ...sources], { cwd: folder })
    .then(() => '')
    .catch(({ stdout }: { stdout: string }) => stdout || 'the compiler did not run');
  return { folder, files: names.map((name) => join(folder, `${name}.mjs`)), problems };
}
