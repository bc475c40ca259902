/** Compiles and runs programs of documents as a user of the package. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/fixture.js';
import { root } from '../support/paths.js';
import { document, fenced } from './markdown.js';

const run = promisify(execFile);

/** Debian packages work with the Python of Debian, which may not be first on the path. */
export const python = ['python3', '/usr/bin/python3'].find((candidate) => {
  try {
    execFileSync(candidate, ['-c', 'import nacl.signing, websockets'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

const blocks = fenced(document('docs/own-client.md'), 'python');

/** The blocks of docs/own-client.md that define `call`. */
export const callBlocks = blocks.slice(0, 3);

/** Runs blocks, by default those of docs/own-client.md, as one script. Returns its output. */
export async function ownClient(url: string, code: readonly string[] = blocks): Promise<string> {
  const script = join(temporaryFolder(), 'agent.py');
  writeFileSync(script, code.join('\n'));
  const { stdout } = await run(python!, [script, url], { timeout: 600_000 });
  return stdout;
}

export interface Compiled {
  folder: string;
  /** Path of each compiled program. */
  files: string[];
  /** Compiler errors, or ''. */
  problems: string;
}

/** Creates a folder with a link to the package. */
export function dependingFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/folkmoot'));
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  return folder;
}

/** Compiles programs in strict TypeScript, and checks the declarations of the package. */
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
