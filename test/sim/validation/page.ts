/** Shows measured cases as sections of docs/validation.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/paths.js';
import { digits, holds, LEVEL, type Row, theoryText, type ValidationCase } from './case.js';

export const page = join(root, 'docs/validation.md');

export const introduction = `# Validation

This page compares results of the simulator with known answers from theory. In a checkout that
is built, \`npm run validate -- condorcet\` measures one case and prints its section; without a name
it measures all cases. The command fails if a row does not hold, or if a section differs from
this page; \`-u\` writes the sections into the page. Theory is exact if the interval is empty.
Otherwise the interval has a confidence of ${100 * LEVEL} %, so about one of ten such pages has a
false alarm. If theory says "at least", the whole interval must reach the bound. Seeds are fixed:
the same version gives the same figures on every machine. [model.md](model.md) describes the model.
`;

export const headOf = ({ name, about, source }: ValidationCase): string =>
  `\n## ${name}\n\n${wrapped(about)}\nSource: ${source}.\n\n`;

export function section(one: ValidationCase, rows: readonly Row[]): string {
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

/** Composes the page from measured sections by name. Other sections stay as they are. */
export function composePage(
  cases: readonly ValidationCase[],
  measured: ReadonlyMap<string, string>,
): string {
  const [, ...known] = readFileSync(page, 'utf8').split(/\n(?=## )/);
  const sections = cases.map(({ name }) => {
    const before = known.find((text) => text.startsWith(`## ${name}\n`));
    return measured.get(name) ?? (before === undefined ? '' : `\n${before}`);
  });
  return `${introduction}${sections.join('')}`;
}
