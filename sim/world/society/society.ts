/**
 * What every world of scripted agents has: the agents, what they know, who is called when, and
 * messages under way. How time passes and where requests go is the business of its two worlds.
 */
import TinyQueue from 'tinyqueue';
import {
  type CommandKind,
  type Event,
  formatInstant,
  GENESIS_HASH,
  type Reason,
  type Refusal,
  type Signatory,
  type SignedRequest,
} from '../../../engine/internal.js';
import { agentId } from '../../../engine/protocol/signing.js';
import type { ContentNote, DecisionNote } from '../../agents/port/notes.js';
import type { ScheduledEvent, World } from '../../agents/port/world.js';
import { NETWORK } from '../links/links.js';
import type { RefusedWhy } from '../observer.js';
import { Knowledge } from './knowledge.js';
import { News } from './news.js';
import type { SocietyOptions } from './options.js';

interface Call {
  at: number;
  /** When the call was asked for. */
  since: number;
  agent: number;
  number: number;
  event: ScheduledEvent;
}

/** Calls that an agent planned itself; the others come from outside, or tell of a fault's end. */
const plans = new Set<ScheduledEvent['type']>(['join', 'vote', 'produce', 'socialize']);

/** Why a proposal is worth another try. */
const noRoom = new Set<Reason>(['TOO_MANY_OPEN', 'BLOCKS_USED', 'QUOTA_USED']);

/** A request under way. */
export interface Sent {
  at: number;
  from: number;
  number: number;
  request: SignedRequest;
}

