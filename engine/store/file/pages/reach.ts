/**
 * Walks the trees of an LMDB data file that is shorter than its header says, to tell a file that
 * merely ends in free pages from one that lost data. Reads plain bytes; source: see header.ts.
 */
import { readSync } from 'node:fs';
import type { DataHeader } from './meta-page.js';

const pageHeaderBytes = 24;
const nodeHeaderBytes = 8;
const emptyTree = 0xffff_ffff_ffff_ffffn;
const branchPage = 0x01;
const leafPage = 0x02;
/** A leaf's value lies on pages of its own, whose first number it holds. */
const bigValue = 0x01;
/** A leaf's value describes a named database; its root page is 40 bytes into the description. */
const namedTree = 0x02;
const namedRootAt = 40;

interface Walk {
  fd: number;
  pageBytes: number;
  pagesInFile: number;
  seen: Set<number>;
  fail: () => Error;
}

/** Throws what `fail` makes when a page in use lies beyond the end, or a tree makes no sense. */
export function assertReachable(
  fd: number,
  header: DataHeader,
  fileBytes: number,
  fail: () => Error,
): void {
  const { pageBytes, roots } = header;
  const pagesInFile = Math.floor(fileBytes / pageBytes);
  const walk: Walk = { fd, pageBytes, pagesInFile, seen: new Set(), fail };
  try {
    for (const root of roots) visitTree(walk, root);
  } catch (cause) {
    // A page that is no page sends the reading outside its bounds.
    throw cause instanceof RangeError ? fail() : cause;
  }
}

function visitTree(walk: Walk, root: bigint): void {
  if (root === emptyTree) return;
  const waiting = [Number(root)];
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    const bytes = readPage(walk, page);
    const flags = bytes.readUInt16LE(18);
    if ((flags & (branchPage | leafPage)) === 0) throw walk.fail();
    for (const node of nodesOf(walk, bytes)) {
      if ((flags & branchPage) !== 0) waiting.push(node.readUIntLE(0, 6));
      else visitLeaf(walk, node);
    }
  }
}

function visitLeaf(walk: Walk, node: Buffer): void {
  const flags = node.readUInt16LE(4);
  const value = node.subarray(nodeHeaderBytes + node.readUInt16LE(6));
  if ((flags & bigValue) !== 0) {
    const pages = Math.ceil((pageHeaderBytes + node.readUInt32LE(0)) / walk.pageBytes);
    if (Number(value.readBigUInt64LE(0)) + pages > walk.pagesInFile) throw walk.fail();
  }
  if ((flags & namedTree) !== 0) visitTree(walk, value.readBigUInt64LE(namedRootAt));
}

function readPage(walk: Walk, page: number): Buffer {
  if (page >= walk.pagesInFile || walk.seen.has(page)) throw walk.fail();
  walk.seen.add(page);
  const bytes = Buffer.alloc(walk.pageBytes);
  readSync(walk.fd, bytes, 0, walk.pageBytes, page * walk.pageBytes);
  return bytes;
}

function nodesOf(walk: Walk, page: Buffer): Buffer[] {
  // Both the pointers' end and the pointers themselves count from the end of the page's header.
  const body = page.subarray(pageHeaderBytes);
  const end = page.readUInt16LE(20);
  if (end > body.length) throw walk.fail();
  const nodes: Buffer[] = [];
  for (let pointer = 0; pointer < end; pointer += 2) {
    const offset = body.readUInt16LE(pointer);
    if (offset + nodeHeaderBytes > body.length) throw walk.fail();
    nodes.push(body.subarray(offset));
  }
  return nodes;
}
