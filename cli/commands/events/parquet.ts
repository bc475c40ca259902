/** Writes events as a Parquet file, one row group at a time. */

import type { WholeFile } from '../../../report/folder.js';
import {
  type BasicType,
  ByteWriter,
  ParquetWriter,
  schemaFromColumnData,
} from '../../output/bundled/hyparquet.js';
import { type Cells, type Column, type ColumnKind, type Sink, toCells } from './columns.js';

/**
 * Rows per group. A group is the unit that the writer holds in memory and that readers can skip.
 */
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

/** Flushes to the file after each row group. */
class FileWriter extends ByteWriter {
  readonly #file: WholeFile;

  constructor(file: WholeFile) {
    super();
    this.#file = file;
  }

  flush(): void {
    this.#file.write(this.getBytes());
    this.index = 0;
  }

  override finish(): void {
    this.flush();
    this.#file.finish();
  }
}

export function parquetSink(
  file: WholeFile,
  columns: readonly Column[],
  about: Record<string, string>,
): Sink {
  const empty = columns.map(({ name, kind }) => ({ name, type: types[kind], data: [] }));
  const writer = new ParquetWriter({
    writer: new FileWriter(file),
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
