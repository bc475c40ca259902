/** `folkmoot archive`: moves a log's past into compressed segments, and shrinks its data. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Segment, Store } from '../../engine/store/store.js';
import { integer } from '../options/options.js';
import { canRedraw, printJson, redraw, writeStderr, writeStdout } from '../output/output.js';

interface Flags {
  before: number;
  dryRun?: boolean;
  compact: boolean;
  json?: boolean;
}

const position = integer({ least: 0, most: Number.MAX_SAFE_INTEGER });

export function archiveCommand(): Command {
  return new Command('archive')
    .description('move the past of a log into compressed files, and give the room back')
    .argument('<dir>', 'a data folder or a kept run that no server has open')
    .requiredOption('--before <seq>', 'move the entries below this one', position)
    .option('--dry-run', 'say what would be moved, and change nothing')
    .option('--no-compact', 'leave the room inside data.mdb, for what is written next')
    .option('--json', 'print {first, last, segments, bytes, raw_bytes, data_bytes, ...}')
    .addHelpText(
      'after',
      `
Entries and their events go into DIR/archive/*.seg, each with its digests; replay, log and a server
read them as before, and no digest changes. Records and meme files stay. DIR/archive belongs to the
folder: copy both. Entry 0, the last entry, and whatever follows the proposal of a block in voting
stay too. Killed at any moment, the folder is whole, and the command goes on where it was.

Examples:
  $ folkmoot archive folkmoot-data --before 1000000 --dry-run
  $ folkmoot archive folkmoot-data --before 1000000
  $ folkmoot serve --archive-after 200000       while serving, all but the last entries`,
    )
    .action(run);
}

/** What one call did. Sizes in bytes. */
interface Archived {
  /** The entries that were moved, or null when there were none. */
  first: number | null;
  last: number | null;
  segments: number;
  /** Of the segments, and of what they hold before it was compressed. */
  bytes: number;
  raw_bytes: number;
  /** data.mdb, before and after. */
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

/** @throws {StoreError} `LOCKED`, saying what to do. */
async function openAlone(path: string): Promise<Store> {
  const { openLmdbStore } = await import('../../engine/store/lmdb.js');
  const { SCHEMA_VERSION, tables } = await import('../../engine/protocol/schema/record.js');
  const { StoreError } = await import('../../engine/store/store.js');
  const options = { path, tables, schemaVersion: SCHEMA_VERSION, create: false };
  try {
    return openLmdbStore({ ...options, freeSpaceBytes: ROOM_BYTES });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'LOCKED') throw error;
    throw new StoreError('FOLDER_IN_USE_BY_SERVER', { path }, { cause: error });
  }
}

/** Less than a server keeps free: whoever archives wants room. */
const ROOM_BYTES = 64 * 1024 * 1024;

async function moveAll(store: Store, wanted: number): Promise<Segment[]> {
  const { findFirstKept } = await import('../../engine/node/archiver.js');
  const { StoreError } = await import('../../engine/store/store.js');
  const archive = store.archive!;
  const before = Math.min(wanted, findFirstKept(store));
  noteKept(wanted, before);
  const moved: Segment[] = [];
  for (;;) {
    while (await archive.trim());
    if (!store.hasRoom()) {
      const space = { free: archive.freeBytes(), needed: ROOM_BYTES };
      throw new StoreError('NO_ROOM_FOR_ARCHIVE', space);
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
  const why = 'the last one, and all from the oldest block in voting on, stay';
  writeStderr(`folkmoot: entries from ${before} on are not moved: ${why}`);
}

/** Whether the data was rewritten without free pages; then the store is closed too. */
async function compact(store: Store): Promise<boolean> {
  try {
    await store.archive!.compactAndClose();
    return true;
  } catch (error) {
    const text = 'the past is archived, but data.mdb could not be rewritten and keeps its size';
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
