/** A view's finished chunks, in files. A missing or damaged chunk is rebuilt when needed. */

import type { ServedNetwork } from '../../../engine/node/kept-network.js';
import { statuses } from '../../../engine/protocol/event-types.js';
import type { Genesis } from '../../../engine/protocol/schema/genesis.js';
import type { DerivedFolder, DerivedFrom } from '../../../engine/store/derived-folder.js';
import type { RowBatch, Snapshot } from '../model.js';
import { applyRowBatch, createEmptySnapshot } from '../reducer.js';
import { decodeRowBatch, encodeRowBatch } from '../row-batch.js';
import type { Roster } from './builder.js';

/** Number of decoded chunks in memory, about two megabytes each. */
const UNPACKED = 6;

const pattern = /^(\d{16})-(\d{16})\.view$/;
const padded = (entry: number) => String(entry).padStart(16, '0');

interface Place {
  first: number;
  last: number;
}

const nameOf = ({ first, last }: Place) => `${padded(first)}-${padded(last)}.view`;

/** Rebuilds a chunk from the preceding snapshot. */
type Remake = (before: Snapshot, last: number) => Promise<Chunk>;

export class Chunks {
  readonly #network: ServedNetwork;
  readonly #folder: DerivedFolder;
  readonly #roster: Roster;
  readonly #remake: Remake;
  /** Ascending, from entry 0, without gaps. */
  readonly #places: Place[] = [];
  /** Decoded or loading chunks, in order of use. */
  readonly #unpacked = new Map<number, Promise<Chunk>>();

  constructor(network: ServedNetwork, folder: DerivedFolder, roster: Roster, remake: Remake) {
    this.#network = network;
    this.#folder = folder;
    this.#roster = roster;
    this.#remake = remake;
  }

  /** Last entry in a chunk; -1 without chunks. */
  get end(): number {
    return this.#places.at(-1)?.last ?? -1;
  }

  get count(): number {
    return this.#places.length;
  }

  /** Finds the chunks that an earlier process wrote for this log. */
  async open(): Promise<void> {
    for (const { name } of this.#folder.list()) {
      const [, first = '', last = ''] = pattern.exec(name) ?? [];
      if (first === '') continue;
      const place = { first: Number(first), last: Number(last) };
      if (place.first === this.end + 1 && place.last >= place.first) this.#places.push(place);
    }
    // The last chunk builds on the preceding chunks. If the last chunk is valid, all chunks are.
    for (let last = this.#places.at(-1); last; last = this.#places.at(-1)) {
      if (await this.#stored(last)) return;
      this.#places.pop();
    }
  }

  /** Adds a finished chunk after the last chunk. */
  async add(chunk: Chunk): Promise<void> {
    const place = { first: chunk.batch.from, last: chunk.batch.to };
    if (place.first !== this.end + 1)
      throw new Error(`a chunk from ${place.first} does not follow`);
    this.#places.push(place);
    this.#cache(this.#places.length - 1, Promise.resolve(chunk));
    await this.#write(place, chunk);
  }

  /** Returns the chunk that contains an entry. */
  of(entry: number): Promise<Chunk> {
    const index = this.#places.findIndex(({ last }) => entry <= last);
    if (index < 0) throw new RangeError(`no chunk has entry ${entry}`);
    return this.#at(index);
  }

  /** Returns the snapshot after the last chunk, or null. */
  async last(): Promise<Snapshot | null> {
    return this.#places.length === 0 ? null : this.#after(this.#places.length - 1);
  }

  /** Returns the snapshot with which a chunk begins. */
  before(chunk: Chunk): Snapshot {
    return decodeSnapshot(chunk.before, this.#roster);
  }

  async #after(index: number): Promise<Snapshot> {
    const chunk = await this.#at(index);
    return applyRowBatch(this.before(chunk), chunk.batch);
  }

  #at(index: number): Promise<Chunk> {
    const known = this.#unpacked.get(index);
    const chunk = known ?? this.#load(index);
    this.#cache(index, chunk);
    return chunk;
  }

