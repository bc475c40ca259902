/**
 * Page state as signals, updated by patches from the worker. Agents are stored in columns that are
 * updated in place, and watchers receive the numbers of the agents that changed. This design scales
 * to 10,000 agents.
 */
import { computed, signal } from '@preact/signals';
import type { KnownPart } from '../../api/contract/control.js';
import type { AgentRow, AllianceRow, MemeRow, Message, Totals } from '../../api/view/model.js';
import type { NetworkParameters } from '../../api/view/reducer.js';
import {
  type AgentColumns,
  approves,
  type BlockItem,
  type ClockState,
  type LinkState,
  type Notice,
  type PageOverview,
  type Patch,
  type Position,
  rejects,
  type WorldStatus,
} from './messages.js';

/** Numbers of changed agents. */
type Changed = Uint32Array | 'all';

class Agents implements AgentColumns {
  /** In registration order. Agents in rows from `count` on registered after the current entry. */
  readonly rows: AgentRow[] = [];
  status = new Uint8Array();
  reputation = new Uint32Array();
  votes = new Uint32Array();
  memes = new Uint32Array();
  produced = new Uint32Array();
  /** Decision on the focused block. */
  decision = new Uint8Array();
  /** Number of agents at the current entry. */
  readonly count = signal(0);
  /** Increases with every change, for views that show a few agents. */
  readonly version = signal(0);
  readonly #watchers = new Set<(changed: Changed) => void>();
  readonly #byId = new Map<string, number>();

  /** Calls back after every change, until the returned function is called. */
  watch(watcher: (changed: Changed) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Returns null for agents that are unknown at the current entry. */
  numberOf(id: string): number | null {
    const number = this.#byId.get(id);
    return number === undefined || number >= this.count.value ? null : number;
  }

  apply({ roster, count, agents, numbers, focus }: Patch): void {
    const first = roster[0]?.number;
    if (first === 0) this.#forget();
    for (const row of roster) {
      this.rows[row.number] = row;
      this.#byId.set(row.id, row.number);
    }
    this.#grow(this.rows.length);
    for (const name of columns) {
      if (!numbers) this[name].set(agents[name]);
      else
        for (const [place, number] of numbers.entries()) this[name][number] = agents[name][place]!;
    }
    if (focus.decisions) {
      this.decision.fill(0);
      this.decision.set(focus.decisions);
    }
    for (const ballot of focus.fresh) this.decision[ballot >>> 1] = ballot & 1 ? rejects : approves;
    const all = numbers === null || focus.decisions !== null || this.count.value !== count;
    this.count.value = count;
    this.version.value += 1;
    const changed = all ? 'all' : withBallots(numbers, focus.fresh);
    for (const watcher of this.#watchers) watcher(changed);
  }

  #forget(): void {
    this.rows.length = 0;
    this.#byId.clear();
  }

  #grow(length: number): void {
    if (this.status.length >= length) return;
    const capacity = Math.max(64, 2 ** Math.ceil(Math.log2(length)));
    this.status = grown(this.status, new Uint8Array(capacity));
    this.decision = grown(this.decision, new Uint8Array(capacity));
    for (const name of ['reputation', 'votes', 'memes', 'produced'] as const) {
      this[name] = grown(this[name], new Uint32Array(capacity));
    }
  }
}

const columns = ['status', 'reputation', 'votes', 'memes', 'produced'] as const;

function grown<T extends Uint8Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function withBallots(numbers: Uint32Array, fresh: Uint32Array): Uint32Array {
  return fresh.length === 0
    ? numbers
    : Uint32Array.from([...numbers, ...fresh.map((ballot) => ballot >>> 1)]);
}

/** Null until the first snapshot. */
export const network = signal<NetworkParameters | null>(null);
export const position = signal<Position | null>(null);
export const totals = signal<Totals | null>(null);
const transactions = signal<number | null>(null);
export const blocks = signal<readonly BlockItem[]>([]);
/** Number of the focused block; null before the first block. */
export const focus = signal<number | null>(null);
export const alliances = signal<readonly AllianceRow[]>([]);
export const memes = signal<readonly MemeRow[]>([]);
export const messages = signal<readonly Message[]>([]);
export const overview = signal<PageOverview | null>(null);
export const link = signal<LinkState>({ is: 'starting' });
export const notice = signal<Notice | null>(null);
/** Optional reads that the server supports; null until known. */
export const capabilities = signal<readonly KnownPart[] | null>(null);
/** Latest status of the network clock. */
export const world = signal<WorldStatus | null>(null);
export const clock = signal<ClockState>({
  mode: 'live',
  speed: 1,
  goal: null,
  head: { entry: -1, at: 0 },
  follows: true,
});

/**
 * Transactions per second while time advances. Null at a fixed entry, because the rate would depend
 * on how the reader got there.
 */
export const passingTransactions = computed<number | null>(() => {
  const { mode, follows } = clock.value;
  return mode === 'paused' || (mode === 'live' && !follows) ? null : transactions.value;
});

export const agents = new Agents();

export function apply(patch: Patch): void {
  agents.apply(patch);
  if (network.value?.epoch !== patch.of.epoch) network.value = patch.of;
  position.value = patch.position;
  totals.value = patch.totals;
  transactions.value = patch.transactions;
  focus.value = patch.focus.block;
  if (patch.blocks.all) blocks.value = patch.blocks.list;
  else if (patch.blocks.list.length > 0) {
    const changed = new Map(patch.blocks.list.map((block) => [block.number, block]));
    blocks.value = blocks.value.map((block) => changed.get(block.number) ?? block);
  }
  if (patch.alliances) alliances.value = patch.alliances;
  if (patch.memes) memes.value = patch.memes;
  if (patch.said) messages.value = patch.said;
}

export const getFocusedBlock = (): BlockItem | undefined =>
  blocks.value.find(({ number }) => number === focus.value);

export const canAsk = (part: KnownPart): boolean => capabilities.value?.includes(part) ?? false;
