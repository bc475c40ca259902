/** Reads logs, tables and replays of runs in the test process. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import {
  createVerifier,
  type EntryKind,
  fileLines,
  openLmdbStore,
  printLine,
  replay,
  SCHEMA_VERSION,
  storedLines,
  tables,
} from 'folkmoot';
import { temporaryFolder } from './fixture.js';

/** Creates a folder for a test file. The folder is removed after the file's tests. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A line from `folkmoot log`. */
export interface Line {
  seq: number;
  at: number;
  kind: EntryKind;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: string;
  log_digest: string;
  digest: string;
  file?: string;
}

/** Reads the lines of `folkmoot log` in this process, which is faster than a separate process. */
export async function logLines(run: string): Promise<Line[]> {
  const store = openForReading(join(run, 'network'));
  try {
    const lines = [...storedLines(store, 0, store.meta()?.seq ?? -1)];
    return lines.map((line) => JSON.parse(JSON.stringify(printLine(line))) as Line);
  } finally {
    await store.close();
  }
}

/** Copies a folder for a test that changes it. */
export function copyOf(folder: string, name = 'run'): string {
  const copy = join(temporaryFolder(), name);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Opens the data of a network, read-only. */
export const openForReading = (path: string) =>
  openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });

/** Splits a text into lines. The last line must end with a line feed. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  expect(text.endsWith('\n')).toBe(true);
  return text.slice(0, -1).split('\n');
}

/** Counts the signatures in a log: one per entry and one per transaction. */
export function signaturesIn(lines: readonly Line[]): number {
  let count = 0;
  for (const { kind, body } of lines) {
    if (kind === 'genesis' || kind === 'tick') continue;
    count += 1;
    if (kind === 'propose') count += bodyOf<{ transactions: unknown[] }>(body).transactions.length;
  }
  return count;
}

export const bodyOf = <Shape>(body: string): Shape => JSON.parse(body) as Shape;

/** Parses a CSV table. */
export const csvRows = (file: string): Record<string, string>[] =>
  parse(readFileSync(file, 'utf8'), { columns: true });

/** Output of `replay --json`. */
export interface Replayed {
  match: boolean;
  entries: number;
  digest: string;
  log_digest: string;
  first_divergence: null | {
    seq: number;
    kind: string;
    what: string;
    which?: string;
    expected: string;
    found: string;
  };
}

/** Replays a data folder in this process, which is faster than a separate process. */
export async function replayHere(path: string, signatures = true): Promise<Replayed> {
  const stored = openForReading(path);
  const verifier = createVerifier('inline');
  try {
    const lines = storedLines(stored, 0, stored.meta()?.seq ?? 0);
    const options = { stored, lines, ...(signatures ? { verifier } : {}) };
    const { records_compared, ...found } = await replay(options);
    // Without signatures, the replay finds a changed record only after all entries have matched.
    if (signatures || found.match) expect(records_compared).toBe(found.match);
    return found;
  } finally {
    await verifier.close();
    await stored.close();
  }
}

/** Replays a printed log without signatures. */
export async function replayPrinted(file: string): Promise<Replayed> {
  const { records_compared: _, ...found } = await replay({ lines: fileLines(file) });
  return found;
}
