/** Tests `npm run bench` as users run it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchResult } from '../../dist/bench/case.js';
import { cases } from '../../dist/bench/run.js';
import { Value } from '../../dist/engine/protocol/bundled/typebox.js';
import { folkmoot } from '../support/cli.js';
import { temporaryFolder } from '../support/fixture.js';

const program = fileURLToPath(new URL('../../dist/bench/main.js', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));
const bench = (...args: string[]) => folkmoot(args, { program });

test('bench: runs a named case, with text and JSON output', async () => {
  const file = join(temporaryFolder(), 'bench.json');
  const { code, stdout, stderr } = await bench('--case', 'engine', '--seed', 'a', '--json', file);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('engine') });
  const result = JSON.parse(readFileSync(file, 'utf8')) as BenchResult;
  expect([...Value.Errors(BenchResult, result)]).toEqual([]);
  expect(result).toMatchObject({ seed: 'a', size: 'small', rounds: 1 });
  expect(result.r).toBeGreaterThan(0);
  for (const row of result.cases) {
    expect(row.case).toBe('engine');
    expect(row.per_s ?? row.ratio).toBeGreaterThan(0);
    expect(stdout).toContain(row.name);
  }
  expect(stdout).toContain(`commit ${result.commit}, seed a, size small`);
});

test('bench: refuses an unknown case and names all cases', async () => {
  const { code, stdout, stderr } = await bench('--case', 'nonsense');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(cases.map(({ name }) => name).join(', '));
});

test('bench: compares two builds in alternating runs', async () => {
  const file = join(temporaryFolder(), 'comparison.json');
  const args = ['--case', 'engine', '--against', root, '--pairs', '1', '--json', file];
  const { code, stdout, stderr } = await bench(...args);
  expect([0, 3], stderr).toContain(code);
  const { rows, not_compared, fallen, ...head } = JSON.parse(readFileSync(file, 'utf8'));
  expect(head).toMatchObject({ format: 'folkmoot-bench-comparison-1', pairs: 1, size: 'small' });
  expect(not_compared).toEqual([]);
  expect(code).toBe(fallen.length > 0 ? 3 : 0);
  expect(rows.length).toBeGreaterThan(0);
  for (const { name, here, there, relative, range } of rows) {
    expect(stdout).toContain(name);
    expect(range[0]).toBeLessThanOrEqual(relative);
    expect(range[1]).toBeGreaterThanOrEqual(relative);
    expect(Math.min(here, there)).toBeGreaterThan(0);
  }
});

test('bench: refuses to compare with a folder without a build', async () => {
  const { code, stdout, stderr } = await bench('--against', temporaryFolder());
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('npm run build');
  expect((await bench('--against', root, '--pairs', '0')).code).toBe(2);
});

test('docs/benchmarks.md: has a line for each case, in order', () => {
  const docs = readFileSync(new URL('../../docs/benchmarks.md', import.meta.url), 'utf8');
  const lines = docs.split('## The cases')[1]!.split('## ')[0]!;
  const listed = [...lines.matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, name]) => name);
  expect(listed).toEqual(cases.map(({ name }) => name));
});

test('bench: refuses an unknown size', async () => {
  const { code, stderr } = await bench('--size', 'huge');
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('small, large') });
});

test('bench: --help lists all cases and shows examples', async () => {
  const { code, stdout } = await bench('--help');
  expect(code).toBe(0);
  const rows = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
  for (const { name, about } of cases) expect(rows).toContainEqual([name, about]);
  expect(stdout).toContain('npm run bench -- --case server --json server.json');
});
