/** docs/validation.md: every row of every case, Markdown. */
import { holds, type Row, type ValidationCase } from './case.js';
import { LEVEL } from './interval.js';

export interface Validated {
  one: ValidationCase;
  rows: readonly Row[];
}

const introduction = `# Validation

Known answers beside what the simulator measures, by \`npm run validate -- --write\` in a checkout.
Theory is exact where the interval is empty; elsewhere each interval is one of ${100 * LEVEL} %,
so that none of a hundred misses by chance but in one of ten such pages. Seeds are fixed: the same
version measures the same figures on every machine. [model.md](model.md) says what the model is.
`;

export function validationDocument(all: readonly Validated[]): string {
  return `${introduction}${all.map(section).join('')}`;
}

function section({ one, rows }: Validated): string {
  const lines = rows.map(({ what, from, ...row }) => [
    what,
    digits(row.theory),
    digits(row.measured),
    row.interval ? row.interval.map(digits).join(' to ') : '',
    from,
    holds({ what, from, ...row }) ? 'yes' : 'NO',
  ]);
  const head = ['what', 'theory', 'measured', 'interval', 'from', 'holds'];
  const text = `${wrapped(one.about)}\nSource: ${one.source}.\n`;
  return `\n## ${one.name}\n\n${text}\n${table(head, lines)}`;
}

/** Five digits, and never an exponent. */
export const digits = (value: number): string => String(Number(value.toPrecision(5)));

function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)));
  const line = (row: string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return `${[line(head), rule, ...rows.map(line)].join('\n')}\n`;
}

const COLUMNS = 105;

function wrapped(text: string): string {
  let line = '';
  let lines = '';
  for (const word of text.split(' ')) {
    if (line.length + word.length >= COLUMNS) {
      lines += `${line}\n`;
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return `${lines}${line}\n`;
}
