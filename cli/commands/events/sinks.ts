/** Where exported events go: lines on standard output, or a file that is whole or not there. */
import { basename, dirname } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { formatInstant } from '../../../engine/protocol/schema/primitives.js';
import { WholeFile } from '../../../report/folder.js';
import { escapeControls, writeStdoutAsync } from '../../output/output.js';
import { type Cells, type Column, type SelectedEvent, type Sink, toCells } from './columns.js';

/** Lines that wait for one write. */
const BLOCK = 500;

export interface SinkOptions {
  format: 'ndjson' | 'csv' | 'parquet';
  /** Left out: standard output. */
  out?: string;
  columns: readonly Column[];
  /** Kept in a file whose format has a place for it. */
  about: Record<string, string>;
}

/** @throws {StoreError} `UNREADABLE`, as its functions, when the file cannot be written. */
export async function createSink({ format, out, columns, about }: SinkOptions): Promise<Sink> {
  const file = out === undefined ? null : new WholeFile(dirname(out), basename(out));
  if (format === 'parquet') {
    const { parquetSink } = await import('./parquet.js');
    return parquetSink(file!, columns, about);
  }
  return lineSink(file, format === 'csv' ? csvLines(columns) : jsonLines);
}

/** From some events to lines; asked without any at the beginning. */
type LinesOf = (some: readonly SelectedEvent[]) => string[];

const jsonLines: LinesOf = (some) => some.map(({ json }) => json);

/** A row is one line: what would break it, or steer a terminal, stands as JSON writes it. */
function csvLines(columns: readonly Column[]): LinesOf {
  const names = columns.map(({ name }) => name);
  const row = (cells: Cells) =>
    columns.map(({ name, kind }) => {
      const cell = cells[name];
      if (kind === 'time') return formatInstant(cell as number);
      return typeof cell === 'string' ? escapeControls(cell) : cell;
    });
  return (some) => {
    const rows = some.length === 0 ? [names] : some.map(({ event }) => row(toCells(event)));
    return stringify(rows).trimEnd().split('\n');
  };
}

function lineSink(file: WholeFile | null, linesOf: LinesOf): Sink {
  let waiting: SelectedEvent[] = [];
  const write = async (lines: readonly string[]) => {
    if (!file) await writeStdoutAsync(...lines);
    else if (lines.length > 0) file.write(`${lines.join('\n')}\n`);
  };
  let begun = false;
  const flush = async () => {
    if (!begun) await write(linesOf([]));
    begun = true;
    if (waiting.length > 0) await write(linesOf(waiting));
    waiting = [];
  };
  return {
    async add(one) {
      waiting.push(one);
      if (waiting.length === BLOCK) await flush();
    },
    async finish() {
      await flush();
      file?.finish();
    },
    abandon: () => file?.abandon(),
  };
}
