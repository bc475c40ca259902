/** What the page has not been told yet of a picture, and the patch that tells it. */
import { firstRow } from '../../api/view/cut.js';
import {
  type BlockPicture,
  type Picture,
  rowKinds,
  type Span,
  statuses,
} from '../../api/view/model.js';
import {
  type AgentColumns,
  approves,
  type BlockShown,
  DORMANT,
  type Focus,
  type Patch,
  rejects,
} from '../data/messages.js';
import type { RateMeter } from './rates.js';

const code = Object.fromEntries(rowKinds.map((kind, index) => [kind, index])) as Record<
  (typeof rowKinds)[number],
  number
>;

/** Kinds whose rows change the agent in `who`. */
const ofAgents = new Set([
  code.block_validation,
  code.meme_posted,
  code.reputation_update,
  code.agent_status,
  code.dormancy,
  code.registered,
]);

export class Changes {
  readonly #rates: RateMeter;
  /** Null: everything is new. */
  #agents: Set<number> | null = null;
  #blocks: Set<number> | null = null;
  /** Blocks that closed: their producers have one more, if they were finalized. */
  readonly #closed: number[] = [];
  #alliances = true;
  #memes = true;
  #said = true;
  /** Agents that the page has been told the names of. */
  #told = 0;
  /** The block that a reader chose; else the newest in voting, or the newest. */
  #chosen: number | null = null;
  #focus: number | null = null;
  /** Ballots of it that the page knows; -1 where it needs all. */
  #ballots = -1;
  #any = true;

  constructor(rates: RateMeter) {
    this.#rates = rates;
  }

  get any(): boolean {
    return this.#any;
  }

  /** Another entry, or another network: then no name is known. */
  all({ names = false } = {}): void {
    this.#any = true;
    this.#agents = null;
    this.#blocks = null;
    this.#alliances = true;
    this.#memes = true;
    this.#said = true;
    this.#ballots = -1;
    if (names) this.#told = 0;
  }

  choose(block: number | null): void {
    this.#chosen = block;
    this.#ballots = -1;
    this.#any = true;
  }

  /** Entries `from` to `to` of a span were folded. */
  note(span: Span, from: number, to: number): void {
    const { rows } = span;
    const start = firstRow(span, from);
    const end = to >= span.to ? rows.entry.length : firstRow(span, to + 1);
    this.#any = true;
    this.#rates.add(rows, start, end);
    for (let row = start; row < end; row += 1) {
      const kind = rows.kind[row]!;
      if (ofAgents.has(kind)) this.#agents?.add(rows.who[row]!);
      if (kind === code.block_validation) this.#blocks?.add(rows.what[row]!);
      // The list itself changed: that is rare.
      else if (kind === code.block_proposal || kind === code.block_status) this.#blocks = null;
      else if (kind === code.alliance_update) this.#alliances = true;
      else if (kind === code.meme_posted) this.#memes = true;
      if (kind === code.block_status) this.#closed.push(rows.what[row]!);
    }
    if (span.said.some(({ entry }) => entry >= from && entry <= to)) this.#said = true;
  }

  /** What is new, which from now on the page knows. */
  patch(picture: Picture): Patch {
    const { network_id, epoch, policy, weights, participation_bps, agents, totals } = picture;
    const { entry, at, event_seq, digest, log_digest, height } = picture;
    for (const closed of this.#closed.splice(0)) {
      const block = picture.blocks.find(({ number }) => number === closed);
      if (block) this.#agents?.add(block.producer);
    }
    const numbers = this.#agents ? Uint32Array.from(this.#agents) : null;
    const changed = this.#blocks;
    const patch: Patch = {
      of: { network_id, epoch, policy, weights, participation_bps },
      position: { entry, at, event_seq, digest, log_digest, height },
      totals,
      rates: this.#rates.at(at),
      count: agents.length,
      roster: agents
        .slice(this.#told)
        .map(({ number, id, public_key, name, personality, ...more }) => {
          const { validator, producer } = more;
          return { number, id, public_key, name, personality, validator, producer };
        }),
      agents: columnsOf(picture, numbers),
      numbers,
      blocks: {
        all: changed === null,
        list: picture.blocks.filter(({ number }) => changed?.has(number) ?? true).map(shown),
      },
      focus: this.#focusOf(picture),
      alliances: this.#alliances ? picture.alliances : null,
      memes: this.#memes ? picture.memes : null,
      said: this.#said ? picture.said : null,
    };
    this.#told = Math.max(this.#told, agents.length);
    this.#agents = new Set();
    this.#blocks = new Set();
    this.#alliances = this.#memes = this.#said = this.#any = false;
    return patch;
  }

  #focusOf({ blocks, agents }: Picture): Focus {
    const chosen = this.#chosen;
    const block =
      (chosen === null ? null : blocks.find(({ number }) => number === chosen)) ??
      blocks.findLast(({ status }) => status === 'voting') ??
      blocks.at(-1);
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

function decisionsOf({ ballots }: BlockPicture, agents: number): Uint8Array {
  const decisions = new Uint8Array(agents);
  for (const ballot of ballots) decisions[ballot >>> 1] = ballot & 1 ? rejects : approves;
  return decisions;
}

function columnsOf({ agents }: Picture, numbers: Uint32Array | null): AgentColumns {
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

function shown({ ballots, ...block }: BlockPicture): BlockShown {
  let rejections = 0;
  for (const ballot of ballots) rejections += ballot & 1;
  return { ...block, approvals: ballots.length - rejections, rejections };
}