export class Society implements World {
  readonly #options: SocietyOptions;
  readonly #news: News;
  protected readonly knowledge: Knowledge;
  readonly #ids: string[];
  readonly #calls = new TinyQueue<Call>(
    [],
    (a, b) => a.at - b.at || a.agent - b.agent || a.number - b.number,
  );
  readonly #sent = new TinyQueue<Sent>(
    [],
    (a, b) => a.at - b.at || a.from - b.from || a.number - b.number,
  );
  readonly producers: readonly number[];
  now: number;
  /** Requests that were not done, by reason. */
  readonly refusals = new Map<string, number>();
  #number = 0;

  constructor(options: SocietyOptions) {
    this.#options = options;
    const { agents, neighbours, links, startMs, observer, head = GENESIS_HASH } = options;
    this.now = startMs;
    this.#ids = agents.map(({ by }) => agentId(by.publicKey));
    this.producers = agents.filter(({ producer }) => producer).map(({ ordinal }) => ordinal);
    const ordinals = new Map(this.#ids.map((id, ordinal) => [id, ordinal]));
    this.knowledge = new Knowledge(links, neighbours, ordinals, head, (what, count) =>
      observer.traffic(what, count),
    );
    this.#news = new News(this, this.knowledge, options);
  }

  get scenario() {
    return this.#options.scenario;
  }
  get networkId() {
    return this.#options.networkId;
  }
  get startMs() {
    return this.#options.startMs;
  }
  get seedNumber() {
    return this.#options.seedNumber;
  }

  stamp(agent: number): string {
    return formatInstant(this.networkTime() + this.#options.faults.skewMs(agent, this.now));
  }

  /** What requests are signed with, as the network has it: its clock may not be the world's. */
  protected networkTime(): number {
    return this.now;
  }

  send(from: number, request: SignedRequest): void {
    const { inTransit, links, observer } = this.#options;
    const number = this.#nextNumber();
    const sent = inTransit ? inTransit(request) : request;
    observer.traffic('sent', 1);
    const at = links.arrival(number, from, NETWORK, this.now);
    if (at === Number.POSITIVE_INFINITY) observer.traffic('lost', 1);
    else this.#sent.push({ at, from, number, request: sent });
    if (!links.duplicated(number, from)) return;
    const copy = this.#nextNumber();
    const again = links.arrival(copy, from, NETWORK, this.now);
    observer.traffic('duplicated', 1);
    if (again !== Number.POSITIVE_INFINITY) {
      this.#sent.push({ at: again, from, number: copy, request: sent });
    }
  }

  schedule(agent: number, at: number, event: ScheduledEvent): void {
    this.#calls.push({ at, since: this.now, agent, number: this.#nextNumber(), event });
  }

  agentId = (agent: number) => this.#ids[agent]!;
  groupOf = (agent: number) => this.#options.agents[agent]?.group.group ?? '';
  signatoryOf = (agent: number): Signatory => this.#options.agents[agent]!.by;
  neighbours = (agent: number) => this.#options.neighbours[agent]!;
  block = (agent: number, hash: string) => this.knowledge.block(agent, hash, this.now);
  knowsClosed = (agent: number, hash: string) => this.knowledge.knowsClosed(agent, hash, this.now);
  head = (agent: number) => this.knowledge.head(agent, this.now);
  receivedVotes = (agent: number, hash: string) =>
    this.knowledge.receivedVotes(agent, hash, this.now);
  receivedMemes = (agent: number, hash: string) =>
    this.knowledge.receivedMemes(agent, hash, this.now);
  share = (agent: number, hash: string, memes: readonly string[]) =>
    this.knowledge.share(agent, hash, memes);
  alliancesOf = (agent: number) => this.knowledge.alliancesOf(agent);
  decided = (note: DecisionNote) => this.#options.observer.decided(note);

  noteContent(note: ContentNote): void {
    this.knowledge.noteContent(note);
    this.#options.observer.published(note);
  }

  /** When the next call or arrival is due; infinite when there is none. */
  protected nextDue(): number {
    return Math.min(
      this.#calls.peek()?.at ?? Number.POSITIVE_INFINITY,
      this.#sent.peek()?.at ?? Number.POSITIVE_INFINITY,
    );
  }

  /** Calls everybody whose call is due before `end`. */
  protected callAgents(end: number): void {
    const { agents, behaviour, faults } = this.#options;
    for (let call = this.#calls.peek(); call && call.at < end; call = this.#calls.peek()) {
      this.#calls.pop();
      const { at, since, agent, event } = call;
      const down = faults.down(agent, at);
      // Who stands still goes on later; who has crashed forgets.
      if (down?.kind === 'pause') this.#calls.push({ ...call, at: down.end });
      if (down || (plans.has(event.type) && faults.crashedBetween(agent, since, at))) continue;
      this.now = Math.max(this.now, at);
      behaviour.handle(agents[agent]!, this, event);
    }
  }

  /** Takes what arrives before `end`, in order. */
  protected arrived(end: number): Sent[] {
    const arrived: Sent[] = [];
    for (let sent = this.#sent.peek(); sent && sent.at < end; sent = this.#sent.peek()) {
      arrived.push(sent);
      this.#sent.pop();
    }
    return arrived;
  }

  /** Spreads what happened at an instant: who will hear of it, and when. */
  protected publish(event: Event, at: number): void {
    this.knowledge.learn(event, at);
    this.#options.observer.event(event, at);
    this.#news.spread(event, at);
  }

  /** Notes a request that was not done. */
  protected refused(from: number, kind: CommandKind, why: RefusedWhy, at = this.now): void {
    this.refusals.set(why, (this.refusals.get(why) ?? 0) + 1);
    this.#options.observer.refused(from, kind, why, at);
  }

  /** Calls a producer for which there was no room when there is again, if it is to insist. */
  protected tryAgain(from: number, kind: CommandKind, refusal: Refusal, at = this.now): void {
    const { scenario, agents } = this.#options;
    if (kind !== 'propose' || !scenario.producers.insist || !noRoom.has(refusal.reason)) return;
    const waitMs = 1_000 * Number(refusal.details?.retry_after_s ?? 1);
    this.schedule(from, at + waitMs, { type: 'produce', turn: agents[from]!.turn });
  }

  #nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }
}
