/**
 * The registers that interventions write into and that are asked about each request and event:
 * votes to replace, proposals to keep from arriving, memes to mute, and the numbers that name all
 * of these.
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
  /** Before it acts, it only looks at what the agent does. */
  acts: boolean;
  /** Calls that may still make the agent vote on the block. */
  pending: number;
  /** The agent has sent a vote on it. */
  sent: boolean;
  /** Votes that are otherwise than they would have been. */
  did: number;
}

/**
 * Replaced votes. A request that the agent would send is signed anew; where nothing is left that
 * could make the agent vote, it votes at once. The agent's own draws are what they were.
 */
export class Votes {
  /** By the agent's ordinal. */
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

  /** Where the agent will not vote by itself any more, it votes now. */
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
    world.send(ordinal, composeVote(agent.by, world.stamp(ordinal), fields), { note });
  }

  *#about(agent: number, event: ScheduledEvent): Iterable<Order> {
    if (event.type !== 'hear' && event.type !== 'vote') return;
    for (const order of this.#orders.get(agent) ?? []) {
      if (this.#numbers.block(order.block) === event.block) yield order;
    }
  }
}

/** What it says of itself, where it would not have voted. */
const REASON = 'as asked';

type SignedVote = RequestBody['vote'] & { signature: string };

/** What it would say already stays as it is, byte for byte. */
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
  /** Requests that were kept out: one, and its copies. */
  did: number;
}

/** Proposals that are kept from arriving: of blocks and of alliances, by number or by id. */
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

  /** `accepted`: whether the network would take it, so that it would have a number. */
  keepsOut(command: Command, accepted: () => boolean): boolean {
    if (this.#drops.length === 0) return false;
    const proposed = proposedBy(command);
    if (!proposed) return false;
    const { of, id } = proposed;
    const before = this.#out.get(id);
    const drop = before ?? this.#dropOf(of, id);
    if (!drop || (!before && !accepted())) return false;
    if (!before) this.#numbers[of].push('');
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
  /** Memes that it muted. */
  did: number;
}

/** Memes that no agent hears of any more, from an instant on: one by one, or all of an author. */
export class Mutes {
  /** By meme, from when on. */
  readonly memes = new Map<string, number>();
  readonly #numbers: Numbers;
  /** Muted before they were posted; authors by agent id. */
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

  /** To be told of each before anybody hears of it, with its number known. */
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
 * Blocks, memes and alliances of a run in the order in which they came, so that an intervention can
 * name one by its number. What an intervention kept from coming has its number all the same.
 */
export class Numbers {
  /** Ids, '' for what was kept out. */
  readonly blocks: string[] = [];
  readonly alliances: string[] = [];
  readonly memes: { id: string; author: string }[] = [];
  readonly #ids = new Set<string>();
  /** Blocks that are finalized. */
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

  /** The id; undefined for what has not come, or was kept from coming. */
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
