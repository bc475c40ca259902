/**
 * Votes that are made to be otherwise. What the agent would send is signed anew by itself; where
 * nothing is left that could make it vote, it votes then. Its own draws are what they were.
 */
import { composeVote, type Decision, type RequestBody } from '../../../engine/internal.js';
import type { ScriptedAgent } from '../../agents/port/agent.js';
import type { ScheduledEvent } from '../../agents/port/world.js';
import type { Named } from '../../scenario/schema/interventions/interventions.js';
import type { Changeable, Outgoing } from '../../world/society/intervening.js';
import type { Numbers } from './numbers.js';

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
