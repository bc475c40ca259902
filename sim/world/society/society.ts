/**
 * What every world of scripted agents has: the agents, what they know, who is called when, and
 * messages under way. How time passes and where requests go is the business of its two worlds.
 */
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
import type { Said, ScheduledEvent } from '../../agents/port/world.js';
import { withValues } from '../../scenario/read/paths.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import { NETWORK } from '../links/links.js';
import { requestBytes, requestKinds } from '../messages.js';
import type { Cause, RefusedWhy } from '../observer.js';
import { type Due, DueQueue } from './due.js';
import type { Changeable } from './intervening.js';
import { Knowledge } from './knowledge.js';
import { News } from './news.js';
import type { SocietyOptions } from './options.js';

/** An agent is to be called. */
interface Call extends Due {
  /** When the call was asked for. */
  since: number;
  event: ScheduledEvent;
}

/** Calls that an agent planned itself; the others come from outside, or tell of a fault's end. */
const plans = new Set<ScheduledEvent['type']>(['join', 'vote', 'produce', 'socialize', 'wake']);

/** Why a proposal is worth another try. */
const noRoom = new Set<Reason>(['TOO_MANY_OPEN', 'BLOCKS_USED', 'QUOTA_USED']);

/** A request under way. */
export interface Sent extends Due {
  request: SignedRequest;
  bytes: number;
  /** Of a vote that is as its agent cast it. */
  note: DecisionNote | null;
}

export class Society implements Changeable {
  readonly #options: SocietyOptions;
  #scenario: Scenario;
  readonly #news: News;
  protected readonly knowledge: Knowledge;
  readonly #ids: string[];
  readonly #calls = new DueQueue<Call>();
  readonly #sent = new DueQueue<Sent>();
  readonly producers: readonly number[];
  now: number;
  /** Requests that were not done, by reason. */
  readonly refusals = new Map<string, number>();
  /** How often each agent was scheduled, and how many requests it sent: they order what is due. */
  readonly #scheduled: Uint32Array;
  readonly #requests: Uint32Array;

