/** Export outputs: standard output, or a file that appears only when complete. */
import { basename, dirname } from 'node:path';
import { formatInstant } from '../../../engine/protocol/schema/primitives.js';
import { formatRows } from '../../../report/bundled/csv.js';
import { WholeFile } from '../../../report/folder.js';
import type { BasicType } from '../../output/bundled/hyparquet.js';
import { escapeControls, writeStdoutAsync } from '../../output/output.js';
import {
  type Cells,
  type Column,
  type ColumnKind,
  type SelectedEvent,
  type Sink,
  toCells,
} from './columns.js';

/** Events per write. */
const BLOCK = 500;

export interface SinkOptions {
  format: 'ndjson' | 'csv' | 'parquet';
  /** File to write (default: standard output). */
  out?: string;
  columns: readonly Column[];
  /** Writes CSV text that a spreadsheet would run as a formula as it is. */
  raw: boolean;
  /** Metadata for a Parquet file. */
  about: Record<string, string>;
}

/** @throws {StoreError} `UNREADABLE` if the file cannot be written, as do the sink's methods. */
export async function createSink({ format, out, columns, about, raw }: SinkOptions): Promise<Sink> {
  const file = out === undefined ? null : new WholeFile(dirname(out), basename(out));
  if (format === 'parquet') return parquetSink(file!, columns, about);
  return lineSink(file, format === 'csv' ? csvLines(columns, raw) : jsonLines);
}

/** Formats events as lines. An empty list returns the header. */
type LinesOf = (some: readonly SelectedEvent[]) => string[];

const jsonLines: LinesOf = (some) => some.map(({ json }) => json);

/** Formats one line per row. Control characters are escaped as in JSON. */
function csvLines(columns: readonly Column[], raw: boolean): LinesOf {
  const names = columns.map(({ name }) => name);
  const row = (cells: Cells) =>
    columns.map(({ name, kind }) => {
      const cell = cells[name];
      if (kind === 'time') return formatInstant(cell as number);
      return typeof cell === 'string' ? escapeControls(cell) : cell;
    });
  return (some) => {
    const rows = some.length === 0 ? [names] : some.map(({ event }) => row(toCells(event)));
    return formatRows(rows, { raw }).trimEnd().split('\n');
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

/** Rows per group: the unit that the writer holds in memory and that readers can skip. */
const GROUP = 20_000;

const types: Record<ColumnKind, BasicType> = {
  text: 'STRING',
  integer: 'INT64',
  number: 'DOUBLE',
  time: 'TIMESTAMP',
};

type Value = string | number | bigint | Date | null;

/** Converts a cell to its column's type. */
const values: Record<ColumnKind, (cell: string | number) => Value> = {
  text: (cell) => String(cell),
  integer: (cell) => BigInt(cell),
  number: (cell) => Number(cell),
  time: (cell) => new Date(cell),
};

/** Writes a Parquet file, one row group at a time. */
async function parquetSink(
  file: WholeFile,
  columns: readonly Column[],
  about: Record<string, string>,
): Promise<Sink> {
  const { ByteWriter, ParquetWriter, schemaFromColumnData } = await import(
    '../../output/bundled/hyparquet.js'
  );
  class FileWriter extends ByteWriter {
    flush(): void {
      file.write(this.getBytes());
      this.index = 0;
    }

    override finish(): void {
      this.flush();
      file.finish();
    }
  }
  const empty = columns.map(({ name, kind }) => ({ name, type: types[kind], data: [] }));
  const writer = new ParquetWriter({
    writer: new FileWriter(),
    schema: schemaFromColumnData({ columnData: empty }),
    kvMetadata: Object.entries(about).map(([key, value]) => ({ key, value })),
    createdBy: 'folkmoot',
  });
  let rows: Cells[] = [];
  const flush = async () => {
    if (rows.length === 0) return;
    const columnData = columns.map(({ name, kind }) => ({
      name,
      data: rows.map(({ [name]: cell }) => (cell === undefined ? null : values[kind](cell))),
    }));
    rows = [];
    await writer.write({ columnData, rowGroupSize: GROUP });
  };
  return {
    async add({ event }) {
      rows.push(toCells(event));
      if (rows.length === GROUP) await flush();
    },
    async finish() {
      await flush();
      await writer.finish();
    },
    abandon: () => file.abandon(),
  };
}
