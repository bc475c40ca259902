/**
 * Moves the past out of LMDB: writes a segment, makes it durable, records it, and only then deletes
 * what it holds, a bit at a time. Killed anywhere, the folder has every entry at least once: a
 * segment counts from the moment it is recorded, and rows left behind it are the same bytes.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../protocol/limits.js';
import { crashPoint } from '../crash.js';
import { type Environment, readMeta } from '../environment.js';
import type { Segment } from '../segment.js';
import { StoreError } from '../store.js';
import type { Archive } from './archive.js';
import { EntryRun, eventsBefore, storedAt, storedDigests } from './past.js';
import { ArchiveError, archiveFolder, segmentPath } from './segment-file.js';
import { SegmentWriter, unfinishedName } from './write-segment.js';

/**
 * Moves entries below `before`, as many as a segment takes, with the events that are older than
 * the first entry that stays. Null when there is nothing to move.
 * @throws {StoreError} `CORRUPT` when what should be moved is not whole: it then stays where it is.
 */
export async function moveSegment(
  environment: Environment,
  archive: Archive,
  before: number,
): Promise<Segment | null> {
  const { folder } = environment;
  const meta = readMeta(environment);
  const first = archive.end.entry + 1;
  // The last entry stays: it says when the events end that may go.
  if (meta === null || first >= Math.min(before, meta.seq)) return null;
  const digests = archive.segments.at(-1) ?? storedDigests(storedRow(environment, 0));
  const run = new EntryRun(environment, first, Math.min(before, meta.seq), digests);
  const segment = await named(folder, async () => {
    await mkdir(archiveFolder(folder), { recursive: true, mode: 0o700 });
    await syncFolder(folder);
    const written = await writeSegment(environment, archive, run, meta.network_id);
    crashPoint('archive.written');
    await giveName(folder, written);
    return written;
  });
  const record = Buffer.from(JSON.stringify(segment));
  await inTransaction(environment, () => {
    environment.archive.putSync(segment.first, record, { append: false });
  });
  archive.add(segment);
  crashPoint('archive.recorded');
  return segment;
}

/** What the disk refuses, by its name: until a segment is recorded nothing has changed. */
async function named<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof StoreError || code === undefined) throw cause;
    const text = `${archiveFolder(folder)}: cannot be written (${code}); nothing was moved`;
    const noRoom = code === 'ENOSPC' || code === 'EDQUOT';
    throw new StoreError(noRoom ? 'FULL' : 'UNREADABLE', text, { cause });
  }
}

/** The whole file, durable under the name of something unfinished. */
async function writeSegment(
  environment: Environment,
  archive: Archive,
  run: EntryRun,
  network_id: string,
): Promise<Segment> {
  const writer = await SegmentWriter.begin(environment.folder);
  try {
    const { first, digests: before } = run;
    const entries = await writer.pack(run);
    const cutAt = storedAt(storedRow(environment, run.last + 1));
    const first_event = archive.end.event + 1;
    const events = await writer.pack(eventsBefore(environment, first_event, cutAt));
    const newest = events.at(-1);
    return await writer.finish({
      format: 1,
      network_id,
      first,
      last: run.last,
      first_event,
      last_event: newest ? newest.first + newest.count - 1 : first_event - 1,
      log_digest_before: before.log_digest,
      digest_before: before.digest,
      ...run.digests,
      entries,
      events,
    });
  } finally {
    await writer.close();
  }
}

/** Reads the file back and gives it its name. */
async function giveName(folder: string, segment: Segment): Promise<void> {
  const unfinished = join(archiveFolder(folder), unfinishedName);
  await assertFile(folder, segment, unfinished);
  await rename(unfinished, segmentPath(folder, segment));
  await syncFolder(archiveFolder(folder));
  crashPoint('archive.named');
}

/**
 * Deletes some of what segments hold from LMDB; false when nothing is left to delete. What an
 * earlier process left is deleted only after its segment was read as a whole.
 * @throws {ArchiveError} when that segment is not whole: its rows then stay.
 */
export async function trimStep(
  environment: Environment,
  archive: Archive,
  whole: Set<string>,
): Promise<boolean> {
  const { folder, log, history } = environment;
  const rows = [
    { database: log, kind: 'entries', ...heldUntil(log, archive.end.entry) },
    { database: history, kind: 'events', ...heldUntil(history, archive.end.event) },
  ] as const;
  const held = rows.filter(({ first, last }) => first <= last);
  for (const { kind, first, last } of held) {
    for (const segment of archive.holding(kind, first, last)) {
      if (!whole.has(segment.file)) await assertFile(folder, segment);
      whole.add(segment.file);
    }
  }
  if (held.length === 0) return false;
  await inTransaction(environment, () => {
    for (const { database, first, last } of held) {
      for (let seq = first; seq <= last; seq += 1) database.removeSync(seq);
    }
  });
  crashPoint('archive.trimmed');
  return true;
}

interface Rows {
  getRange(options: object): Iterable<{ key: unknown }>;
}

/** The lowest rows up to `end`, as many as one transaction deletes. Genesis always stays. */
function heldUntil(database: Rows, end: number): { first: number; last: number } {
  for (const { key } of database.getRange({ start: 1, end, inclusiveEnd: true, limit: 1 })) {
    const first = key as number;
    return { first, last: Math.min(end, first + limits.archiveTrimRows - 1) };
  }
  return { first: 1, last: 0 };
}

/** Reads a whole segment and compares its digest. @throws {ArchiveError} */
export async function assertFile(
  folder: string,
  segment: Segment,
  path = segmentPath(folder, segment),
): Promise<void> {
  const hash = createHash('sha256');
  try {
    for await (const bytes of createReadStream(path)) hash.update(bytes as Buffer);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    const what = code === 'ENOENT' ? 'is missing' : `cannot be read (${code})`;
    throw new ArchiveError(path, segment, what, { cause });
  }
  const found = hash.digest('hex');
  if (found !== segment.sha256) {
    throw new ArchiveError(path, segment, `is damaged: its sha256 is ${found}`);
  }
}

function storedRow({ folder, log }: Environment, seq: number): Uint8Array {
  const row = log.get(seq);
  if (row === undefined) throw new StoreError('CORRUPT', `${folder}: the log has no entry ${seq}`);
  return row;
}

async function inTransaction(environment: Environment, write: () => void): Promise<void> {
  try {
    await environment.transaction(write);
  } catch (cause) {
    const text = 'it is not known what was written; the process must end';
    throw new StoreError('FAILED', `${environment.folder}: a commit failed: ${text}`, { cause });
  }
}

/** Makes names in a folder durable. Windows does not open folders; its renames are durable. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
