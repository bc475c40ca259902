/**
 * Intervention state that the world consults on each request and event: replaced votes, dropped
 * proposals, muted memes, and the numbers that name blocks, memes and alliances.
 */
import { composeVote } from '../../engine/protocol/compose.js';
import type { Command } from '../../engine/protocol/schema/command.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import type { RequestBody } from '../../engine/protocol/schema/request.js';
import type { ScheduledEvent, ScriptedAgent } from '../agents/port.js';
import type { Named } from '../scenario/schema/interventions.js';
import type { Changeable, Outgoing } from '../world/observer.js';

export interface Order {
  agent: ScriptedAgent;
  block: Named;
  decision: Decision | 'none';
  /** True once the intervention has acted. Before that, the order only observes the agent. */
  acts: boolean;
  /** Number of pending calls that can make the agent vote on the block. */
  pending: number;
  /** True if the agent has sent a vote on the block. */
  sent: boolean;
  /** Number of changed votes. */
  did: number;
}

/**
 * Replaced votes. The agent's request is changed and signed again. If no pending call can make the
 * agent vote, the vote is cast immediately. The agent's random draws are unchanged.
 */
export class Votes {
  /** Orders by agent ordinal. */
  readonly #orders = new Map<number, Order[]>();
  readonly #numbers: Numbers;
  readonly #world: () => Changeable;

  constructor(orders: readonly Order[], numbers: Numbers, world: () => Changeable) {
    for (const order of orders) {
      const { ordinal } = order.agent;
      this.#orders.set(ordinal, [...(this.#orders.get(ordinal) ?? []), order]);
    }
    this.#numbers = numbers;
    this.#world = world;
  }

  begin(order: Order): void {
    order.acts = true;
    this.#settle(order);
  }

  scheduled(agent: number, event: ScheduledEvent): void {
    for (const order of this.#about(agent, event)) order.pending += 1;
  }

  called(agent: number, event: ScheduledEvent): void {
    for (const order of this.#about(agent, event)) {
      order.pending -= 1;
      this.#settle(order);
    }
  }

  sending(from: number, outgoing: Outgoing): Outgoing | null {
    const { request } = outgoing;
    if (request.kind !== 'vote') return outgoing;
    const own = this.#orders.get(from);
    if (!own) return outgoing;
    const body = JSON.parse(Buffer.from(request.body).toString()) as SignedVote;
    let out: Outgoing | null = outgoing;
    for (const order of own) {
      if (this.#numbers.block(order.block) !== body.block_hash) continue;
      if (out && order.acts) out = changed(order, out, body);
      order.sent = true;
    }
    return out;
  }

  /** Casts the vote immediately if no pending call can make the agent vote. */
  #settle(order: Order): void {
    const { agent, block, decision, acts, pending, sent } = order;
    const hash = this.#numbers.block(block);
    if (!acts || sent || pending > 0 || decision === 'none' || hash === undefined) return;
    const world = this.#world();
    const { ordinal } = agent;
    if (!agent.joined || agent.left || !world.block(ordinal, hash)) return;
    if (world.knowsClosed(ordinal, hash)) return;
    const fields = { block_hash: hash, decision, reason: REASON, meme_references: [] };
    const note = {
      agent: ordinal,
      block: hash,
      decision,
      withoutMemes: null,
      receivedMemes: world.receivedMemes(ordinal, hash).map(({ id }) => id),
      memeReferences: [],
    };
    order.sent = true;
    order.did += 1;
    world.sendVote(ordinal, fields, note);
  }

  *#about(agent: number, event: ScheduledEvent): Iterable<Order> {
    if (event.type !== 'hear' && event.type !== 'vote') return;
    for (const order of this.#orders.get(agent) ?? []) {
      if (this.#numbers.block(order.block) === event.block) yield order;
    }
  }
}

/** Reason given in votes that the agent would not have cast. */
const REASON = 'as asked';

type SignedVote = RequestBody['vote'] & { signature: string };

/** Changes a vote. Leaves a vote that already matches the order unchanged, byte for byte. */
function changed(order: Order, outgoing: Outgoing, body: SignedVote): Outgoing | null {
  const { agent, decision } = order;
  if (body.decision === decision) return outgoing;
  order.did += 1;
  if (decision === 'none') return null;
  const { timestamp, signature: _, ...fields } = body;
  const { note } = outgoing;
  return {
    request: composeVote(agent.by, timestamp, { ...fields, decision }),
    note: note && { ...note, decision, withoutMemes: null },
  };
}

export interface DroppedProposal {
  of: 'blocks' | 'alliances';
  named: Named;
  /** Number of dropped requests. Copies of a request do not count. */
  did: number;
}

/** Dropped proposals of blocks and alliances, by number or id. */
export class Drops {
  readonly #numbers: Numbers;
  readonly #drops: DroppedProposal[] = [];
  readonly #out = new Map<string, DroppedProposal>();

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  add(drop: DroppedProposal): void {
    this.#drops.push(drop);
  }

