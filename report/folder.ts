/**
 * Output folder of a run. At the start, the folder must not contain another output. Each file is
 * written whole, and its rename is flushed to disk.
 */
import {
  closeSync,
  createReadStream,
  existsSync,
  fdatasync,
  fdatasyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join, normalize, sep } from 'node:path';
import { promisify } from 'node:util';
import { describeSystemError } from '../engine/protocol/messages.js';
import { parseUnique } from '../engine/protocol/repeated-members.js';
import {
  dataFileName,
  fileBounds,
  findTrace,
  makeFolder,
  readBounded,
} from '../engine/store/folder.js';
import { defineStoreErrors, type StoreError, storeError } from '../engine/store/messages.js';
import { parse, restoreCell } from './bundled/csv.js';

/** Errors of an output folder and of the results in it. */
export const outputError = defineStoreErrors({
  UNREADABLE: {
    OUTPUT_UNUSABLE: 'cannot use the output folder {path}: {reason}',
    RESULT_UNREADABLE:
      'cannot read {name} in {path}: {reason}; pass the folder of a finished {kind}',
  },
  OTHER_NETWORK: {
    OUTPUT_HAS_RUN: 'folder already holds a run: {path}; use a new or empty folder',
    OUTPUT_HAS_LINK: 'link in an output folder: {path}; use a new or empty folder',
    OUTPUT_HAS_NETWORK: 'folder holds the data of a network: {path}; use a new or empty folder',
  },
  CORRUPT: {
    SUMMARY_INVALID: 'invalid summary.json in {path}: {reason}',
  },
});

/** Files of which a run, a sweep or a load run writes at least one. */
const outputFiles = [
  'network',
  'scenario.json',
  'summary.json',
  'sweep.json',
  'result.json',
  'report.html',
];

/**
 * Creates the folder. Refuses a folder that already contains one of the files or another output, so
 * nothing is overwritten or mixed.
 *
 * @param names files to be written.
 * @throws {StoreError} `OTHER_NETWORK` if the folder contains one of the files, another output or a
 * network's data; `UNREADABLE` if the folder cannot be used.
 */
export async function prepareFolder(folder: string, names: readonly string[]): Promise<void> {
  assertNoNetwork(folder);
  try {
    makeFolder(folder);
    const there = await readdir(folder);
    if (![...outputFiles, ...names].some((name) => there.includes(name))) return;
  } catch (cause) {
    throw outputError(
      'OUTPUT_UNUSABLE',
      { path: folder, reason: describeSystemError(cause) },
      { cause },
    );
  }
  throw outputError('OUTPUT_HAS_RUN', { path: folder });
}

/**
 * Refuses links among the named entries of an output folder, and among the entries of these. The
 * folder may come from someone else, so no command follows a link inside it.
 *
 * @throws {StoreError} `OTHER_NETWORK`
 */
export function assertNoLinks(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const path = join(folder, name);
    if (!isFolder(path)) continue;
    const links = readdirSync(path, { withFileTypes: true }).filter((one) => one.isSymbolicLink());
    if (links[0]) throw outputError('OUTPUT_HAS_LINK', { path: join(path, links[0].name) });
  }
}

/** @throws {StoreError} `OTHER_NETWORK` if the path is a link. */
function isFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) throw outputError('OUTPUT_HAS_LINK', { path });
  return stats?.isDirectory() ?? false;
}

/**
 * Makes a folder inside an output folder, and those between them.
 *
 * @throws {StoreError} `OTHER_NETWORK` if one of them is a link.
 */
export function makeInside(folder: string, path: string): void {
  let inside = folder;
  for (const part of normalize(path).split(sep)) {
    inside = join(inside, part);
    if (!isFolder(inside)) makeFolder(inside);
  }
}

/** @throws {StoreError} `OTHER_NETWORK` if the folder holds or held a network's data. */
export function assertNoNetwork(folder: string): void {
  if (!hasFile(folder, dataFileName) && findTrace(folder) === null) return;
  throw outputError('OUTPUT_HAS_NETWORK', { path: folder });
}

/**
 * Refuses a folder that holds a run, a sweep or a load run, or one of the files.
 *
 * @throws {StoreError} `OTHER_NETWORK`
 */
export function assertNoOutput(folder: string, names: readonly string[]): void {
  assertNoLinks(folder, [...outputFiles, ...names]);
  if (holdsOutput(folder, names)) throw outputError('OUTPUT_HAS_RUN', { path: folder });
}

/** Returns true if the folder holds a run, a sweep or a load run, or one of the files. */
export const holdsOutput = (folder: string, names: readonly string[] = []): boolean =>
  [...outputFiles, ...names].some((name) => hasFile(folder, name));

