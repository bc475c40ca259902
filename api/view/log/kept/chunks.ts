/** The finished chunks of a view: where each begins and ends; read when asked for, or made anew. */
import type { DerivedFolder, DerivedFrom, ServedNetwork } from '../../../../engine/internal.js';
import { applySpan, emptyPicture, type Picture } from '../../index.js';
import type { Roster } from '../make/roster.js';
import { CHUNK_FORMAT, type Chunk, decodeChunk, decodePicture, encodeChunk } from './chunk.js';

/** Chunks kept unpacked: some two megabytes each. */
const UNPACKED = 6;

const pattern = /^(\d{16})-(\d{16})\.view$/;
const padded = (entry: number) => String(entry).padStart(16, '0');

interface Place {
  first: number;
  last: number;
}

const nameOf = ({ first, last }: Place) => `${padded(first)}-${padded(last)}.view`;

/** What makes the rows of a chunk anew that is missing or damaged: from the picture before it. */
export type Remake = (before: Picture, last: number) => Promise<Chunk>;

export class Chunks {
  readonly #network: ServedNetwork;
  readonly #folder: DerivedFolder;
  readonly #roster: Roster;
  readonly #remake: Remake;
  /** Ascending from entry 0, without gaps. */
  readonly #places: Place[] = [];
  /** Unpacked, or on the way to be; in order of use. */
  readonly #unpacked = new Map<number, Promise<Chunk>>();

  constructor(network: ServedNetwork, folder: DerivedFolder, roster: Roster, remake: Remake) {
    this.#network = network;
    this.#folder = folder;
    this.#roster = roster;
    this.#remake = remake;
  }

  /** The last entry that is in a chunk; -1 without any. */
  get end(): number {
    return this.#places.at(-1)?.last ?? -1;
  }

  get count(): number {
    return this.#places.length;
  }

  /** Takes up the chunks that an earlier process left of this log. */
  async open(): Promise<void> {
    for (const { name } of this.#folder.list()) {
      const [, first = '', last = ''] = pattern.exec(name) ?? [];
      if (first === '') continue;
      const place = { first: Number(first), last: Number(last) };
      if (place.first === this.end + 1 && place.last >= place.first) this.#places.push(place);
    }
    // The last one vouches for those before it: what is in it rests on them.
    for (let last = this.#places.at(-1); last; last = this.#places.at(-1)) {
      if (await this.#stored(last)) return;
      this.#places.pop();
    }
  }

  /** Keeps a finished chunk: it follows the last one. */
  async add(chunk: Chunk): Promise<void> {
    const place = { first: chunk.span.from, last: chunk.span.to };
    if (place.first !== this.end + 1)
      throw new Error(`a chunk from ${place.first} does not follow`);
    this.#places.push(place);
    this.#hold(this.#places.length - 1, Promise.resolve(chunk));
    await this.#write(place, chunk);
  }

  /** The chunk that has an entry. */
  of(entry: number): Promise<Chunk> {
    const index = this.#places.findIndex(({ last }) => entry <= last);
    if (index < 0) throw new RangeError(`no chunk has entry ${entry}`);
    return this.#at(index);
  }

  /** The picture after the last entry of all. */
  async last(): Promise<Picture | null> {
    return this.#places.length === 0 ? null : this.#after(this.#places.length - 1);
  }

  /** The picture that a chunk begins with. */
  before(chunk: Chunk): Picture {
    return decodePicture(chunk.before, this.#roster);
  }

  async #after(index: number): Promise<Picture> {
    const chunk = await this.#at(index);
    return applySpan(this.before(chunk), chunk.span);
  }

  #at(index: number): Promise<Chunk> {
    const known = this.#unpacked.get(index);
    const chunk = known ?? this.#load(index);
    this.#hold(index, chunk);
    return chunk;
  }

  async #load(index: number): Promise<Chunk> {
    const place = this.#places[index]!;
    const stored = await this.#stored(place);
    if (stored) return stored;
    const before = index === 0 ? null : await this.#after(index - 1);
    const made = await this.#remake(before ?? nothingOf(this.#network), place.last);
    await this.#write(place, made);
    return made;
  }

  async #write(place: Place, chunk: Chunk): Promise<void> {
    const from = this.#sourceOf(place);
    if (from) await this.#folder.write(nameOf(place), from, encodeChunk(chunk));
  }

  #sourceOf({ last }: Place): DerivedFrom | null {
    const { read } = this.#network;
    return read.log.sourceOf(CHUNK_FORMAT, read.position, last);
  }

  /** The chunk that this installation kept of this log; any other file is removed. */
  async #stored(place: Place): Promise<Chunk | null> {
    const name = nameOf(place);
    const from = this.#sourceOf(place);
    const bytes = from && (await this.#folder.read(name, from));
    const chunk = bytes && decodeChunk(bytes);
    if (!chunk) this.#folder.remove(name);
    return chunk;
  }

  #hold(index: number, chunk: Promise<Chunk>): void {
    this.#unpacked.delete(index);
    this.#unpacked.set(index, chunk);
    // One that could not be had is asked for anew.
    chunk.catch(() => this.#unpacked.delete(index));
    if (this.#unpacked.size > UNPACKED) {
      this.#unpacked.delete(this.#unpacked.keys().next().value!);
    }
  }
}

/** A network before its first entry. */
export function nothingOf({ genesis, epoch }: ServedNetwork): Picture {
  const { network_id, policy, weights, participation_bps } = genesis;
  return emptyPicture({ network_id, epoch, policy, weights, participation_bps });
}