  /**
   * Returns true if the request is dropped. `accepted` returns true if the network would accept it,
   * so that it gets a number.
   */
  keepsOut(command: Command, accepted: () => boolean): boolean {
    if (this.#drops.length === 0) return false;
    const proposed = proposedBy(command);
    if (!proposed) return false;
    const { of, id } = proposed;
    const before = this.#out.get(id);
    const drop = before ?? this.#dropOf(of, id);
    if (!drop || (!before && !accepted())) return false;
    if (before) return true;
    this.#numbers[of].push('');
    this.#out.set(id, drop);
    drop.did += 1;
    return true;
  }

  #dropOf(of: DroppedProposal['of'], id: string): DroppedProposal | undefined {
    const number = this.#numbers[of].length;
    return this.#drops.find((one) => one.of === of && (one.named === number || one.named === id));
  }
}

function proposedBy(command: Command): { of: DroppedProposal['of']; id: string } | null {
  if (command.kind === 'propose') return { of: 'blocks', id: command.block_hash };
  if (command.kind === 'alliance_propose') return { of: 'alliances', id: command.alliance_id };
  return null;
}

interface Muted {
  /** Number of muted memes. */
  did: number;
}

/** Memes muted from a certain time on, individually or by author. */
export class Mutes {
  /** Start time of the mute by meme. */
  readonly memes = new Map<string, number>();
  readonly #numbers: Numbers;
  /** Memes to mute that were not posted yet. Authors are listed by agent id. */
  readonly #awaited: { meme: Named; muted: Muted }[] = [];
  readonly #authors = new Map<string, Muted>();

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  meme(meme: Named, now: number): Muted {
    const muted = { did: 0 };
    const id = this.#numbers.meme(meme);
    if (id === undefined) this.#awaited.push({ meme, muted });
    else this.#mute(id, now, muted);
    return muted;
  }

  authors(agentIds: readonly string[], now: number): Muted {
    const muted = { did: 0 };
    for (const id of agentIds) this.#authors.set(id, muted);
    for (const { id, author } of this.#numbers.memes) {
      if (agentIds.includes(author)) this.#mute(id, now, muted);
    }
    return muted;
  }

  /** Registers a new meme. Called before agents learn of the meme, once its number is known. */
  posted(id: string, author: string): void {
    const own = this.#authors.get(author);
    if (own) this.#mute(id, 0, own);
    for (const { meme, muted } of this.#awaited) {
      if (this.#numbers.meme(meme) === id) this.#mute(id, 0, muted);
    }
  }

  #mute(id: string, now: number, muted: Muted): void {
    if (this.memes.has(id)) return;
    this.memes.set(id, now);
    muted.did += 1;
  }
}

/**
 * Blocks, memes and alliances in a run, numbered in order of appearance so that interventions can
 * name them. Dropped items are numbered too.
 */
export class Numbers {
  /** Block ids; empty for dropped blocks. */
  readonly blocks: string[] = [];
  readonly alliances: string[] = [];
  readonly memes: { id: string; author: string }[] = [];
  readonly #ids = new Set<string>();
  /** Number of finalized blocks. */
  height = 0;

  happened({ type, data }: Event): void {
    if (type === 'block_proposal' && this.#isNew(data.block_hash)) {
      this.blocks.push(data.block_hash);
    } else if (type === 'meme_posted' && this.#isNew(data.meme_id)) {
      this.memes.push({ id: data.meme_id, author: data.creator.id });
    } else if (type === 'alliance_update' && this.#isNew(data.alliance_id)) {
      this.alliances.push(data.alliance_id);
    } else if (type === 'block_status' && data.status === 'finalized') this.height += 1;
  }

  /** Returns the block's id. Undefined if the block has not appeared or was dropped. */
  block = (named: Named): string | undefined => this.#known(named, this.blocks);
  alliance = (named: Named): string | undefined => this.#known(named, this.alliances);
  meme(named: Named): string | undefined {
    if (typeof named === 'number') return this.memes[named]?.id;
    return this.#known(named, []);
  }

  #known(named: Named, list: readonly string[]): string | undefined {
    if (typeof named === 'number') return list[named] || undefined;
    return this.#ids.has(named) ? named : undefined;
  }

  #isNew(id: string): boolean {
    const { size } = this.#ids;
    return this.#ids.add(id).size > size;
  }
}