export type TableRow = Record<string, string>;

export const hasFile = (folder: string, name: string): boolean => existsSync(join(folder, name));

/** @throws {StoreError} `UNREADABLE` */
export function readJson<T>(folder: string, name: string): T {
  try {
    return parseUnique(readBounded(join(folder, name), fileBounds.result).toString()) as T;
  } catch (cause) {
    throw unreadable(folder, name, cause);
  }
}

/** Streams the rows, so memory use does not grow with the file. */
export async function* tableRows(folder: string, name: string): AsyncGenerator<TableRow> {
  const source = createReadStream(join(folder, name));
  const columns = (header: string[]) => header.map(restoreCell);
  const parser = parse({ columns, record_delimiter: '\n' });
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const row of source.pipe(parser)) yield restoreRow(row as TableRow);
  } catch (cause) {
    throw unreadable(folder, name, cause);
  } finally {
    source.destroy();
  }
}

function restoreRow(row: TableRow): TableRow {
  for (const [name, cell] of Object.entries(row)) row[name] = restoreCell(cell);
  return row;
}

/** Kinds of folders by a file that they contain, and how to read folders of other kinds. */
const kinds: Readonly<Record<string, string>> = {
  'summary.json': 'sim; a sweep has report.html, and folkmoot load compare reads load runs',
  'sweep.json': 'sweep',
};

function unreadable(folder: string, name: string, cause: unknown): StoreError {
  const reason = describeSystemError(cause);
  const kind = kinds[name] ?? 'run or sweep';
  return outputError('RESULT_UNREADABLE', { name, path: folder, reason, kind }, { cause });
}

/** Parses a number; null for an empty cell. */
export const parseNumber = (text: string | undefined): number | null =>
  text === undefined || text === '' ? null : Number(text);

/*
 * File that exists completely or not at all, even after a crash. Its contents are written to a part
 * file, which is renamed once all bytes are on disk.
 */

const PART = '.part';

export class WholeFile {
  readonly #path: string;
  readonly #part: string;
  readonly #file: number;
  #open = true;

  /**
   * @param name name relative to the folder.
   * @throws {StoreError} `UNREADABLE` if the file cannot be written. All methods throw this error.
   */
  constructor(folder: string, name: string) {
    this.#path = join(folder, name);
    this.#part = join(dirname(this.#path), `.${basename(this.#path)}${PART}`);
    // A part file that exists is left over, or a link that must not be followed.
    this.#file = this.#try(() => {
      rmSync(this.#part, { force: true });
      return openSync(this.#part, 'wx');
    });
  }

  write(content: string | Uint8Array): void {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    this.#try(() => {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    });
  }

  finish(): void {
    this.#try(() => {
      fdatasyncSync(this.#file);
      this.#rename();
    });
  }

  /** Like `finish`, but flushes in another thread. */
  async finishLater(): Promise<void> {
    try {
      await flushFile(this.#file);
    } catch (cause) {
      throw this.#unwritable(cause);
    }
    this.#try(() => this.#rename());
  }

  /** Deletes the part file. Does nothing after `finish`. */
  abandon(): void {
    this.#close();
    rmSync(this.#part, { force: true });
  }

  #rename(): void {
    this.#close();
    renameSync(this.#part, this.#path);
  }

  #close(): void {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }

  #try<T>(what: () => T): T {
    try {
      return what();
    } catch (cause) {
      throw this.#unwritable(cause);
    }
  }

  #unwritable(cause: unknown): StoreError {
    const reason = describeSystemError(cause);
    return storeError('FILE_UNWRITABLE', { path: this.#path, reason }, { cause });
  }
}

const flushFile = promisify(fdatasync);

/** Writes a file by `fill`. @throws {StoreError} `UNREADABLE` */
export function fillWhole(folder: string, name: string, fill: (file: WholeFile) => void): void {
  const file = new WholeFile(folder, name);
  try {
    fill(file);
    file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/** @throws {StoreError} `UNREADABLE` */
export const writeWhole = (folder: string, name: string, text: string): void =>
  fillWhole(folder, name, (file) => file.write(text));

/** Like {@link writeWhole}, but flushes in another thread. @throws {StoreError} `UNREADABLE` */
export async function writeWholeLater(folder: string, name: string, text: string): Promise<void> {
  const file = new WholeFile(folder, name);
  try {
    file.write(text);
    await file.finishLater();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/** Deletes part files left by killed processes. */
export async function removeParts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(PART)) await unlink(join(folder, name));
  }
}

export interface Provenance {
  version: string;
  /** Null outside a git checkout. */
  commit: string | null;
  node: string;
}
