/**
 * `npm run dev [tests]`: builds, then watches. Compiles changed sources and reruns the affected
 * tests, from all fast tests or from the given paths.
 */
import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const node = process.execPath;
const tsc = 'node_modules/typescript/bin/tsc';
const tests = process.argv.slice(2);

function run(...args) {
  const { status } = spawnSync(node, args, { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function watchTests() {
  const selection = tests.length > 0 ? tests : ['--project', 'fast'];
  const vitest = spawn(node, ['node_modules/vitest/vitest.mjs', 'watch', ...selection], {
    cwd,
    stdio: 'inherit',
  });
  vitest.once('exit', (code) => {
    compiler.kill();
    process.exit(code ?? 1);
  });
}

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true });
const compiler = spawn(node, [tsc, '-p', 'tsconfig.json', '--watch', '--preserveWatchOutput'], {
  cwd,
  stdio: ['ignore', 'pipe', 'inherit'],
});
let built = false;
createInterface(compiler.stdout).on('line', (line) => {
  process.stdout.write(`${line}\n`);
  if (built || !/Found \d+ error/.test(line)) return;
  built = true;
  // From here on, the compiler writes only changed files, so the bundles remain.
  run('tools/bundle.mjs');
  watchTests();
});
