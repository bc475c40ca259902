/**
 * Whether TypeScript scripts fit the types of folkmoot/sim: asked of the TypeScript that is
 * installed where the scenario is, or where the command is given. Nothing of a script is run.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScenarioError } from '../../scenario/problem.js';

/** What TypeScript says. */
interface TypesChecked {
  /** Its version; null where none is installed. */
  typescript: string | null;
  /** A line each: the script from the scenario's folder, line, and what is wrong. */
  problems: string[];
}

const ours = fileURLToPath(new URL('../../index.d.ts', import.meta.url));
const isTyped = (path: string) => /\.[cm]?tsx?$/.test(path);

/** @param modules paths from the folder; those that are no TypeScript are left alone. */
export function checkTypes(modules: readonly string[], folder: string): TypesChecked | null {
  const typed = modules.filter(isTyped);
  if (typed.length === 0) return null;
  const compiler = compilerFor(folder);
  if (!compiler) return { typescript: null, problems: [] };
  const work = mkdtempSync(join(tmpdir(), 'folkmoot-types-'));
  try {
    writeProject(work, typed, resolve(folder));
    const args = [compiler.program, '--project', work, '--pretty', 'false'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
    });
    const problems = problemsIn(stdout, typed, folder, work);
    if (status !== 0 && problems.length === 0) {
      const said = `${stdout}${stderr}`.trim().split('\n', 1)[0];
      throw new ScenarioError(`TypeScript ${compiler.version} cannot check the scripts: ${said}`);
    }
    return { typescript: compiler.version, problems };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function compilerFor(folder: string): { version: string; program: string } | null {
  const file = resolved('typescript/package.json', folder);
  if (file === null) return null;
  const { version, bin } = JSON.parse(readFileSync(file, 'utf8')) as {
    version: string;
    bin: { tsc: string };
  };
  return { version, program: join(dirname(file), bin.tsc) };
}

/** From the folder, or from where the command is given. */
function resolved(name: string, folder: string): string | null {
  for (const from of [folder, process.cwd()]) {
    try {
      return createRequire(join(resolve(from), 'here.js')).resolve(name);
    } catch {
      // It may be found from the other place.
    }
  }
  return null;
}

/** A program that takes each script for a ScriptModule: what it exports need not say so itself. */
function writeProject(work: string, modules: readonly string[], folder: string): void {
  const checks = modules.map((module, index) => {
    const file = join(work, `check-${index}.ts`);
    const lines = [
      `import * as script from ${JSON.stringify(join(folder, module))};`,
      "import type { ScriptModule } from 'folkmoot/sim';",
      'export const checked: ScriptModule = script;',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  });
  const node = resolved('@types/node/package.json', folder);
  const compilerOptions = {
    ...{ strict: true, noImplicitAny: false, noEmit: true, skipLibCheck: true },
    ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler' },
    allowImportingTsExtensions: true,
    paths: { 'folkmoot/sim': [ours] },
    ...(node === null
      ? { lib: ['es2023', 'dom'], types: [] }
      : { lib: ['es2023'], types: ['node'], typeRoots: [dirname(dirname(node))] }),
  };
  const files = [...modules.map((module) => join(folder, module)), ...checks];
  writeFileSync(join(work, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
}

/** As TypeScript prints them, one a line, with paths from the folder; continued lines are left. */
const PROBLEM = /^(.+?)\((\d+),\d+\): error (TS\d+): (.*)$/;

/** Node's own modules, where their types are not installed: no fault of the script. */
const unknownNode: ReadonlySet<string> = new Set(['TS2580', 'TS2591']);

function problemsIn(
  output: string,
  modules: readonly string[],
  folder: string,
  work: string,
): string[] {
  return output.split('\n').flatMap((line) => {
    const [, path, number, code, text] = PROBLEM.exec(line) ?? [];
    if (path === undefined || unknownNode.has(code!)) return [];
    const file = resolve(folder, path);
    const check = /check-(\d+)\.ts$/.exec(relative(work, file));
    if (!check) return [`${relative(folder, file)}:${number}: ${text} (${code})`];
    return [`${modules[Number(check[1])]}: it is no ScriptModule: ${text} (${code})`];
  });
}
