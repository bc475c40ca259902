/** Tracks changes to a snapshot between patches to the page. */
import {
  type BlockSnapshot,
  type RowBatch,
  rowCode,
  rowKinds,
  type Snapshot,
  viewRows,
} from '../../api/view/model.js';
import { firstRow } from '../../api/view/row-batch.js';
import { statuses } from '../../engine/protocol/event-types.js';
import {
  type AgentColumns,
  approves,
  type BlockItem,
  DORMANT,
  type Focus,
  findCurrentBlock,
  type Patch,
  rejects,
} from '../data/messages.js';

/** Parts of a snapshot that a row changes, by row code. */
const changed = rowKinds.map((kind) => viewRows[kind].changes);

export class Changes {
  /** Numbers of changed agents and blocks; null if all are new. */
  #agents: Set<number> | null = null;
  #blocks: Set<number> | null = null;
  /** Numbers of closed blocks. A finalized block changes its producer's count. */
  readonly #closed: number[] = [];
  #alliances = true;
  #memes = true;
  #said = true;
  /** Number of agents whose rows the page has received. */
  #told = 0;
  /** Block that the reader chose. Null focuses the current block; see `findCurrentBlock`. */
  #chosen: number | null = null;
  #focus: number | null = null;
  /** Number of the focused block's ballots that the page has received; -1 if the page needs all. */
  #ballots = -1;
  #any = true;
  /** Last reported rate; null until one was reported since the last jump. */
  #transactions: number | null = null;

  get any(): boolean {
    return this.#any;
  }

  /** Marks everything as changed. With `names`, also resends all agent rows. */
  all({ names = false } = {}): void {
    this.#any = true;
    this.#agents = null;
    this.#blocks = null;
    this.#alliances = true;
    this.#memes = true;
    this.#said = true;
    this.#ballots = -1;
    this.#transactions = null;
    if (names) this.#told = 0;
  }

  choose(block: number | null): void {
    this.#chosen = block;
    this.#ballots = -1;
    this.#any = true;
  }

  /** Records the changes that entries `from` through `to` of a folded batch made. */
  note(batch: RowBatch, from: number, to: number): void {
    const { rows } = batch;
    const start = firstRow(batch, from);
    const end = to >= batch.to ? rows.entry.length : firstRow(batch, to + 1);
    this.#any = true;
    for (let row = start; row < end; row += 1) {
      const kind = rows.kind[row]!;
      for (const part of changed[kind]!) {
        if (part === 'agent') this.#agents?.add(rows.who[row]!);
        else if (part === 'block') this.#blocks?.add(rows.what[row]!);
        // The list itself rarely changes.
        else if (part === 'blocks') this.#blocks = null;
        else if (part === 'alliances') this.#alliances = true;
        else this.#memes = true;
      }
      if (kind === rowCode.network_metrics) this.#transactions = rows.value[row]! / 1_000;
      if (kind === rowCode.block_status) this.#closed.push(rows.what[row]!);
    }
    if (batch.said.some(({ entry }) => entry >= from && entry <= to)) this.#said = true;
  }

  /** Builds a patch with all changes, and clears the record of changes. */
  patch(snapshot: Snapshot): Patch {
    const { network_id, epoch, policy, weights, participation_bps, rule, agents, totals } =
      snapshot;
    const { entry, at, digest } = snapshot;
    for (const closed of this.#closed.splice(0)) {
      const block = snapshot.blocks.find(({ number }) => number === closed);
      if (block) this.#agents?.add(block.producer);
    }
    const numbers = this.#agents ? Uint32Array.from(this.#agents) : null;
    const changed = this.#blocks;
    const patch: Patch = {
      of: { network_id, epoch, policy, weights, participation_bps, ...(rule ? { rule } : {}) },
      position: { entry, at, digest },
      totals,
      transactions: this.#transactions,
      count: agents.length,
      roster: agents
        .slice(this.#told)
        .map(({ number, id, public_key, name, personality, ...more }) => {
          const { validator, producer } = more;
          return { number, id, public_key, name, personality, validator, producer };
        }),
      agents: columnsOf(snapshot, numbers),
      numbers,
      blocks: {
        all: changed === null,
        list: snapshot.blocks.filter(({ number }) => changed?.has(number) ?? true).map(shown),
      },
      focus: this.#focusOf(snapshot),
      alliances: this.#alliances ? snapshot.alliances : null,
      memes: this.#memes ? snapshot.memes : null,
      said: this.#said ? snapshot.said : null,
    };
    this.#told = Math.max(this.#told, agents.length);
    this.#agents = new Set();
    this.#blocks = new Set();
    this.#alliances = this.#memes = this.#said = this.#any = false;
    return patch;
  }

  #focusOf({ blocks, agents }: Snapshot): Focus {
    const chosen = this.#chosen;
    const block =
      (chosen === null ? null : blocks.find(({ number }) => number === chosen)) ??
      findCurrentBlock(blocks);
    if (!block) {
      const decisions = new Uint8Array(agents.length);
      return { block: null, decisions, fresh: new Uint32Array() };
    }
    const whole = block.number !== this.#focus || this.#ballots < 0;
    const fresh = Uint32Array.from(whole ? [] : block.ballots.slice(this.#ballots));
    this.#focus = block.number;
    this.#ballots = block.ballots.length;
    return {
      block: block.number,
      decisions: whole ? decisionsOf(block, agents.length) : null,
      fresh,
    };
  }
}

function decisionsOf({ ballots }: BlockSnapshot, agents: number): Uint8Array {
  const decisions = new Uint8Array(agents);
  for (const ballot of ballots) decisions[ballot >>> 1] = ballot & 1 ? rejects : approves;
  return decisions;
}

function columnsOf({ agents }: Snapshot, numbers: Uint32Array | null): AgentColumns {
  const length = numbers?.length ?? agents.length;
  const columns: AgentColumns = {
    status: new Uint8Array(length),
    reputation: new Uint32Array(length),
    votes: new Uint32Array(length),
    memes: new Uint32Array(length),
    produced: new Uint32Array(length),
  };
  for (let place = 0; place < length; place += 1) {
    const agent = agents[numbers?.[place] ?? place]!;
    const status = Math.max(0, (statuses as readonly string[]).indexOf(agent.status));
    columns.status[place] = status | (agent.dormant ? DORMANT : 0);
    columns.reputation[place] = agent.reputation;
    columns.votes[place] = agent.votes;
    columns.memes[place] = agent.memes;
    columns.produced[place] = agent.blocks_produced;
  }
  return columns;
}

function shown({ ballots, ...block }: BlockSnapshot): BlockItem {
  let rejections = 0;
  for (const ballot of ballots) rejections += ballot & 1;
  return { ...block, approvals: ballots.length - rejections, rejections };
}
