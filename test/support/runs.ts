/** What runs leave behind, read in the process of the test: logs, tables, replays. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { afterAll, expect } from 'vitest';

/** A folder for the whole file, gone after its tests. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** One line of `folkmoot log`. */
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

/** The lines of a kept run, read in this process: as `folkmoot log` prints them, and faster. */
export async function logLines(run: string): Promise<Line[]> {
  const store = openForReading(join(run, 'network'));
  try {
    const lines = [...storedLines(store, 0, store.meta()?.seq ?? -1)];
    return lines.map((line) => JSON.parse(JSON.stringify(printLine(line))) as Line);
  } finally {
    await store.close();
  }
}

const openForReading = (path: string) =>
  openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });

/** Texts between line feeds; the last line ends with one too. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  expect(text.endsWith('\n')).toBe(true);
  return text.slice(0, -1).split('\n');
}

/** How many signatures a log holds: one an entry, and one a transaction. */
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

/** Rows of a table by column; the tables of a run quote nothing that holds a line feed. */
export function csvRows(file: string): Record<string, string>[] {
  const [header = '', ...rows] = linesOf(readFileSync(file, 'utf8'));
  const names = header.split(',');
  return rows.map((row) => {
    const cells = row.split(',');
    expect(cells.length, row).toBe(names.length);
    return Object.fromEntries(names.map((name, index) => [name, cells[index]!]));
  });
}

/** What `replay --json` found. */
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

/** `replay` of a data folder in this process, which is faster; with signatures unless left out. */
export async function replayHere(path: string, signatures = true): Promise<Replayed> {
  const stored = openForReading(path);
  const verifier = createVerifier('inline');
  try {
    const lines = storedLines(stored, 0, stored.meta()?.seq ?? 0);
    const options = { stored, lines, ...(signatures ? { verifier } : {}) };
    const { records_compared, ...found } = await replay(options);
    // Without signatures, a changed record is met after all entries matched.
    if (signatures || found.match) expect(records_compared).toBe(found.match);
    return found;
  } finally {
    await verifier.close();
    await stored.close();
  }
}

/** `replay` of a printed log, without signatures. */
export async function replayPrinted(file: string): Promise<Replayed> {
  const { records_compared: _, ...found } = await replay({ lines: fileLines(file) });
  return found;
}
