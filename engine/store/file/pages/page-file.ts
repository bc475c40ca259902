/**
 * The pages of an LMDB data file, read as plain bytes and counted: who looks at a page claims it,
 * and a page can be claimed once. Source of the layout: see ../header.ts.
 */
import { fstatSync, readSync } from 'node:fs';
import { StoreError } from '../../store.js';

const headerBytes = 24;
/** Flags of a page: what it holds. */
export const kinds = { branch: 0x01, leaf: 0x02, overflow: 0x04 } as const;

export interface Page {
  number: number;
  kind: number;
  /** Its nodes, in the order of their keys; each begins with its header of 8 bytes. */
  nodes: Buffer[];
}

export class PageFile {
  readonly #fd: number;
  readonly #name: string;
  readonly pageBytes: number;
  /** Pages that the header speaks of, and those of them that lie in the file. */
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

  fail(what: string): never {
    const advice = 'restore the folder from a copy';
    throw new StoreError('CORRUPT', `${this.#name}: damaged: ${what}; ${advice}`);
  }

  /** Takes pages for whoever uses them. */
  claim(first: number, count: number, who: string): void {
    const end = first + count;
    if (first < 2 || end > this.pages) this.fail(`${who} has page ${first}, which is none`);
    for (let number = first; number < end; number += 1) {
      // Free pages may lie behind the end of the file; those in use are read, or their end is.
      if (this.#claimed[number] === 1) this.fail(`${who} has page ${number}, another has it too`);
      if (number < this.#claimed.length) this.#claimed[number] = 1;
    }
  }

  /** A page in the file that nobody claimed, or null. */
  unclaimed(): number | null {
    const number = this.#claimed.indexOf(0);
    return number < 0 ? null : number;
  }

  read(number: number, who: string): Page {
    const bytes = this.#bytes(number, 1, who);
    if (Number(bytes.readBigUInt64LE(0)) !== number) this.fail(`page ${number} has another number`);
    const kind = bytes.readUInt16LE(18);
    if (kind !== kinds.branch && kind !== kinds.leaf) this.fail(`page ${number} is of no kind`);
    return { number, kind, nodes: this.#nodes(number, bytes) };
  }

  /** The bytes of a value that lies on pages of its own. */
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
      this.fail(`page ${number} does not begin a value of ${pages} pages`);
    }
    return bytes.subarray(headerBytes, headerBytes + length);
  }

  #bytes(number: number, pages: number, who: string): Buffer {
    const bytes = Buffer.alloc(pages * this.pageBytes);
    const read = readSync(this.#fd, bytes, 0, bytes.length, number * this.pageBytes);
    if (read !== bytes.length) this.fail(`data was cut off: ${who} needs page ${number}`);
    return bytes;
  }

  #nodes(number: number, page: Buffer): Buffer[] {
    // Pointers, and where they end and nodes begin, count from the end of the page's header.
    const body = page.subarray(headerBytes);
    const [end, begin] = [page.readUInt16LE(20), page.readUInt16LE(22)];
    if (end % 2 !== 0 || end > begin || begin > body.length) {
      this.fail(`page ${number} has no order in itself`);
    }
    const nodes: Buffer[] = [];
    for (let at = 0; at < end; at += 2) {
      const offset = body.readUInt16LE(at);
      if (offset < begin || offset + 8 > body.length) this.fail(`page ${number} has a stray node`);
      nodes.push(body.subarray(offset));
    }
    return nodes;
  }
}
