/**
 * Looks at an LMDB data file as plain bytes, before LMDB maps it: LMDB has no checksums, and a
 * wrong byte in what holds its trees together can end the process that follows it.
 */
import { type Description, describe } from './description.js';
import { type DataHeader, readHeader } from './meta-page.js';
import { PageFile } from './page-file.js';
import { byBytes, walkTree } from './tree.js';

const byNumber = (a: Buffer, b: Buffer) => {
  if (a.length !== 8 || b.length !== 8) return -1;
  const [left, right] = [a.readBigUInt64LE(0), b.readBigUInt64LE(0)];
  return left < right ? -1 : left > right ? 1 : 0;
};

/**
 * All pages: each is in one tree, or free; all keys and counts. Gives their number.
 * @throws {StoreError} `CORRUPT`
 */
export function checkPages(name: string, fd: number): number {
  const header = readHeader(fd, name);
  const file = pagesOf(name, fd, header);
  const main = walkMain(file, header);
  for (const tree of main) walkTree(file, tree);
  walkTree(file, header.trees.free, {
    compare: byNumber,
    visit: ({ key, value, isTree }) => {
      if (key.length !== 8 || isTree) file.fail('the list of free pages has a key that is none');
      takeFree(file, value);
    },
  });
  const lost = file.unclaimed();
  if (lost !== null) file.fail(`page ${lost} is neither in use nor free`);
  return file.pages;
}

/** What takes milliseconds: the branches of all trees, which lead to everything else. */
export function checkBranches(name: string, fd: number, header: DataHeader): void {
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

/** The tree of names: it is small, and all of it is read. */
function walkMain(file: PageFile, header: DataHeader): Description[] {
  const trees: Description[] = [];
  walkTree(file, header.trees.main, {
    visit: ({ key, value, isTree }) => {
      if (!isTree) file.fail('a name stands for no tree');
      trees.push(describe(key.toString().replaceAll('\0', ''), value));
    },
  });
  return trees;
}

/** Numbers of pages, in descending order; below zero the length of the run that follows. */
function takeFree(file: PageFile, list: Buffer): void {
  const number = (at: number) => Number(list.readBigInt64LE(8 * at));
  const count = list.length < 8 ? -1 : number(0);
  if (count < 0 || 8 * (count + 1) > list.length) file.fail('a list of free pages is cut off');
  let run = 1;
  for (let at = 1; at <= count; at += 1) {
    const value = number(at);
    if (value > 0) file.claim(value, run, 'the list of free pages');
    run = value < 0 ? -value : 1;
  }
}
