/**
 * Gossip between neighbours: votes with the memes to which they refer, memes, and remarks. An agent
 * looks up which messages have arrived when it decides, so nothing is stored per receiver.
 */
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import type { BlockTalk, ReceivedMeme, ReceivedRemark, ReceivedVote } from '../agents/port.js';
import type { Outbox } from './due-queue.js';
import { computeDeparture, type Departure, type Links } from './links.js';
import type { MessageKind, OwnNumbers } from './messages.js';
import type { Mutes, Observer } from './observer.js';

interface GossipOptions {
  links: Links;
  /** Null if no uplink is limited. */
  outbox: Outbox | null;
  /** Neighbours by agent, ascending. */
  neighbours: readonly (readonly number[])[];
  observer: Observer;
  mutes: Mutes;
}

export class Gossip {
  readonly #links: Links;
  readonly #outbox: Outbox | null;
  readonly #neighbours: readonly (readonly number[])[];
  /**
   * All neighbours in one list, and the start of each agent's neighbours in it. Every vote reads
   * them, and a list per agent is elsewhere in memory.
   */
  readonly #others: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #observer: Observer;
  readonly #mutes: Mutes;

  constructor({ links, outbox, neighbours, observer, mutes }: GossipOptions) {
    this.#mutes = mutes;
    this.#links = links;
    this.#outbox = outbox;
    this.#neighbours = neighbours;
    this.#starts = new Uint32Array(neighbours.length + 1);
    for (const [agent, { length }] of neighbours.entries()) {
      this.#starts[agent + 1] = this.#starts[agent]! + length;
    }
    this.#others = new Uint32Array(this.#starts[neighbours.length]!);
    for (const [agent, others] of neighbours.entries()) {
      this.#others.set(others, this.#starts[agent]);
    }
    this.#observer = observer;
  }

