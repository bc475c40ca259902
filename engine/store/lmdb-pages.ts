/**
 * Checks an LMDB data file as plain bytes before LMDB maps it. LMDB stores no checksums. A page
 * missing from a mapped file causes SIGBUS, and a wrong byte in a B-tree can crash the process.
 * Neither failure can be caught. The quick check compares the header with the file's length and
 * walks the branch pages. The full check reads every page.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { StoreError, storeError } from './messages.js';

/** Depth of a check. No commit may run during a check of branches or pages. */
export type ScanDepth = 'header' | 'branches' | 'pages';

/**
 * Checks that LMDB wrote a data file and that the file contains every page that its header counts.
 * @throws {StoreError} `CORRUPT`
 */
export function assertDataFile(file: string, look: ScanDepth = 'branches'): void {
  const fd = openSync(file, 'r');
  try {
    const header = readHeader(fd, file);
    const fileBytes = fstatSync(fd).size;
    const expectedBytes = (Number(header.lastPage) + 1) * header.pageBytes;
    // LMDB does not write free pages at the end. A short file is damaged only if used pages are
    // missing.
    if (fileBytes < expectedBytes) {
      assertReachable(file, fd, header, () => {
        return corrupt(file, `truncated to ${fileBytes} of ${expectedBytes} bytes`);
      });
    }
    if (look === 'branches') assertBranches(file, fd, header);
    if (look === 'pages') checkPages(file, fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Checks that each page is either free or used exactly once, and that keys are in order. Reads the
 * whole file. No commit may run meanwhile. Returns the number of pages.
 * @throws {StoreError} `CORRUPT`
 */
export function checkWholeFile(file: string): number {
  const fd = openSync(file, 'r');
  try {
    return checkPages(file, fd);
  } finally {
    closeSync(fd);
  }
}

const byNumber = (a: Buffer, b: Buffer) => {
  if (a.length !== 8 || b.length !== 8) return -1;
  const [left, right] = [a.readBigUInt64LE(0), b.readBigUInt64LE(0)];
  return left < right ? -1 : left > right ? 1 : 0;
};

function checkPages(name: string, fd: number): number {
  const header = readHeader(fd, name);
  const file = pagesOf(name, fd, header);
  walkAll(file, header, ({ key, value, isTree }) => {
    if (key.length !== 8 || isTree) file.fail('the free list has an invalid key');
    takeFree(file, value);
  });
  const lost = file.unclaimed();
  if (lost !== null) file.fail(`page ${lost} is neither in use nor free`);
  return file.pages;
}

/** Walks all pages in use and all entries in the free list. */
function walkAll(file: PageFile, header: DataHeader, visitFree?: (entry: Entry) => void): void {
  for (const tree of walkMain(file, header)) walkTree(file, tree);
  walkTree(file, header.trees.free, {
    compare: byNumber,
    ...(visitFree ? { visit: visitFree } : {}),
  });
}

/** Throws the error that `fail` builds if a page in use is beyond the end, or a tree is invalid. */
function assertReachable(name: string, fd: number, header: DataHeader, fail: () => Error): void {
  try {
    walkAll(pagesOf(name, fd, header), header);
  } catch (cause) {
    // Garbage in a page leads to out-of-bounds reads.
    throw cause instanceof RangeError || cause instanceof StoreError ? fail() : cause;
  }
}

/** Checks only the branch pages in all trees, which takes milliseconds. */
function assertBranches(name: string, fd: number, header: DataHeader): void {
  const file = pagesOf(name, fd, header);
  const trees = walkMain(file, header);
  for (const tree of [...trees, header.trees.free]) {
    const compare = tree === header.trees.free ? byNumber : byBytes;
    walkTree(file, tree, { compare, branchesOnly: true });
  }
}

function pagesOf(name: string, fd: number, { pageBytes, lastPage }: DataHeader): PageFile {
  return new PageFile(name, fd, pageBytes, Number(lastPage) + 1);
}

/** Reads the main tree, which maps names to trees and is small. */
function walkMain(file: PageFile, header: DataHeader): Description[] {
  const trees: Description[] = [];
  walkTree(file, header.trees.main, {
    visit: ({ key, value, isTree }) => {
      if (!isTree) file.fail('a name has no tree');
      trees.push(describe(key.toString().replaceAll('\0', ''), value));
    },
  });
  return trees;
}

/** Claims the pages in a free list: descending numbers; a negative number is a run length. */
function takeFree(file: PageFile, list: Buffer): void {
  const number = (at: number) => Number(list.readBigInt64LE(8 * at));
  const count = list.length < 8 ? -1 : number(0);
  if (count < 0 || 8 * (count + 1) > list.length) file.fail('the free list is truncated');
  let run = 1;
  for (let at = 1; at <= count; at += 1) {
    const value = number(at);
    if (value > 0) file.claim(value, run, 'the free list');
    run = value < 0 ? -value : 1;
  }
}

const noPage = 0xffff_ffff_ffff_ffffn;

/** A tree's `MDB_db` record. */
interface Description {
  name: string;
  depth: number;
  branches: number;
  leaves: number;
  overflows: number;
  entries: number;
  /** Root page; null if the tree is empty. */
  root: number | null;
}

function describe(name: string, bytes: Buffer): Description {
  const count = (at: number) => Number(bytes.readBigUInt64LE(at));
  return {
    name,
    depth: bytes.readUInt16LE(6),
    branches: count(8),
    leaves: count(16),
    overflows: count(24),
    entries: count(32),
    root: bytes.readBigUInt64LE(40) === noPage ? null : count(40),
  };
}

/*
 * The two meta pages of an LMDB data file. Transaction n writes meta page n % 2, so the pages'
 * transaction numbers differ by one. The page with the higher number is current.
 *
 * Source of the layout: `MDB_page_header`, `MDB_meta` and `MDB_db` in lmdb 3.5.6,
 * dependencies/lmdb/libraries/liblmdb/mdb.c (data version 2, 64-bit, little-endian), verified
 * against files that lmdb wrote.
 */

/** Byte offsets in a meta page. The page header takes the first 24 bytes. */
const at = {
  number: 0,
  pageFlags: 18,
  magic: 24,
  version: 28,
  pageBytes: 48,
  freeFlags: 52,
  free: 48,
  mainFlags: 100,
  main: 96,
  lastPage: 144,
  transaction: 152,
  end: 160,
} as const;

const metaPageFlag = 0x08;
/** 0x08: the keys in the free list are numbers. 0x1000: lmdb did not wait for the disk. */
const freeTreeFlags = [0x08, 0x1008];
const magic = 0xbeefc0de;
const dataVersion = 2;
/** Exceeds a process's address space. */
const mostBytes = 2n ** 46n;

/** Contents of the current meta page. */
interface DataHeader {
  pageBytes: number;
  lastPage: bigint;
  transaction: bigint;
  trees: { free: Description; main: Description };
}

/** @throws {StoreError} `CORRUPT` if LMDB cannot have written this header. */
function readHeader(fd: number, file: string): DataHeader {
  const first = readMeta(fd, 0, 0, file);
  const second = readMeta(fd, 1, first.pageBytes, file);
  if (second.pageBytes !== first.pageBytes) throw corrupt(file, 'page sizes of headers differ');
  const [even, odd] = [first.transaction, second.transaction];
  const areNeighbours = even % 2n === 0n && (odd === even + 1n || odd + 1n === even);
  // True for a new file or a compacted copy. LMDB gives a copy an odd number and an empty first
  // page.
  const isFirst = even === 0n && first.trees.main.root === null && (odd === 0n || odd % 2n === 1n);
  if (!isFirst && !areNeighbours) {
    throw corrupt(file, `transactions of headers are ${even} and ${odd}`);
  }
  const header = odd > even ? second : first;
  if ((header.lastPage + 1n) * BigInt(header.pageBytes) > mostBytes) {
    throw corrupt(file, `too many pages in the header: ${header.lastPage}`);
  }
  return header;
}

function readMeta(fd: number, number: number, offset: number, file: string): DataHeader {
  const bytes = Buffer.alloc(at.end);
  if (readSync(fd, bytes, 0, at.end, offset) !== at.end) {
    throw corrupt(file, 'truncated header');
  }
  const isMeta = bytes.readUInt16LE(at.pageFlags) === metaPageFlag;
  if (!isMeta || bytes.readUInt32LE(at.magic) !== magic) {
    throw corrupt(file, 'not an LMDB data file');
  }
  if (bytes.readUInt32LE(at.version) !== dataVersion) {
    throw corrupt(file, `not an LMDB data file of version ${dataVersion}`);
  }
  const pageBytes = bytes.readUInt32LE(at.pageBytes);
  const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (pageBytes < 512 || pageBytes > 65_536 || !isPowerOfTwo) {
    throw corrupt(file, `invalid page size in the header: ${pageBytes} bytes`);
  }
  const flags = [bytes.readUInt16LE(at.freeFlags), bytes.readUInt16LE(at.mainFlags)];
  if (!freeTreeFlags.includes(flags[0]!) || flags[1] !== 0) {
    throw corrupt(file, `invalid flags in the header: ${flags}`);
  }
  if (Number(bytes.readBigUInt64LE(at.number)) !== number) {
    throw corrupt(file, 'wrong page numbers of headers');
  }
  return {
    pageBytes,
    lastPage: bytes.readBigUInt64LE(at.lastPage),
    transaction: bytes.readBigUInt64LE(at.transaction),
    trees: {
      free: describe('the free list', bytes.subarray(at.free)),
      main: describe('the main tree', bytes.subarray(at.main)),
    },
  };
}

const corrupt = (path: string, reason: string) => storeError('DATA_DAMAGED', { path, reason });

/*
 * The pages in an LMDB data file. Reading a page claims it, and a page can be claimed only once.
 * See "Source of the layout" above.
 */

const headerBytes = 24;
/** Page flags. */
const kinds = { branch: 0x01, leaf: 0x02, overflow: 0x04 } as const;

interface Page {
  number: number;
  kind: number;
  /** In key order. Each node starts with an 8-byte header. */
  nodes: Buffer[];
}

class PageFile {
  readonly #fd: number;
  readonly #name: string;
  readonly pageBytes: number;
  /** Number of pages according to the header. The file can be shorter. */
  readonly pages: number;
  readonly #claimed: Uint8Array;

  constructor(name: string, fd: number, pageBytes: number, pages: number) {
    this.#name = name;
    this.#fd = fd;
    this.pageBytes = pageBytes;
    this.pages = pages;
    this.#claimed = new Uint8Array(Math.min(pages, Math.ceil(fstatSync(fd).size / pageBytes)));
    this.#claimed.fill(1, 0, 2);
  }

  fail(reason: string): never {
    throw corrupt(this.#name, reason);
  }

  /** Marks pages as used by `who`. */
  claim(first: number, count: number, who: string): void {
    const end = first + count;
    if (first < 2 || end > this.pages) this.fail(`${who} has an invalid page number: ${first}`);
    for (let number = first; number < end; number += 1) {
      // Free pages can be beyond the end of the file. For a page in use, the read detects a
      // position beyond the end.
      if (this.#claimed[number] === 1) this.fail(`page ${number} of ${who} is used twice`);
      if (number < this.#claimed.length) this.#claimed[number] = 1;
    }
  }

  /** Returns a page that is neither in a tree nor free, or null. */
  unclaimed(): number | null {
    const number = this.#claimed.indexOf(0);
    return number < 0 ? null : number;
  }

  read(number: number, who: string): Page {
    const bytes = this.#bytes(number, 1, who);
    if (Number(bytes.readBigUInt64LE(0)) !== number) this.fail(`page ${number} has a wrong number`);
    const kind = bytes.readUInt16LE(18);
    if (kind !== kinds.branch && kind !== kinds.leaf) this.fail(`page ${number} has a wrong type`);
    return { number, kind, nodes: this.#nodes(number, bytes) };
  }

  /** Reads a value stored on overflow pages. */
  readLarge(number: number, length: number, who: string): Buffer {
    const pages = Math.ceil((headerBytes + length) / this.pageBytes);
    this.claim(number, pages, who);
    const bytes = this.#bytes(number, pages, who);
    const expected = [
      Number(bytes.readBigUInt64LE(0)),
      bytes.readUInt16LE(18),
      bytes.readUInt32LE(20),
    ];
    if (expected[0] !== number || expected[1] !== kinds.overflow || expected[2] !== pages) {
      this.fail(`page ${number} is not the start of a value of ${pages} pages`);
    }
    return bytes.subarray(headerBytes, headerBytes + length);
  }

  #bytes(number: number, pages: number, who: string): Buffer {
    const bytes = Buffer.alloc(pages * this.pageBytes);
    const read = readSync(this.#fd, bytes, 0, bytes.length, number * this.pageBytes);
    if (read !== bytes.length) this.fail(`truncated before page ${number} of ${who}`);
    return bytes;
  }

  #nodes(number: number, page: Buffer): Buffer[] {
    // All offsets are relative to the end of the page header.
    const body = page.subarray(headerBytes);
    const [end, begin] = [page.readUInt16LE(20), page.readUInt16LE(22)];
    if (end % 2 !== 0 || end > begin || begin > body.length) {
      this.fail(`page ${number} has an invalid layout`);
    }
    const nodes: Buffer[] = [];
    for (let at = 0; at < end; at += 2) {
      const offset = body.readUInt16LE(at);
      if (offset < begin || offset + 8 > body.length) {
        this.fail(`page ${number} has an invalid node offset`);
      }
      nodes.push(body.subarray(offset));
    }
    return nodes;
  }
}

const nodeHeaderBytes = 8;
/** Leaf node flags: the value is on overflow pages, or is the record of a named tree. */
const largeValue = 0x01;
const namedTree = 0x02;
/** Sizes of `MDB_ovpage` and `MDB_db`. */
const largeBytes = 24;
const descriptionBytes = 48;

interface Entry {
  key: Buffer;
  value: Buffer;
  isTree: boolean;
}

type Compare = (a: Buffer, b: Buffer) => number;

/** Order of all keys except the free list's, which are numbers. */
const byBytes: Compare = (a, b) => Buffer.compare(a, b);

interface TreeWalk {
  file: PageFile;
  expected: Description;
  compare: Compare;
  /** Does not read leaves. */
  branchesOnly: boolean;
  found: { branches: number; leaves: number; overflows: number; entries: number };
  visit: (entry: Entry) => void;
}

interface TreeOptions {
  compare?: Compare;
  branchesOnly?: boolean;
  visit?: (entry: Entry) => void;
}

/** @throws {StoreError} `CORRUPT` */
function walkTree(file: PageFile, expected: Description, options: TreeOptions = {}): void {
  const { compare = byBytes, branchesOnly = false, visit = () => undefined } = options;
  const found = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
  const walk = { file, expected, compare, branchesOnly, found, visit };
  if (expected.root !== null) descend(walk, expected.root, 1, null, null);
  else if (expected.depth !== 0) file.fail(`${expected.name} has a depth but no page`);
  if (branchesOnly) return;
  for (const what of ['branches', 'leaves', 'overflows', 'entries'] as const) {
    if (found[what] === expected[what]) continue;
    file.fail(`${expected.name} has ${found[what]} ${what}, not ${expected[what]}`);
  }
}

/** Walks a subtree. Its keys must be at least `low` and below `high`. */
function descend(
  walk: TreeWalk,
  number: number,
  level: number,
  low: Buffer | null,
  high: Buffer | null,
): void {
  const { file, expected, found } = walk;
  file.claim(number, 1, expected.name);
  const isLeaf = level === expected.depth;
  if (isLeaf && walk.branchesOnly) return;
  if (level > expected.depth) file.fail(`${expected.name} is deeper than ${expected.depth}`);
  const page = file.read(number, expected.name);
  if ((page.kind === kinds.leaf) !== isLeaf) file.fail(`page ${number} has a wrong depth`);
  if (page.nodes.length < (isLeaf ? 1 : 2)) file.fail(`page ${number} has too few nodes`);
  const keys = keysOf(walk, page, low, high);
  if (isLeaf) {
    found.leaves += 1;
    found.entries += keys.length;
    for (const [at, node] of page.nodes.entries()) takeValue(walk, page, node, keys[at]!);
    return;
  }
  found.branches += 1;
  for (const [at, node] of page.nodes.entries()) {
    const child = node.readUIntLE(0, 6);
    descend(walk, child, level + 1, at === 0 ? low : keys[at]!, keys[at + 1] ?? high);
  }
}

function keysOf(walk: TreeWalk, page: Page, low: Buffer | null, high: Buffer | null): Buffer[] {
  const { file, compare } = walk;
  const keys = page.nodes.map((node) => {
    const length = node.readUInt16LE(6);
    if (nodeHeaderBytes + length > node.length) file.fail(`truncated key in page ${page.number}`);
    return node.subarray(nodeHeaderBytes, nodeHeaderBytes + length);
  });
  // The first key in a branch is a placeholder for all lower keys.
  const first = page.kind === kinds.branch ? 1 : 0;
  for (let at = first; at < keys.length; at += 1) {
    const key = keys[at]!;
    const before = at > first ? keys[at - 1]! : null;
    const isAfter =
      before === null ? low === null || compare(key, low) >= 0 : compare(key, before) > 0;
    if (!isAfter || (high !== null && compare(key, high) >= 0)) {
      file.fail(`key out of order in page ${page.number}`);
    }
  }
  return keys;
}

function takeValue(
  { file, expected, found, visit }: TreeWalk,
  page: Page,
  node: Buffer,
  key: Buffer,
): void {
  const flags = node.readUInt16LE(4);
  const length = node.readUInt32LE(0);
  const begin = nodeHeaderBytes + key.length;
  const isLarge = flags === largeValue;
  const isTree = flags === namedTree;
  const here = isLarge ? largeBytes : length;
  if ((flags !== 0 && !isLarge && !isTree) || begin + here > node.length) {
    file.fail(`invalid value in page ${page.number}`);
  }
  const stored = node.subarray(begin, begin + here);
  if (isTree && length !== descriptionBytes) file.fail(`invalid tree in page ${page.number}`);
  if (!isLarge) return visit({ key, value: stored, isTree });
  const value = file.readLarge(Number(stored.readBigUInt64LE(0)), length, expected.name);
  const pages = Math.ceil((24 + length) / file.pageBytes);
  if (Number(stored.readBigUInt64LE(16)) !== pages) {
    file.fail(`wrong length of a value in page ${page.number}`);
  }
  found.overflows += pages;
  visit({ key, value, isTree });
}