  constructor(options: SocietyOptions) {
    this.#options = options;
    const { agents, neighbours, links, seedNumber, startMs, observer } = options;
    const { head = GENESIS_HASH, intervening } = options;
    this.#scenario = options.scenario;
    this.#scheduled = new Uint32Array(agents.length);
    this.#requests = new Uint32Array(agents.length);
    this.now = startMs;
    this.#ids = agents.map(({ by }) => agentId(by.publicKey));
    this.producers = agents.filter(({ producer }) => producer).map(({ ordinal }) => ordinal);
    const ordinals = new Map(this.#ids.map((id, ordinal) => [id, ordinal]));
    const mutes = intervening?.mutes ?? new Map<string, number>();
    const told = { links, seedNumber, neighbours, ordinals, head, observer, mutes };
    this.knowledge = new Knowledge(told);
    this.#news = new News(this, this.knowledge, options);
  }

  get scenario() {
    return this.#scenario;
  }
  change(path: string, value: unknown): void {
    this.#scenario = withValues(this.#scenario, [[path, value]]) as Scenario;
    const { links } = this.#options;
    if (path === 'links.loss') links.setLoss(Number(value), this.now);
    if (path === 'links.duplication') links.setDuplication(Number(value));
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

  send(from: number, request: SignedRequest, note: DecisionNote | null = null): void {
    const { inTransit, links, observer, intervening } = this.#options;
    const kind = requestKinds[request.kind];
    const name = this.knowledge.nextName(kind, from);
    const wanted = intervening ? intervening.sending(from, { request, note }) : { request, note };
    if (!wanted) return;
    const sent = inTransit ? inTransit(wanted.request) : wanted.request;
    const own = sent === wanted.request || Buffer.compare(sent.body, wanted.request.body) === 0;
    const bytes = requestBytes(sent);
    const kept = own ? wanted.note : null;
    observer.traffic(kind, 'sent', 1, bytes);
    if (!this.#underway(name, from, sent, bytes, kept)) observer.traffic(kind, 'lost', 1, bytes);
    const copy = links.copyOf(name);
    if (copy === null) return;
    observer.traffic(kind, 'duplicated', 1, bytes);
    if (!this.#underway(copy, from, sent, bytes, kept)) observer.traffic(kind, 'lost', 1, bytes);
  }

  /** Whether it will arrive. */
  #underway(
    name: number,
    from: number,
    request: SignedRequest,
    bytes: number,
    note: DecisionNote | null,
  ): boolean {
    const number = this.#requests[from]!++;
    const at = this.#options.links.arrival(name, from, NETWORK, this.now);
    if (at === Number.POSITIVE_INFINITY) return false;
    this.#sent.push({ at, from, number, request, bytes, note });
    return true;
  }

  schedule(agent: number, at: number, event: ScheduledEvent): void {
    const number = this.#scheduled[agent]!++;
    this.#calls.push({ at, from: agent, number, since: this.now, event });
    this.#options.intervening?.scheduled(agent, event);
  }

  tell(from: number, to: readonly number[], { content, bytes }: Said): void {
    const { links, observer } = this.#options;
    const name = this.knowledge.nextName('talk', from);
    const message = { from, content };
    observer.traffic('talk', 'sent', to.length, bytes);
    for (const other of to) {
      const at = links.arrival(name, from, other, this.now);
      if (at === Number.POSITIVE_INFINITY) observer.traffic('talk', 'lost', 1, bytes);
      else this.schedule(other, at, { type: 'receive', message });
    }
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
  support = (agent: number, hash: string) => this.knowledge.support(agent, hash, this.now);
  receivedMemes = (agent: number, hash: string) =>
    this.knowledge.receivedMemes(agent, hash, this.now);
  receivedRemarks = (agent: number, hash: string) =>
    this.knowledge.receivedRemarks(agent, hash, this.now);
  alliancesOf = (agent: number) => this.knowledge.alliancesOf(agent);
  alliesOf = (agent: number) => this.knowledge.alliesOf(agent);
  membersOf = (alliance: string) => this.knowledge.membersOf(alliance);
  reputationOf = (agent: number) => this.knowledge.reputationOf(agent);

  noteContent(note: ContentNote): void {
    this.knowledge.noteContent(note);
    this.#options.observer.published(note);
  }

  /** When the next call or arrival is due; infinite when there is none. */
  protected nextDue(): number {
    return Math.min(this.#calls.nextAt, this.#sent.nextAt);
  }

  /** Calls everybody whose call is due before `end`. */
  protected callAgents(end: number): void {
    const { callLoop } = this.#options;
    const due = () => this.#calls.nextAt < end;
    const next = () => {
      this.#call(this.#calls.takeBefore(end)!);
      return due();
    };
    if (!due()) return;
    if (callLoop) callLoop(next);
    else while (next());
  }

  #call(call: Call): void {
    const { agents, behaviour, faults, intervening } = this.#options;
    const { at, since, from: agent, event } = call;
    const down = faults.down(agent, at);
    // Who stands still goes on later; who has crashed forgets.
    if (down?.kind === 'pause') {
      this.#calls.push({ ...call, at: down.end });
      return;
    }
    const forgets = plans.has(event.type) && faults.crashedBetween(agent, since, at);
    if (!down && !forgets) {
      this.now = Math.max(this.now, at);
      behaviour.handle(agents[agent]!, this, event);
    }
    intervening?.called(agent, event);
  }

  protected arrivesBefore(end: number): boolean {
    return this.#sent.nextAt < end;
  }

  /** Takes what arrives before `end`, in order. */
  protected arrived(end: number): Sent[] {
    const arrived: Sent[] = [];
    for (let sent = this.#sent.takeBefore(end); sent; sent = this.#sent.takeBefore(end)) {
      arrived.push(sent);
    }
    return arrived;
  }

  /** Spreads what happened at an instant: who will hear of it, and when. */
  protected publish(event: Event, at: number, cause: Cause | null): void {
    this.#options.intervening?.happened(event);
    this.knowledge.learn(event, at, cause);
    this.#options.observer.event(event, at, cause);
    this.#news.spread(event, at);
  }

  /** Counts a request that does not arrive after all. */
  protected lost(kind: CommandKind, bytes: number): void {
    this.#options.observer.traffic(requestKinds[kind], 'lost', 1, bytes);
  }

  /** Notes a request that was not done. */
  protected refused(from: number, kind: CommandKind, why: RefusedWhy, at = this.now): void {
    this.refusals.set(why, (this.refusals.get(why) ?? 0) + 1);
    this.#options.observer.refused(from, kind, why, at);
  }

  /** Calls a producer for which there was no room when there is again, if it is to insist. */
  protected tryAgain(from: number, kind: CommandKind, refusal: Refusal, at = this.now): void {
    const { agents } = this.#options;
    if (kind !== 'propose' || !this.scenario.producers.insist || !noRoom.has(refusal.reason))
      return;
    const waitMs = 1_000 * Number(refusal.details?.retry_after_s ?? 1);
    this.schedule(from, at + waitMs, { type: 'produce', turn: agents[from]!.turn });
  }
}
