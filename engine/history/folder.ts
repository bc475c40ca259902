/**
 * Checkpoints as sealed files of a folder that may be deleted at any time. Together they take a
 * share of the log's size at most.
 */
import type { DerivedFolder, DerivedFrom } from '../store/index.js';
import { type Checkpoint, decodeCheckpoint } from './checkpoint.js';

/** A file of the folder: its entry, and how large the log was up to that. */
interface File {
  seq: number;
  logBytes: number;
  bytes: number;
  inMemory: boolean;
}

/** What there is for a quick look into the past. */
export interface CheckpointStats {
  count: number;
  bytes: number;
  /** Why no more are written, if so: no right, no room, no key. */
  problem: string | null;
}

const pattern = /^(\d{16})-(\d{1,16})\.checkpoint$/;

/** The log up to an entry. */
export type SourceOf = (seq: number) => DerivedFrom | null;

export class CheckpointFolder {
  readonly #folder: DerivedFolder | null;
  readonly #share: number;
  readonly #sourceOf: SourceOf;
  /** By entry, ascending. */
  #files: File[] = [];

  /** `share` of the log's size is the most for all; without a folder there are none. */
  constructor(folder: DerivedFolder | null, share: number, sourceOf: SourceOf) {
    this.#folder = folder;
    this.#share = share;
    this.#sourceOf = sourceOf;
    this.refresh();
  }

  /** Of the files on the disk. */
  get stats(): CheckpointStats {
    const files = this.#files.filter(({ inMemory }) => !inMemory);
    return { count: files.length, bytes: bytesOf(files), problem: this.#folder?.problem ?? null };
  }

  /** Looks again: files may come and go by other hands. */
  refresh(): void {
    this.#files = [];
    for (const { name, bytes, inMemory } of this.#folder?.list() ?? []) {
      const [, seq, logBytes] = pattern.exec(name) ?? [];
      if (seq === undefined) continue;
      this.#files.push({ seq: Number(seq), logBytes: Number(logBytes), bytes, inMemory });
    }
    this.#files.sort((a, b) => a.seq - b.seq);
  }

  /** The last whole one up to an entry that this installation wrote of this log. */
  async before(seq: number): Promise<{ checkpoint: Checkpoint; logBytes: number } | null> {
    for (;;) {
      const file = this.#files.findLast((one) => one.seq <= seq);
      if (!file) return null;
      const from = this.#sourceOf(file.seq);
      const content = from && (await this.#folder!.read(nameOf(file), from));
      const checkpoint = content && decodeCheckpoint(content);
      if (checkpoint) return { checkpoint, logBytes: file.logBytes };
      this.#files = this.#files.filter((one) => one !== file);
      if (content || !from) this.#folder!.remove(nameOf(file));
    }
  }

  /** Whether one of about this many bytes may be kept: no more than their share in all. */
  hasRoom(logBytes: number, bytes: number): boolean {
    return this.#folder !== null && bytes <= this.#room(logBytes);
  }

  /** Keeps one if there is room, and gives the bytes that it takes. */
  async write(seq: number, logBytes: number, content: Buffer): Promise<number> {
    const from = this.#sourceOf(seq);
    if (!from || !this.#folder) return 0;
    const room = this.#room(logBytes);
    const bytes = await this.#folder.write(nameOf({ seq, logBytes }), from, content, room);
    this.refresh();
    return bytes;
  }

  #room(logBytes: number): number {
    const log = Math.max(logBytes, this.#files.at(-1)?.logBytes ?? 0);
    return this.#share * log - bytesOf(this.#files);
  }
}

const bytesOf = (files: readonly File[]) => files.reduce((sum, { bytes }) => sum + bytes, 0);

const nameOf = ({ seq, logBytes }: Pick<File, 'seq' | 'logBytes'>) =>
  `${String(seq).padStart(16, '0')}-${logBytes}.checkpoint`;
