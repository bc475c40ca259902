/** Runs the built command line as a user does: a process of its own, and what it leaves behind. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
import type { SimResult } from 'folkmoot/sim';
import { afterAll, expect } from 'vitest';

export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Far above what any of these runs takes: a command that hangs is a failure, not a wait. */
const MOST_MS = 60_000;

export interface Ended {
  /** Null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Around {
  /** Another build of the command line. */
  program?: string;
  input?: string;
  env?: Record<string, string>;
  mostMs?: number;
}

/** Runs `folkmoot` with these arguments until it ends. */
export function folkmoot(args: readonly string[], around: Around = {}): Promise<Ended> {
  const { program = main, input = '', env = {}, mostMs: timeout = MOST_MS } = around;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      {
        env: { ...process.env, ...env },
        maxBuffer: 256 * 1024 * 1024,
        timeout,
        killSignal: 'SIGKILL',
      },
      (_, stdout, stderr) =>
        resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
    // Commands that read no input may end before it is written.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** What `sim --json` prints. */
export type SimJson = SimResult & { version: string; commit: string | null; node: string };

/** Runs `sim --json`; expects the exit code that goes with the verdict. */
export async function simJson(...args: string[]): Promise<{ json: SimJson; ended: Ended }> {
  const ended = await folkmoot(['sim', '--json', ...args]);
  expect([0, 10], ended.stderr).toContain(ended.code);
  const json = JSON.parse(ended.stdout) as SimJson;
  expect(ended.code).toBe(json.verdict === 'pass' ? 0 : 10);
  return { json, ended };
}

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

export async function logText(folder: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await folkmoot(['log', folder, ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
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

/** Runs `replay --json`; expects the exit code that goes with what it found. */
export async function replayJson(source: string, ...args: string[]): Promise<Replayed> {
  const { code, stdout, stderr } = await folkmoot(['replay', source, '--json', ...args]);
  expect(stderr).toBe('');
  const found = JSON.parse(stdout) as Replayed;
  expect(code).toBe(found.match ? 0 : 12);
  return found;
}

/** The same of a data folder in this process, which is faster; with signatures unless left out. */
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

/** The same of a printed log, without signatures. */
export async function replayPrinted(file: string): Promise<Replayed> {
  const { records_compared: _, ...found } = await replay({ lines: fileLines(file) });
  return found;
}

/** A failure that a user can understand: one line on standard error after what else it says. */
export function expectOneLine({ code, signal, stderr }: Ended, skip = 0): void {
  expect(signal).toBe(null);
  expect(code, stderr).not.toBe(0);
  const lines = linesOf(stderr).slice(skip);
  expect(lines, stderr).toEqual([expect.stringMatching(/^folkmoot: .{10,}/)]);
}
