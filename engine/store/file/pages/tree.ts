/** Walks a tree of an LMDB data file: every page in its place, every key in its order. */
import type { Description } from './description.js';
import { kinds, type Page, type PageFile } from './page-file.js';

const nodeHeaderBytes = 8;
/** Flags of a leaf's node: its value lies on pages of its own, or describes a named tree. */
const largeValue = 0x01;
const namedTree = 0x02;
/** Bytes of `MDB_ovpage` and of `MDB_db`. */
const largeBytes = 24;
const descriptionBytes = 48;

export interface Entry {
  key: Buffer;
  value: Buffer;
  isTree: boolean;
}

type Compare = (a: Buffer, b: Buffer) => number;

/** Of names and records; those of the tree of free pages are numbers. */
export const byBytes: Compare = (a, b) => Buffer.compare(a, b);

interface Walk {
  file: PageFile;
  expected: Description;
  compare: Compare;
  /** Leaves are taken for what the branches say they are. */
  branchesOnly: boolean;
  found: { branches: number; leaves: number; overflows: number; entries: number };
  visit: (entry: Entry) => void;
}

export interface TreeOptions {
  compare?: Compare;
  branchesOnly?: boolean;
  visit?: (entry: Entry) => void;
}

/** @throws {StoreError} `CORRUPT`, naming the page. */
export function walkTree(file: PageFile, expected: Description, options: TreeOptions = {}): void {
  const { compare = byBytes, branchesOnly = false, visit = () => undefined } = options;
  const found = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
  const walk = { file, expected, compare, branchesOnly, found, visit };
  if (expected.root !== null) descend(walk, expected.root, 1, null, null);
  else if (expected.depth !== 0) file.fail(`${expected.name} has a depth and no page`);
  if (branchesOnly) return;
  for (const what of ['branches', 'leaves', 'overflows', 'entries'] as const) {
    if (found[what] === expected[what]) continue;
    file.fail(`${expected.name} has ${found[what]} ${what}, ${expected[what]} are noted`);
  }
}

/** Keys of a page lie from `low` to below `high`. */
function descend(
  walk: Walk,
  number: number,
  level: number,
  low: Buffer | null,
  high: Buffer | null,
): void {
  const { file, expected, found } = walk;
  file.claim(number, 1, expected.name);
  const isLeaf = level === expected.depth;
  if (isLeaf && walk.branchesOnly) return;
  if (level > expected.depth) file.fail(`${expected.name} is deeper than noted`);
  const page = file.read(number, expected.name);
  if ((page.kind === kinds.leaf) !== isLeaf) file.fail(`page ${number} is at a wrong depth`);
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

function keysOf(walk: Walk, page: Page, low: Buffer | null, high: Buffer | null): Buffer[] {
  const { file, compare } = walk;
  const keys = page.nodes.map((node) => {
    const length = node.readUInt16LE(6);
    if (nodeHeaderBytes + length > node.length) file.fail(`page ${page.number} has a cut key`);
    return node.subarray(nodeHeaderBytes, nodeHeaderBytes + length);
  });
  // The first key of a branch stands for all that are lower: it is not looked at.
  const first = page.kind === kinds.branch ? 1 : 0;
  for (let at = first; at < keys.length; at += 1) {
    const key = keys[at]!;
    const before = at > first ? keys[at - 1]! : null;
    const isAfter =
      before === null ? low === null || compare(key, low) >= 0 : compare(key, before) > 0;
    if (!isAfter || (high !== null && compare(key, high) >= 0)) {
      file.fail(`page ${page.number} has a key out of order`);
    }
  }
  return keys;
}

function takeValue(
  { file, expected, found, visit }: Walk,
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
    file.fail(`page ${page.number} has a value of no kind`);
  }
  const stored = node.subarray(begin, begin + here);
  if (isTree && length !== descriptionBytes) file.fail(`page ${page.number} describes no tree`);
  if (!isLarge) return visit({ key, value: stored, isTree });
  const value = file.readLarge(Number(stored.readBigUInt64LE(0)), length, expected.name);
  const pages = Math.ceil((24 + length) / file.pageBytes);
  if (Number(stored.readBigUInt64LE(16)) !== pages) {
    file.fail(`page ${page.number} has a value of another length`);
  }
  found.overflows += pages;
  visit({ key, value, isTree });
}
