import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Segment, Store } from '../../engine/store/store.js';
import { CliCommand, integer } from '../options/options.js';
import { canRedraw, printJson, redraw, writeStderr, writeStdout } from '../output/output.js';

interface Flags {
  before: number;
  dryRun?: boolean;
  compact: boolean;
  json?: boolean;
}

const position = integer(0, Number.MAX_SAFE_INTEGER);

export function archiveCommand(): CliCommand {
  return new CliCommand('archive')
    .description('move old log entries into compressed files')
    .argument('<dir>', 'data folder or saved run, not open in a server')
    .requiredOption('--before <seq>', 'first entry to keep', position)
    .option('--dry-run', 'print the entries to move, and change nothing')
    .option('--no-compact', 'keep the free space inside data.mdb for reuse')
    .option('--json', 'print one JSON object')
    .notes(`
Moves entries and their events into DIR/archive/*.seg and shrinks data.mdb.
replay, log and serve read the archive transparently, and no digest changes.
Copy DIR/archive together with the folder.

Entry 0, the last entry, and all entries since the oldest block in voting stay.
Records and meme files stay too. The command can be killed at any time: the
folder stays valid, and the next run continues.`)
    .examples(
      'archive folkmoot-data --before 1000000 --dry-run',
      'archive folkmoot-data --before 1000000',
      'serve --archive-after 200000',
    )
    .action(run);
}

/** Sizes in bytes. */
interface Archived {
  /** First and last moved entry, or null if no entry was moved. */
  first: number | null;
  last: number | null;
  segments: number;
  /** Compressed and uncompressed size of the segments. */
  bytes: number;
  raw_bytes: number;
  /** Size of data.mdb. */
  data_bytes_before: number;
  data_bytes: number;
  compacted: boolean;
}

async function run(folder: string, flags: Flags): Promise<void> {
  const { storeFolder } = await import('../options/folder.js');
  if (flags.dryRun) return foretell(folder, flags);
  const path = storeFolder(folder);
  const data = () => statSync(join(path, 'data.mdb')).size;
  const store = await openAlone(path);
  let segments: Segment[];
  let compacted = false;
  const before = data();
  try {
    segments = await moveAll(store, flags.before);
    compacted = flags.compact && (await compact(store));
  } finally {
    if (!compacted) await store.close();
  }
  const sum = (of: (segment: Segment) => number) =>
    segments.reduce((total, segment) => total + of(segment), 0);
  const archived: Archived = {
    first: segments[0]?.first ?? null,
    last: segments.at(-1)?.last ?? null,
    segments: segments.length,
    bytes: sum(({ bytes }) => bytes),
    raw_bytes: sum(({ raw_bytes }) => raw_bytes),
    data_bytes_before: before,
    data_bytes: data(),
    compacted,
  };
  if (flags.json) printJson(archived);
  else writeStdout(...readable(archived));
}

/** @throws {StoreError} `LOCKED` if another process has the folder open. */
async function openAlone(path: string): Promise<Store> {
  const { openLmdbStore } = await import('../../engine/store/lmdb.js');
  const { SCHEMA_VERSION, tables } = await import('../../engine/protocol/schema/record.js');
  const { StoreError } = await import('../../engine/store/messages.js');
  const { folderError } = await import('../options/folder.js');
  const options = { path, tables, schemaVersion: SCHEMA_VERSION, create: false };
  try {
    return openLmdbStore({ ...options, freeSpaceBytes: ROOM_BYTES });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'LOCKED') throw error;
    throw folderError('FOLDER_IN_USE_BY_SERVER', { path }, { cause: error });
  }
}

/** Required free space, less than a server keeps free, because archiving frees space. */
const ROOM_BYTES = 64 * 1024 * 1024;

async function moveAll(store: Store, wanted: number): Promise<Segment[]> {
  const { findFirstKept } = await import('../../engine/node/archiver.js');
  const { folderError } = await import('../options/folder.js');
  const archive = store.archive!;
  const before = Math.min(wanted, findFirstKept(store));
  noteKept(wanted, before);
  const moved: Segment[] = [];
  for (;;) {
    while (await archive.trim());
    if (!store.hasRoom()) {
      const space = { free: archive.freeBytes(), needed: ROOM_BYTES };
      throw folderError('NO_ROOM_FOR_ARCHIVE', space);
    }
    const segment = await archive.move(before);
    if (segment === null) {
      if (canRedraw()) redraw('');
      return moved;
    }
    moved.push(segment);
    if (canRedraw()) redraw(`entry ${segment.last}`);
  }
}

function noteKept(wanted: number, before: number): void {
  if (before >= wanted) return;
  const why = 'the last entry and all entries since the oldest block in voting stay';
  writeStderr(`folkmoot: entries from ${before} on are not moved: ${why}`);
}

/** Returns true if data.mdb was rewritten without free pages. The store is then closed. */
async function compact(store: Store): Promise<boolean> {
  try {
    await store.archive!.compactAndClose();
    return true;
  } catch (error) {
    const text = 'entries are archived, but data.mdb could not be compacted';
    writeStderr(`folkmoot: ${text}: ${(error as Error).message}`);
    return false;
  }
}

async function foretell(folder: string, { before: wanted, json }: Flags): Promise<void> {
  const { findFirstKept } = await import('../../engine/node/archiver.js');
  const { openForReading } = await import('../options/folder.js');
  const store = openForReading(folder);
  try {
    const before = Math.min(wanted, findFirstKept(store));
    noteKept(wanted, before);
    const first = store.archive!.end.entry + 1;
    const any = first < before;
    const archived = { first: any ? first : null, last: any ? before - 1 : null };
    const text = any ? `would move entries ${first} to ${before - 1}` : 'nothing to move';
    if (json) printJson(archived);
    else writeStdout(text);
  } finally {
    await store.close();
  }
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function readable(archived: Archived): string[] {
  const { first, last, segments, bytes, raw_bytes, data_bytes_before, data_bytes } = archived;
  const files = segments === 1 ? 'one segment' : `${segments} segments`;
  const moved =
    first === null
      ? 'nothing to move'
      : `moved entries ${first} to ${last} into ${files}: ` +
        `${megabytes(raw_bytes)} in ${megabytes(bytes)}`;
  return [moved, `data.mdb ${megabytes(data_bytes_before)} -> ${megabytes(data_bytes)}`];
}
