/** Reads the journal from faulty.c, and reconstructs a folder after a power failure. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Record kinds, as in faulty.c. */
const kinds = [
  ...['none', 'write', 'durableWrite', 'truncate', 'sync', 'create', 'rename', 'remove'],
] as const;

interface Note {
  kind: (typeof kinds)[number];
  name: string;
  offset: number;
  data: Buffer;
}

/** Size of a record head: kind, name length, data length and offset; packed, little-endian. */
const headBytes = 15;

function notesIn(journal: Buffer): Note[] {
  const notes: Note[] = [];
  for (let at = 0; at + headBytes <= journal.length; ) {
    const nameEnd = at + headBytes + journal.readUInt16LE(at + 1);
    const end = nameEnd + journal.readUInt32LE(at + 3);
    if (end > journal.length) break;
    notes.push({
      ...{ kind: kinds[journal[at]!]!, name: journal.subarray(at + headBytes, nameEnd).toString() },
      ...{ offset: Number(journal.readBigUInt64LE(at + 7)), data: journal.subarray(nameEnd, end) },
    });
    at = end;
  }
  return notes;
}

/** Unit of an atomic write. */
const sectorBytes = 512;

/** A file's durable content, and the writes since its last sync. */
class DiskFile {
  readonly waiting: Note[] = [];

  constructor(public bytes: Buffer) {}

  sync(): void {
    for (const note of this.waiting) this.put(note);
    this.waiting.length = 0;
  }

  put({ kind, offset, data }: Note): void {
    const end = kind === 'truncate' ? offset : offset + data.length;
    if (kind === 'truncate') this.bytes = this.bytes.subarray(0, end);
    if (this.bytes.length < end) {
      this.bytes = Buffer.concat([this.bytes, Buffer.alloc(end - this.bytes.length)]);
    }
    data.copy(this.bytes, offset);
  }

  /** Applies a random part of the pending writes: whole writes, individual sectors or nothing. */
  cut(draw: (below: number) => number): Buffer {
    for (const note of this.waiting) {
      const luck = draw(3);
      if (luck === 0) continue;
      if (luck === 1 || note.kind === 'truncate') this.put(note);
      else this.#tear(note, draw);
    }
    return this.bytes;
  }

  #tear(note: Note, draw: (below: number) => number): void {
    for (let at = 0; at < note.data.length; at += sectorBytes) {
      if (draw(2) === 0) continue;
      const data = note.data.subarray(at, at + sectorBytes);
      this.put({ ...note, offset: note.offset + at, data });
    }
  }
}

/** Durable files in a folder. */
type Names = Map<string, DiskFile>;

/**
 * A folder whose processes run with the journal from `faulty`. After the processes are killed,
 * `cut` changes the folder to its state after a power failure at that moment.
 */
export class PowerCut {
  readonly folder: string;
  readonly journal: string;
  readonly #before: string;

  constructor(folder: string) {
    this.folder = folder;
    this.journal = `${folder}.journal`;
    this.#before = `${folder}.before`;
    rmSync(this.journal, { force: true });
    rmSync(this.#before, { recursive: true, force: true });
    if (existsSync(folder)) cpSync(folder, this.#before, { recursive: true });
  }

  /** Returns the end offsets of the journal's records, in bytes. */
  ends(): number[] {
    let at = 0;
    return notesIn(this.#noted()).map(({ name, data }) => {
      at += headBytes + Buffer.byteLength(name) + data.length;
      return at;
    });
  }

  /** Cuts the power at the end of the journal, or after the journal's first `after` bytes. */
  cut(draw: (below: number) => number, after = Number.POSITIVE_INFINITY): void {
    const names = this.#replayed(draw, after);
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder);
    for (const [name, file] of names) writeFileSync(join(this.folder, name), file.cut(draw));
  }

  /** Reads the journal, which is missing if the process was killed at once. */
  #noted(): Buffer {
    return existsSync(this.journal) ? readFileSync(this.journal) : Buffer.alloc(0);
  }

  #replayed(draw: (below: number) => number, after: number): Names {
    const now: Names = new Map(this.#filesBefore());
    const onDisk: Names = new Map(now);
    // Disks apply renames in order. Some renames since the folder's last sync are durable.
    let waiting: ((names: Names) => void)[] = [];
    const change = (how: (names: Names) => void) => {
      how(now);
      waiting.push(how);
    };
    for (const note of notesIn(this.#noted().subarray(0, after))) {
      const { kind, name, data } = note;
      if (kind === 'sync' && name === '.') {
        for (const how of waiting) how(onDisk);
        waiting = [];
      } else if (kind === 'create') {
        const file = new DiskFile(Buffer.alloc(0));
        change((names) => names.set(name, file));
      } else if (kind === 'rename') change((names) => rename(names, name, data.toString()));
      else if (kind === 'remove') change((names) => names.delete(name));
      else write(now.get(name), note);
    }
    const taken = draw(waiting.length + 1);
    for (const how of waiting.slice(0, taken)) how(onDisk);
    return onDisk;
  }

  *#filesBefore(): Iterable<[string, DiskFile]> {
    if (!existsSync(this.#before)) return;
    for (const name of readdirSync(this.#before)) {
      yield [name, new DiskFile(readFileSync(join(this.#before, name)))];
    }
  }
}

function rename(names: Names, from: string, to: string): void {
  const file = names.get(from);
  if (file === undefined) return;
  names.delete(from);
  names.set(to, file);
}

function write(file: DiskFile | undefined, note: Note): void {
  if (file === undefined) throw new Error(`unknown file: ${note.name}`);
  if (note.kind === 'sync') file.sync();
  else if (note.kind === 'durableWrite') file.put(note);
  else file.waiting.push(note);
}
