/** What LMDB notes of a tree beside its root (`MDB_db` in mdb.c, see ../meta-page.ts). */

const noPage = 0xffff_ffff_ffff_ffffn;

/** What a tree is said to be. */
export interface Description {
  name: string;
  depth: number;
  branches: number;
  leaves: number;
  overflows: number;
  entries: number;
  /** Null when it is empty. */
  root: number | null;
}

export function describe(name: string, bytes: Buffer): Description {
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
