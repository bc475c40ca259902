/** Real signed votes with all that becomes of them: what stages and stores are measured on. */
import {
  type Batch,
  type Digests,
  type EncodedStep,
  type Entry,
  encodeStep,
  openLmdbStore,
  type SignedRequest,
  type Step,
  type Store,
  tables,
} from '../../engine/index.js';
import { chain } from './chain.js';
import type { Town } from './town.js';

export interface Past {
  request: SignedRequest;
  entry: Entry;
  step: Step;
  /** In the engine alone, milliseconds. */
  spentMs: number;
}

/** The proposals and votes of so many blocks, each with the step that it was. */
export async function historyOf(town: Town, blocks: number): Promise<Past[]> {
  const past: Past[] = [];
  const all = chain(town.by);
  for (let count = 0; count < blocks; count += 1) {
    const { proposal, votes } = all.next().value;
    for (const request of [proposal, ...votes]) {
      const { step, seq, at, spentMs } = await town.do(request);
      past.push({ request, step, spentMs, entry: { seq, at, ...request } });
    }
  }
  return past;
}

export interface Encoded extends EncodedStep {
  entry: { seq: number; bytes: Uint8Array };
}

/** As the network encodes it. */
export function encodePast({ entry, step }: Past, digests: Digests): Encoded {
  const encoded = encodeStep(step);
  const bytes = digests.advance(entry, encoded.results);
  return { ...encoded, entry: { seq: entry.seq, bytes } };
}

/** Batches of a size, as the network's queue hands them to a store that ends before the first. */
export function* batchesOf(all: readonly Encoded[], size: number): Generator<Batch> {
  for (let from = 0; from + size <= all.length; from += size) {
    const some = all.slice(from, from + size);
    const event_seq = some.flatMap(({ events }) => events).at(-1)?.seq ?? 0;
    yield {
      entries: some.map(({ entry }) => entry),
      events: some.flatMap(({ events }) => events),
      changes: some.flatMap(({ changes }) => changes),
      blobs: [],
      meta: metaOf(some.at(-1)!.entry.seq, event_seq),
    };
  }
}

function metaOf(seq: number, event_seq: number): Batch['meta'] {
  const digest = '00'.repeat(32);
  const last = { seq, event_seq, at: 0, log_digest: digest, digest };
  return { schema_version: 1, network_id: 'bench', epoch: 'bench', ...last };
}

/** A store on disk that ends just before a batch: what it holds is of no interest. */
export async function storeBefore(path: string, { entries, events }: Batch): Promise<Store> {
  const store = openLmdbStore({ path, tables, schemaVersion: 1 });
  const meta = metaOf(entries[0]!.seq - 1, events[0]!.seq - 1);
  await store.commit({
    entries: [{ seq: meta.seq, bytes: new Uint8Array() }],
    events: [{ seq: meta.event_seq, json: '{}' }],
    changes: [],
    blobs: [],
    meta,
  });
  return store;
}