  /** Spreads an accepted vote and its memes to the agent's neighbours. */
  vote(talk: Talk, agent: number, decision: Decision, memes: readonly string[]): void {
    talk.decisions[agent] = decision === 'approve' ? 1 : 2;
    if (memes.length > 0) {
      talk.references.set(agent, memes);
      talk.memes[agent] = 1;
    }
    const told: Told = {
      at: talk.votedAt[agent]!,
      name: talk.voteNames[agent]!,
      bytes: talk.voteBytes[agent]!,
    };
    if (!this.#outbox?.takes(agent)) this.#sayAtOnce('gossip.vote', agent, told);
    else {
      this.#sayInTurn('gossip.vote', agent, told, (arrivals) => {
        talk.voteArrivals.set(agent, arrivals);
      });
    }
  }

  meme(talk: Talk, agent: number, stance: Decision, meme: PostedMeme): void {
    talk.stances.set(meme.id, { id: meme.id, stance, text: meme.text });
    if (agent < 0) return;
    const posted = talk.posted.get(agent);
    if (posted) posted.push(meme);
    else talk.posted.set(agent, [meme]);
    talk.memes[agent] = 1;
    if (this.#untilMuted(meme.id, meme.at) < meme.at) return;
    this.#addTalk('gossip.meme', agent, meme);
  }

  remark(talk: Talk, agent: number, remark: ToldRemark): void {
    if (agent < 0) return;
    const told = talk.remarks.get(agent);
    if (told) told.push(remark);
    else talk.remarks.set(agent, [remark]);
    this.#addTalk('gossip.remark', agent, remark);
  }

  /** Stores a message with its arrival times. */
  #addTalk(kind: MessageKind, from: number, told: Told): void {
    if (!this.#outbox?.takes(from)) this.#sayAtOnce(kind, from, told);
    else {
      this.#sayInTurn(kind, from, told, (arrivals) => {
        told.arrivals = arrivals;
      });
    }
  }

  /** Counts one message per neighbour. Checks individual messages only if some can be lost. */
  #sayAtOnce(kind: MessageKind, from: number, { at, name, bytes }: Told): void {
    const count = this.#starts[from + 1]! - this.#starts[from]!;
    this.#observer.traffic(kind, 'sent', count, bytes);
    if (this.#links.sure(at)) return;
    let lost = 0;
    for (const to of this.#neighbours[from]!) if (this.#links.fails(name, from, to, at)) lost += 1;
    if (lost > 0) this.#observer.traffic(kind, 'lost', lost, bytes);
  }

  /** Sends over a limited uplink. `settled` is called when a copy's arrival time is known. */
  #sayInTurn(
    kind: MessageKind,
    from: number,
    { at, name, bytes }: Told,
    settled: (arrivals: Float64Array) => void,
  ): void {
    const neighbours = this.#neighbours[from]!;
    this.#observer.traffic(kind, 'sent', neighbours.length, bytes);
    const leaves = (departure: Departure) => {
      const arrivals = Float64Array.from(neighbours, (to, copy) =>
        this.#links.arrival(name, from, to, computeDeparture(departure, copy)),
      );
      settled(arrivals);
      let lost = 0;
      for (const one of arrivals) if (one === Number.POSITIVE_INFINITY) lost += 1;
      if (lost > 0) this.#observer.traffic(kind, 'lost', lost, bytes);
    };
    this.#outbox!.put({ from, at, bytes, copies: neighbours.length, leaves });
  }

  receivedVotes(
    agent: number,
    talk: Talk,
    allies: ReadonlySet<number> | undefined,
    now: number,
  ): ReceivedVote[] {
    const { votedAt, decisions } = talk;
    const received: ReceivedVote[] = [];
    for (const other of this.#neighbours[agent]!) {
      if (votedAt[other] === 0 || !this.#voteHeard(talk, other, agent, now)) continue;
      const decision: Decision = decisions[other] === 1 ? 'approve' : 'reject';
      received.push({ agent: other, decision, ally: allies?.has(other) === true });
    }
    return received;
  }

  /** Returns the approving percentage of received votes, with an ally's vote counted twice. */
  support(
    agent: number,
    talk: Talk,
    allies: ReadonlySet<number> | undefined,
    now: number,
  ): number | null {
    const { votedAt, decisions } = talk;
    const others = this.#others;
    const end = this.#starts[agent + 1]!;
    let approving = 0;
    let all = 0;
    for (let place = this.#starts[agent]!; place < end; place += 1) {
      const other = others[place]!;
      if (votedAt[other] === 0 || !this.#voteHeard(talk, other, agent, now)) continue;
      const weight = allies?.has(other) === true ? 2 : 1;
      all += weight;
      if (decisions[other] === 1) approving += weight;
    }
    return all === 0 ? null : Math.floor((100 * approving) / all);
  }

  /** Returns received memes without duplicates, in neighbour order. */
  receivedMemes(agent: number, talk: Talk, now: number): readonly ReceivedMeme[] {
    const { memes, posted, references } = talk;
    if (talk.stances.size === 0) return noMemes;
    const received: ReceivedMeme[] = [];
    for (const other of this.#neighbours[agent]!) {
      if (memes[other] === 0) continue;
      for (const meme of posted.get(other) ?? none) {
        const isHeard = this.#heard(meme, other, agent, this.#untilMuted(meme.id, now));
        if (isHeard) take(talk, meme.id, received);
      }
      const passed = references.get(other);
      if (!passed || !this.#voteHeard(talk, other, agent, now)) continue;
      for (const id of passed) {
        const until = this.#untilMuted(id, now);
        if (until === now || this.#voteHeard(talk, other, agent, until)) take(talk, id, received);
      }
    }
    return received;
  }

  receivedRemarks(agent: number, talk: Talk, now: number, most: number): ReceivedRemark[] {
    const received: ReceivedRemark[] = [];
    if (talk.remarks.size === 0) return received;
    for (const other of this.#neighbours[agent]!) {
      const told = talk.remarks.get(other);
      if (!told) continue;
      for (let at = Math.max(0, told.length - most); at < told.length; at += 1) {
        const remark = told[at]!;
        if (!this.#heard(remark, other, agent, now)) continue;
        const { message, stance } = remark;
        received.push({ agent: other, stance, message });
      }
    }
    return received;
  }

  /** Returns the time before which a meme must have arrived to be known now. */
  #untilMuted(meme: string, now: number): number {
    const from = this.#mutes.size === 0 ? undefined : this.#mutes.get(meme);
    return from === undefined ? now : Math.min(now, from - 1);
  }

  #voteHeard(talk: Talk, from: number, to: number, now: number): boolean {
    const at = talk.votedAt[from]!;
    if (at >= now) return false;
    if (this.#outbox?.takes(from)) return this.#arrived(talk.voteArrivals.get(from), from, to, now);
    const name = talk.voteNames[from]!;
    if (this.#links.isPlain) return at + this.#links.plainMs(name | 0, from, to) <= now;
    return this.#links.arrival(name, from, to, at) <= now;
  }

  #heard({ at, name, arrivals }: Told, from: number, to: number, now: number): boolean {
    if (at >= now) return false;
    if (this.#outbox?.takes(from)) return this.#arrived(arrivals, from, to, now);
    return this.#links.arrival(name, from, to, at) <= now;
  }

  /** Returns true if a message over a limited uplink has arrived. */
  #arrived(arrivals: Float64Array | undefined, from: number, to: number, now: number): boolean {
    return arrivals !== undefined && arrivals[placeOf(to, this.#neighbours[from]!)]! <= now;
  }
}

const none: readonly PostedMeme[] = [];
const noMemes: readonly ReceivedMeme[] = [];

/** Adds a meme once. Comparing objects is faster than a map, even for hundreds of memes. */
function take({ stances }: Talk, id: string, received: ReceivedMeme[]): void {
  const meme = stances.get(id);
  if (meme && !received.includes(meme)) received.push(meme);
}

function placeOf(wanted: number, list: readonly number[]): number {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Message to neighbours. */
interface Told {
  at: number;
  /** Message name and size. */
  name: number;
  bytes: number;
  /** Arrival time at each neighbour, for a limited uplink; infinite until known. */
  arrivals?: Float64Array;
}

interface PostedMeme extends Told {
  id: string;
  /** Content; empty if it is not a short text. */
  text: string;
}

interface ToldRemark extends Told {
  message: string;
  stance: Decision | null;
}

/** Everything said about one block, with the messages' names. */
export interface Talk extends BlockTalk {
  closedAt: number;
  /** Names and sizes of the opening and closing events. */
  readonly opening: number;
  readonly closing: number;
  /** Message counters of this block. */
  readonly numbers: OwnNumbers;
  /** Time at which each agent receives the block. */
  readonly receivedAt: Float64Array;
  openingBytes: number;
  closingBytes: number;
  /** Time of each agent's accepted vote; 0 without one. `voteNames`: names of vote messages. */
  readonly votedAt: Float64Array;
  readonly decisions: Uint8Array;
  readonly voteNames: Uint32Array;
  readonly voteBytes: Uint32Array;
  /** Arrival of an agent's vote at each neighbour, by agent, for limited uplinks. */
  readonly voteArrivals: Map<number, Float64Array>;
  /** Memes as agents receive them, by id. */
  readonly stances: Map<string, Readonly<ReceivedMeme>>;
  /** By agent: 1 if the agent has posted or passed on a meme. */
  readonly memes: Uint8Array;
  /** Memes and remarks posted, and memes passed on with a vote, by agent. */
  readonly posted: Map<number, PostedMeme[]>;
  readonly remarks: Map<number, ToldRemark[]>;
  readonly references: Map<number, readonly string[]>;
}
