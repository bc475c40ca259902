/**
 * Reads of all kinds while a server dies. Everything that the reads showed must exist afterwards.
 */
import type { Host } from '../../support/host.js';
import { meta } from './actions.js';
import { Caller, expectCut, type ReadEvent } from './caller.js';

interface Header {
  block_hash: string;
  height: number;
  status: string;
}

interface Vote {
  public_key: string;
  vote: unknown;
}

interface State {
  block_height: number;
  head_hash: string;
}

/** Returns true for a decided block, which stays decided. A block in voting may change. */
const decided = (status: string) => status !== 'voting';

export class Sightings {
  /** End of the log. */
  #end = { seq: -1, event_seq: -1, digest: '' };
  /** Highest head, with its state. */
  #head: State = { block_height: -1, head_hash: '' };
  readonly #blocks = new Map<string, Header>();
  readonly #votes = new Map<string, Map<string, unknown>>();
  readonly #agents = new Set<string>();
  readonly #events = new Map<number, ReadEvent>();
  #lastSeq = 0;
  /** Number of observations. */
  shown = 0;

  /** Reads until the connections are cut, each kind on a separate connection. */
  async watch(server: Host): Promise<void> {
    const reads = [
      ...[this.#readEnd, this.#readState, this.#readBlocks, this.#readAgents],
      this.#readEvents,
    ];
    const caller = new Caller(server.url, reads.length);
    const readers = reads.map(async (read) => {
      for (;;) await read.call(this, caller);
    });
    await Promise.all(readers.map((reader) => reader.catch(expectCut)));
    caller.close();
  }

  async #readEnd(caller: Caller): Promise<void> {
    const end = await meta(caller);
    if (end.seq > this.#end.seq) this.#end = end;
    if (end.seq === this.#end.seq) expect(end.digest).toBe(this.#end.digest);
    this.shown += 1;
  }

  async #readState(caller: Caller): Promise<void> {
    const state = await caller.read<State>('/api/v1/network/state');
    if (state.block_height > this.#head.block_height) this.#head = state;
    this.shown += 1;
  }

  /** Reads the newest blocks, and the votes on the newest block. */
  async #readBlocks(caller: Caller): Promise<void> {
    const page = await caller.read<{ blocks: Header[] }>('/api/v1/blocks?limit=5');
    for (const header of page.blocks) {
      const before = this.#blocks.get(header.block_hash);
      if (!before || !decided(before.status)) this.#blocks.set(header.block_hash, header);
    }
    const newest = page.blocks[0]?.block_hash;
    if (newest === undefined) return;
    const { votes } = await caller.read<{ votes: Vote[] }>(`/api/v1/blocks/${newest}/votes`);
    const seen = this.#votes.get(newest) ?? new Map<string, unknown>();
    for (const { public_key, vote } of votes) seen.set(public_key, vote);
    this.#votes.set(newest, seen);
    this.shown += 1 + votes.length;
  }

  async #readAgents(caller: Caller): Promise<void> {
    for (const id of await producersOf(caller)) this.#agents.add(id);
    this.shown += 1;
  }

  async #readEvents(caller: Caller): Promise<void> {
    const path = `/api/v1/events?limit=1000&after=${this.#lastSeq}`;
    const page = await caller.read<{ events: ReadEvent[]; last_seq: number }>(path);
    for (const event of page.events) this.#events.set(event.seq, event);
    // The last event on the pages, and the end that the pages report.
    this.#lastSeq = Math.max(this.#lastSeq, page.events.at(-1)?.seq ?? 0);
    expect(page.last_seq).toBeGreaterThanOrEqual(this.#lastSeq);
    this.shown += 1;
  }

  /** Expects everything shown since the last check. */
  async expectKept(caller: Caller): Promise<void> {
    const now = await meta(caller);
    expect(now.seq).toBeGreaterThanOrEqual(this.#end.seq);
    expect(now.event_seq).toBeGreaterThanOrEqual(this.#end.event_seq);
    if (now.seq === this.#end.seq) expect(now.digest).toBe(this.#end.digest);
    await this.#expectBlocks(caller);
    const producers = await producersOf(caller);
    for (const id of this.#agents) expect(producers.has(id), id).toBe(true);
    const first = Math.min(...this.#events.keys());
    const held = this.#events.size === 0 ? [] : await caller.events(first - 1);
    const bySeq = new Map(held.map((event) => [event.seq, event]));
    for (const [seq, event] of this.#events) expect(bySeq.get(seq), `event ${seq}`).toEqual(event);
    for (const kept of [this.#blocks, this.#votes, this.#agents, this.#events]) kept.clear();
  }

  async #expectBlocks(caller: Caller): Promise<void> {
    const state = await caller.read<State>('/api/v1/network/state');
    expect(state.block_height).toBeGreaterThanOrEqual(this.#head.block_height);
    if (state.block_height === this.#head.block_height) {
      expect(state.head_hash).toBe(this.#head.head_hash);
    }
    for (const [hash, { height, status }] of this.#blocks) {
      const now = await caller.find<Header>(`/api/v1/blocks/${hash}`);
      expect(now, hash).toMatchObject(decided(status) ? { height, status } : { height });
    }
    for (const [hash, votes] of this.#votes) {
      const now = await caller.read<{ votes: Vote[] }>(`/api/v1/blocks/${hash}/votes`);
      const kept = new Map(now.votes.map(({ public_key, vote }) => [public_key, vote]));
      for (const [key, vote] of votes) expect(kept.get(key), `${key} on ${hash}`).toEqual(vote);
    }
  }
}

async function producersOf(caller: Caller): Promise<Set<string>> {
  const path = '/api/v1/network/agents';
  const { producers } = await caller.read<{ producers: { id: string }[] }>(path);
  return new Set(producers.map(({ id }) => id));
}
