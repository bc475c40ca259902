/**
 * Compares simulations with theory. Full counts give the figures of docs/validation.md;
 * `npm run validate` compares the page, and with `-- -u` writes it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { full } from '../../support/counts.js';
import { root } from '../../support/paths.js';
import {
  digits,
  holds,
  LEVEL,
  type Row,
  shareInterval,
  theoryText,
  type ValidationCase,
} from './case.js';
import { cases } from './cases.js';

const page = join(root, 'docs/validation.md');
const measured = new Map<ValidationCase, readonly Row[]>();

test.each(cases)('validation: theory lies inside every interval: $name', async (one) => {
  const rows = await one.rows(full ? 'full' : 'small');
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(holds(row), JSON.stringify(row)).toBe(true);
  measured.set(one, rows);
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

test.runIf(full)('validation: the page has the measured figures', async (context) => {
  context.skip(measured.size < cases.length, 'only some cases were run');
  const sections = [...measured].map(([one, rows]) => section(one, rows));
  await expect(`${introduction}${sections.join('')}`).toMatchFileSnapshot(page);
});

const introduction = `# Validation

This page compares results of the simulator with known answers from theory. In a checkout,
\`npm run validate -- -u\` writes it. Theory is exact if the interval is empty. Otherwise the
interval has a confidence of ${100 * LEVEL} %, so about one of ten such pages has a false alarm. If
theory says "at least", the whole interval must reach the bound. Seeds are fixed: the same version
gives the same figures on every machine. [model.md](model.md) describes the model.
`;

const headOf = ({ name, about, source }: ValidationCase): string =>
  `\n## ${name}\n\n${wrapped(about)}\nSource: ${source}.\n\n`;

function section(one: ValidationCase, rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    row.what,
    theoryText(row),
    digits(row.measured),
    row.interval ? row.interval.map(digits).join(' to ') : '',
    row.from,
    holds(row) ? 'yes' : 'NO',
  ]);
  const head = ['what', 'theory', 'measured', 'interval', 'from', 'holds'];
  return `${headOf(one)}${table(head, lines)}`;
}

function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)));
  const line = (row: string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return `${[line(head), rule, ...rows.map(line)].join('\n')}\n`;
}

/** Breaks lines after at most 105 columns. */
const wrapped = (text: string): string =>
  text.replace(/(.{1,105})(?: |$)/g, (_, line: string) => `${line}\n`);
