/** Lines of a small CSV file that a user wrote: cells without quotes, and comments. */

/** A line of a file that cannot be meant. */
export class BadLine extends Error {
  override name = 'BadLine';

  constructor(
    /** From 1. */
    readonly line: number,
    text: string,
  ) {
    super(text);
  }
}

export interface CsvRow {
  /** From 1. */
  line: number;
  cells: string[];
}

/** What has something in it, in order; what begins with # is a comment. */
export function rowsOf(text: string): CsvRow[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  return lines.flatMap((whole, index) => {
    const content = whole.trim();
    if (content === '' || content.startsWith('#')) return [];
    const cells = content.split(',').map((cell) => cell.trim());
    return [{ line: index + 1, cells }];
  });
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;

/** A number within bounds. @throws {BadLine} */
export function numberIn(
  { line, cells }: CsvRow,
  column: number,
  { what, least, most }: { what: string; least: number; most: number },
): number {
  const cell = cells[column] ?? '';
  const value = DECIMAL.test(cell) ? Number(cell) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new BadLine(line, `has ${JSON.stringify(cell)}; expected ${what} from ${least} to ${most}`);
}
