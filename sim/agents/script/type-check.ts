/**
 * Type-checks TypeScript scripts against folkmoot/sim. Uses the TypeScript installation in the
 * scenario's folder or the working directory. Does not run the scripts.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scenarioError } from '../../scenario/problem.js';

interface TypesChecked {
  /** TypeScript version; null if TypeScript is not installed. */
  typescript: string | null;
  /** One line per problem, with the script and line number. */
  problems: string[];
}

const ours = fileURLToPath(new URL('../../index.d.ts', import.meta.url));
const isTyped = (path: string) => /\.[cm]?tsx?$/.test(path);

/** @param modules paths relative to the folder. Modules that are not TypeScript are ignored. */
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
      const detail = `${stdout}${stderr}`.trim().split('\n', 1)[0]!;
      throw scenarioError('TYPE_CHECK_FAILED', { version: compiler.version, detail });
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

/** Resolves a package from the folder, then from the working directory. */
function resolved(name: string, folder: string): string | null {
  for (const from of [folder, process.cwd()]) {
    try {
      return createRequire(join(resolve(from), 'here.js')).resolve(name);
    } catch {
      // Try the next folder.
    }
  }
  return null;
}

/** Writes a program that assigns each script to ScriptModule, so scripts need no annotations. */
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

/** Matches a line of compiler output. Continuation lines are ignored. */
const PROBLEM = /^(.+?)\((\d+),\d+\): error (TS\d+): (.*)$/;

/** Errors about Node modules without installed types. These are not problems in the script. */
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
    return [`${modules[Number(check[1])]}: not a ScriptModule: ${text} (${code})`];
  });
}