  async #load(index: number): Promise<Chunk> {
    const place = this.#places[index]!;
    const stored = await this.#stored(place);
    if (stored) return stored;
    const before = index === 0 ? null : await this.#after(index - 1);
    const made = await this.#remake(before ?? createInitialSnapshot(this.#network), place.last);
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

  /** Reads a chunk if it belongs to this log and version. Removes any other file. */
  async #stored(place: Place): Promise<Chunk | null> {
    const name = nameOf(place);
    const from = this.#sourceOf(place);
    const bytes = from && (await this.#folder.read(name, from));
    const chunk = bytes && decodeChunk(bytes);
    if (!chunk) this.#folder.remove(name);
    return chunk;
  }

  #cache(index: number, chunk: Promise<Chunk>): void {
    this.#unpacked.delete(index);
    this.#unpacked.set(index, chunk);
    // A failed load is retried on the next request.
    chunk.catch(() => this.#unpacked.delete(index));
    if (this.#unpacked.size > UNPACKED) {
      this.#unpacked.delete(this.#unpacked.keys().next().value!);
    }
  }
}

/** Returns the members of genesis that a snapshot contains. */
export function parametersOf(genesis: Genesis) {
  const { network_id, policy, weights, participation_bps, rule } = genesis;
  return { network_id, policy, weights, participation_bps, ...(rule ? { rule } : {}) };
}

/** Returns the snapshot before entry 0. */
export function createInitialSnapshot({ genesis, epoch }: ServedNetwork): Snapshot {
  return createEmptySnapshot({ ...parametersOf(genesis), epoch });
}

/*
 * A chunk contains a snapshot and the rows for the entries after it. The bytes are the length of
 * the snapshot's JSON, the JSON, and the row batch. Agents occur only by number; the network's
 * records contain the details.
 */

/** Must change with the encoding and with the rows. */
const CHUNK_FORMAT = 'view 3';

/** Encodes a snapshot. An agent is encoded as status, dormant, reputation, votes, memes, blocks. */
export function encodeSnapshot({ agents, ...rest }: Snapshot): string {
  const numbers = agents.map((agent) => [
    (statuses as readonly string[]).indexOf(agent.status),
    agent.dormant ? 1 : 0,
    agent.reputation,
    agent.votes,
    agent.memes,
    agent.blocks_produced,
  ]);
  return JSON.stringify({ ...rest, agents: numbers });
}

export function decodeSnapshot(text: string, roster: Roster): Snapshot {
  const { agents, ...rest } = JSON.parse(text) as Omit<Snapshot, 'agents'> & { agents: number[][] };
  const known = agents.map((numbers, number) => {
    const [status, dormant, reputation, votes, memes, blocks_produced] = numbers as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const now = { status: statuses[status]!, dormant: dormant === 1, reputation };
    return { ...roster.at(number), ...now, votes, memes, blocks_produced };
  });
  return { ...rest, agents: known };
}

/** The encoded snapshot before the entries, and the entries' rows. */
export interface Chunk {
  before: string;
  batch: RowBatch;
}

function encodeChunk({ before, batch }: Chunk): Buffer {
  const text = Buffer.from(before);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, encodeRowBatch(batch)]);
}

/** Decodes a chunk. Returns null if the bytes are not a complete chunk. */
function decodeChunk(bytes: Buffer): Chunk | null {
  try {
    const end = 4 + bytes.readUInt32LE(0);
    return {
      before: bytes.subarray(4, end).toString(),
      batch: decodeRowBatch(bytes.subarray(end)),
    };
  } catch {
    return null;
  }
}

/** Progress reports and cancellation for long work. */
export interface ViewWork {
  /** Called with the current entry and the last entry. */
  onProgress?: ((entry: number, to: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}
