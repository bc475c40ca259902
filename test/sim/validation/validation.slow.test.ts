/** Theory beside measurement: every case in small counts, the page's rows, and what a miss is. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { holds } from '../../../dist/sim/validation/case.js';
import { cases } from '../../../dist/sim/validation/cases/index.js';
import { shareInterval } from '../../../dist/sim/validation/interval.js';
import { full } from '../../support/counts.js';
import { root } from '../../support/paths.js';

const main = join(root, 'dist/sim/validation/main.js');
const size = full ? 'full' : 'small';

test.each(cases)('validation: theory lies inside every interval: $name', async (one) => {
  const rows = await one.rows(size);
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(holds(row), JSON.stringify(row)).toBe(true);
});

test('validation: what is far off is a miss, and exact is exact', () => {
  const row = { what: 'a coin', measured: 0.6, from: '1000 throws' };
  expect(holds({ ...row, theory: 0.5, interval: shareInterval(600, 1_000) })).toBe(false);
  expect(holds({ ...row, theory: 0.6, interval: null })).toBe(true);
  expect(holds({ ...row, theory: 0.6000001, interval: null })).toBe(false);
});

test('validation: the page has every case, and no row that does not hold', () => {
  const page = readFileSync(join(root, 'docs/validation.md'), 'utf8');
  for (const { name } of cases) expect(page).toContain(`## ${name}`);
  expect(page).not.toMatch(/\| NO +\|$/m);
});

test('validate: prints a case, writes only the whole page, and names the cases', async () => {
  const run = promisify(execFile);
  const args = [main, '--case', 'small-world', '--size', 'small'];
  const { stdout } = await run(process.execPath, args);
  expect(stdout).toMatch(/ok {2}4000 agents on a ring of degree 10: clustering: 0\.66667/);
  const partial = run(process.execPath, [...args, '--write']);
  await expect(partial).rejects.toMatchObject({ code: 2, stderr: /--write needs all cases/ });
  const unknown = run(process.execPath, [main, '--case', 'astrology']);
  await expect(unknown).rejects.toMatchObject({ code: 2, stderr: /the cases are thresholds/ });
});
