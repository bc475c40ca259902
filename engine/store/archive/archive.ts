/**
 * The archived past of a folder: which segments there are, and reads of single entries and events
 * in them. What is unpacked is kept within bounds, so that old entries read at random cost no more
 * than a block each.
 */
import { limits } from '../../protocol/limits.js';
import type { Environment } from '../environment.js';
import type { Segment } from '../segment.js';
import { outerProblem, readBlock, readIndex } from './read-segment.js';
import { type Block, parseSegment, type SegmentIndex } from './segment-file.js';

export type Kind = 'entries' | 'events';

interface Unpacked {
  first: number;
  items: Buffer[];
  bytes: number;
}

export class Archive {
  readonly #environment: Environment;
  #segments: Segment[] = [];
  /** Both in order of use, the oldest first. */
  readonly #indexes = new Map<string, SegmentIndex>();
  readonly #blocks = new Map<string, Unpacked>();
  #keptBytes = 0;
  /** What blocks held that were unpacked since the folder was opened. */
  unpackedBytes = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.refresh();
  }

  /** Ascending, without gaps between them. */
  get segments(): readonly Segment[] {
    return this.#segments;
  }

  /** The last entry and the last event that are in segments; 0 before the first. */
  get end(): { entry: number; event: number } {
    const last = this.#segments.at(-1);
    return { entry: last?.last ?? 0, event: last?.last_event ?? 0 };
  }

  /** Takes the segments from the folder again: another process may have made some. */
  refresh(): void {
    const { archive, folder } = this.#environment;
    this.#segments = [];
    for (const { value } of archive.getRange({})) {
      this.#segments.push(parseSegment(folder, value));
    }
  }

  /** A segment that has just been recorded. */
  add(segment: Segment): void {
    this.#segments.push(segment);
  }

  /** An entry as it was stored. @throws {ArchiveError} when its segment cannot be read. */
  entry(seq: number): Buffer | undefined {
    const segment = this.find('entries', seq);
    return segment && this.item('entries', segment, seq);
  }

  /** An event's canonical text. @throws {ArchiveError} */
  event(seq: number): string | undefined {
    const segment = this.find('events', seq);
    return segment && this.item('events', segment, seq).toString();
  }

  /** The segment that holds this entry or event. */
  find(kind: Kind, seq: number): Segment | undefined {
    const found = lastAtMost(this.#segments, seq, (segment) => rangeOf(kind, segment)[0]);
    return found !== undefined && seq <= rangeOf(kind, found)[1] ? found : undefined;
  }

  /** The segments that hold any of these. */
  holding(kind: Kind, from: number, to: number): Segment[] {
    return this.#segments.filter((segment) => {
      const [first, last] = rangeOf(kind, segment);
      return first <= to && from <= last;
    });
  }

  /** What a segment holds under this number. @throws {ArchiveError} */
  item(kind: Kind, segment: Segment, seq: number): Buffer {
    const blocks = this.#index(segment)[kind];
    const { first, items } = this.#unpack(segment, blockOf(blocks, seq));
    return items[seq - first]!;
  }

  /** What a look at the names and lengths of all files finds, a line each. */
  problems(): string[] {
    const { folder } = this.#environment;
    return this.#segments.flatMap((segment) => outerProblem(folder, segment)?.message ?? []);
  }

  #index(segment: Segment): SegmentIndex {
    const known = this.#indexes.get(segment.file);
    if (known !== undefined) return touch(this.#indexes, segment.file, known);
    const read = readIndex(this.#environment.folder, segment);
    this.#indexes.set(segment.file, read);
    if (this.#indexes.size > limits.archiveIndexes) dropOldest(this.#indexes);
    return read;
  }

  #unpack(segment: Segment, block: Block): Unpacked {
    const id = `${segment.file} ${block.offset}`;
    const known = this.#blocks.get(id);
    if (known !== undefined) return touch(this.#blocks, id, known);
    const items = readBlock(this.#environment.folder, segment, block);
    const unpacked = { first: block.first, items, bytes: block.raw_bytes };
    this.unpackedBytes += unpacked.bytes;
    this.#blocks.set(id, unpacked);
    this.#keptBytes += unpacked.bytes;
    while (this.#keptBytes > limits.archiveCacheBytes && this.#blocks.size > 1) {
      this.#keptBytes -= dropOldest(this.#blocks)!.bytes;
    }
    return unpacked;
  }
}

/** Blocks stand in the order of what they hold; the index was checked, so one holds it. */
const blockOf = (blocks: readonly Block[], seq: number) =>
  lastAtMost(blocks, seq, ({ first }) => first)!;

/** The first and the last number, inclusive. */
export const rangeOf = (kind: Kind, segment: Segment): readonly [number, number] =>
  kind === 'entries' ? [segment.first, segment.last] : [segment.first_event, segment.last_event];

/** The last of ascending items that does not begin after `seq`. */
function lastAtMost<Item>(
  items: readonly Item[],
  seq: number,
  firstOf: (item: Item) => number,
): Item | undefined {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (firstOf(items[middle]!) <= seq) low = middle + 1;
    else high = middle;
  }
  return items[low - 1];
}

/** Makes it the one used last. */
function touch<Value>(map: Map<string, Value>, id: string, value: Value): Value {
  map.delete(id);
  map.set(id, value);
  return value;
}

function dropOldest<Value>(map: Map<string, Value>): Value | undefined {
  const [oldest] = map;
  if (oldest !== undefined) map.delete(oldest[0]);
  return oldest?.[1];
}
