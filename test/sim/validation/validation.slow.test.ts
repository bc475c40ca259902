/**
 * Compares simulations with theory. Full counts give the figures of docs/validation.md, which
 * `npm run validate` prints, compares and writes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { full } from '../../support/counts.js';
import { root } from '../../support/paths.js';
import { holds, shareInterval } from './case.js';
import { cases } from './cases.js';
import { composePage, headOf, introduction, page, section } from './page.js';

test.each(cases)('validation: theory lies inside every interval: $name', async (one) => {
  const rows = await one.rows(full ? 'full' : 'small');
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(holds(row), JSON.stringify(row)).toBe(true);
  if (full) expect(readFileSync(page, 'utf8')).toContain(section(one, rows));
});

test('validation: a distant value is a miss, and exact theory needs equality', () => {
  const row = { what: 'a coin', measured: 0.6, from: '1000 throws' };
  expect(holds({ ...row, theory: 0.5, interval: shareInterval(600, 1_000) })).toBe(false);
  expect(holds({ ...row, theory: 0.6, interval: null })).toBe(true);
  expect(holds({ ...row, theory: 0.6000001, interval: null })).toBe(false);
});

test('validation: the page has every case, and no row that does not hold', () => {
  const text = readFileSync(page, 'utf8');
  for (const one of cases) expect(text).toContain(headOf(one));
  expect(text.startsWith(introduction)).toBe(true);
  expect(text).not.toMatch(/\| NO +\|$/m);
});

test('validation: measured sections replace those of the page, and others stay', () => {
  const text = readFileSync(page, 'utf8');
  expect(composePage(cases, new Map())).toBe(text);
  const [first, second] = cases;
  const changed = composePage(cases, new Map([[second!.name, section(second!, [])]]));
  expect(changed).toContain(`${headOf(second!)}| what |`);
  expect(changed.startsWith(text.slice(0, text.indexOf(headOf(second!))))).toBe(true);
  expect(changed).toContain(headOf(first!));
});

test('validation: the program prints the rows of a case, and refuses an unknown name', async () => {
  const jiti = join(root, 'node_modules/jiti/lib/jiti-cli.mjs');
  const around = { program: jiti, env: { FOLKMOOT_TEST_COUNTS: '' } };
  const program = join(root, 'test/sim/validation/validate.ts');
  const { code, stdout } = await folkmoot([program, 'crashes'], around);
  expect(stdout).toMatch(/^## crashes$/m);
  expect(stdout).toMatch(/^\| 3 of 10 .*in turn.* \| 0\.7 +\| 0\.7 +\| +\| 100 slots \| yes +\|$/m);
  expect(stdout).not.toMatch(/^## condorcet$/m);
  expect(code).toBe(0);
  const other = await folkmoot([program, 'crash'], around);
  expect(other.stderr).toContain('condorcet, paradox');
  expect([other.code, other.stdout]).toEqual([2, '']);
});
