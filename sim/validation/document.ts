/** docs/validation.md: every row of every case, Markdown. */
import { digits, holds, type Row, theoryText, type ValidationCase } from './case.js';
import { LEVEL } from './interval.js';

export interface Validated {
  one: ValidationCase;
  rows: readonly Row[];
}

const introduction = `# Validation

Known answers beside what the simulator measures, by \`npm run validate -- --write\` in a checkout.
Theory is exact where the interval is empty; elsewhere each interval is one of ${100 * LEVEL} %,
so that none of a hundred misses by chance but in one of ten such pages. Where theory says
"at least", the whole interval must reach that bound. Seeds are fixed: the same version measures
the same figures on every machine. [model.md](model.md) says what the model is.
`;

export function validationDocument(all: readonly Validated[]): string {
  return `${introduction}${all.map(section).join('')}`;
}

function section({ one, rows }: Validated): string {
  const lines = rows.map((row) => [
    row.what,
    theoryText(row),
    digits(row.measured),
    row.interval ? row.interval.map(digits).join(' to ') : '',
    row.from,
    holds(row) ? 'yes' : 'NO',
  ]);
  const head = ['what', 'theory', 'measured', 'interval', 'from', 'holds'];
  const text = `${wrapped(one.about)}\nSource: ${one.source}.\n`;
  return `\n## ${one.name}\n\n${text}\n${table(head, lines)}`;
}

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
