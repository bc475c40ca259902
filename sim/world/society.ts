/**
 * Parts common to both worlds: agents, their knowledge, due calls and messages in flight. Each
 * world defines how time passes and where requests go.
 */
import type { Admitted } from '../../engine/admit/admit.js';
import type { AheadSigner } from '../../engine/crypto/signer.js';
import { composeVote, type Signatory } from '../../engine/protocol/compose.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import { formatInstant, GENESIS_HASH } from '../../engine/protocol/schema/primitives.js';
import type { Reason, Refusal } from '../../engine/protocol/schema/reason.js';
import type { NetworkRule } from '../../engine/rules/network-rule.js';
import type {
  Behaviour,
  CallLoop,
  CastVote,
  ContentNote,
  DecisionNote,
  IgnoredWhy,
  QuestionGate,
  ScheduledEvent,
  ScriptedAgent,
  SlotDecision,
  TalkContent,
} from '../agents/port.js';
import type { Ordinals } from '../scenario/population.js';
import { withValues } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { DirectVote } from './direct-vote.js';
import { type Call, DueQueue, Outbox, plans } from './due-queue.js';
import { EventCalls } from './event-calls.js';
import type { Faults } from './faults.js';
import { Knowledge } from './knowledge.js';
import { computeDeparture, type Departure, type Links, NETWORK, type Uplinks } from './links.js';
import { type MessageKind, requestBytes, requestKinds } from './messages.js';
import type { Cause, Changeable, Intervening, Observer, RefusedWhy } from './observer.js';

const noMemes: readonly string[] = [];
/** Refusals after which a proposal is retried. */
const noRoom = new Set<Reason>(['TOO_MANY_OPEN', 'BLOCKS_USED', 'QUOTA_USED']);

/** Request in flight. It is the cause of the events that follow from it. */
export interface Sent extends Cause {
  at: number;
  /** Number of the sender's earlier requests. */
  number: number;
  request: SignedRequest;
  /** Set on arrival. */
  admitted: Admitted | null;
}

export class Society implements Changeable {
  readonly #options: SocietyOptions;
  #seedNumber: number;
  #scenario: Scenario;
  readonly #eventCalls: EventCalls;
  protected readonly knowledge: Knowledge;
  readonly #calls = new DueQueue<ScheduledEvent>();
  /** Null without external deciders. */
  readonly #questions: Questions | null;
  readonly #sent = new DueQueue<Sent>();
  /** Null if no uplink is limited. */
  readonly #outbox: Outbox | null;
  readonly producers: readonly number[];
  now: number;
  /** Number of requests that were not applied, by reason. */
  readonly refusals = new Map<string, number>();
  /** Number of calls scheduled and of requests sent, per agent. Orders simultaneous items. */
  readonly #scheduled: Uint32Array;
  readonly #requests: Uint32Array;

  constructor(options: SocietyOptions) {
    this.#options = options;
    const { agents, ordinals, neighbours, links, uplinks, seedNumber, startMs, observer } = options;
    const { head = GENESIS_HASH, intervening, asking } = options;
    this.#scenario = options.scenario;
    this.#questions = asking ? new Questions(asking, observer, intervening) : null;
    this.#seedNumber = seedNumber;
    const outbox = uplinks && new Outbox(uplinks, observer);
    this.#outbox = outbox;
    this.#scheduled = new Uint32Array(agents.length);
    this.#requests = new Uint32Array(agents.length);
    this.now = startMs;
    this.producers = agents.filter(({ producer }) => producer).map(({ ordinal }) => ordinal);
    const mutes = intervening?.mutes ?? new Map<string, number>();
    const around = { links, outbox, neighbours, observer };
    this.knowledge = new Knowledge({ ...around, seedNumber, ordinals, head, mutes });
    this.#eventCalls = new EventCalls(this, this.knowledge, options);
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
  get rule(): NetworkRule {
    return this.#options.rule();
  }
  get networkId() {
    return this.#options.networkId;
  }
  get startMs() {
    return this.#options.startMs;
  }
  get seedNumber() {
    return this.#seedNumber;
  }
  redraw(seedNumber: number): void {
    this.#seedNumber = seedNumber;
    this.knowledge.redraw(seedNumber);
  }

  stamp(agent: number): string {
    return formatInstant(this.#stampedAt(agent));
  }

  #stampedAt(agent: number): number {
    return this.networkTime() + this.#options.faults.skewMs(agent, this.now);
  }

  /** Time for signatures, which may differ from world time. */
  protected networkTime(): number {
    return this.now;
  }

  sendVote(from: number, vote: CastVote, note: DecisionNote): void {
    const by = this.signatoryOf(from);
    const direct = this.#options.sendsCommands
      ? DirectVote.create(by, vote, this.#stampedAt(from))
      : null;
    const { signer } = this.#options;
    if (signer) direct?.signAhead(signer);
    this.#send(from, direct ?? composeVote(by, this.stamp(from), vote), note, note.block);
  }

  send(from: number, request: SignedRequest, about?: { block: string }): void {
    this.#send(from, request, null, about?.block);
  }

  #send(
    from: number,
    composed: SignedRequest,
    ownNote: DecisionNote | null,
    block: string | undefined,
  ): void {
    const { inTransit, links, observer, intervening } = this.#options;
    const kind = requestKinds[composed.kind];
    let request = composed;
    let note = ownNote;
    const talk = block === undefined ? undefined : this.knowledge.talk(block);
    const name = this.knowledge.nextName(kind, from, talk);
    if (intervening) {
      const wanted = intervening.sending(from, { request, note });
      if (!wanted) return;
      ({ request, note } = wanted);
    }
    const sent = inTransit ? inTransit(request) : request;
    const own = sent === request || Buffer.compare(sent.body, request.body) === 0;
    const bytes = sent instanceof DirectVote ? sent.bytes : requestBytes(sent);
    const kept = own ? note : null;
    observer.traffic(kind, 'sent', 1, bytes);
    this.#depart(kind, name, this.#sending(from, sent, bytes, kept));
    const copy = links.copyOf(name);
    if (copy === null) return;
    observer.traffic(kind, 'duplicated', 1, bytes);
    this.#depart(kind, copy, this.#sending(from, sent, bytes, kept));
  }

  #sending(from: number, request: SignedRequest, bytes: number, note: DecisionNote | null): Sent {
    const number = this.#requests[from]!++;
    return {
      at: this.now,
      from,
      number,
      request,
      bytes,
      note,
      memes: noMemes,
      text: undefined,
      admitted: null,
    };
  }

  #depart(kind: MessageKind, name: number, sent: Sent): void {
    const { at, from, bytes } = sent;
    if (!this.#outbox?.takes(from)) this.#underway(kind, name, sent, at);
    else {
      const leaves = (departure: Departure) =>
        this.#underway(kind, name, sent, computeDeparture(departure, 0));
      this.#outbox.put({ from, at, bytes, copies: 1, leaves });
    }
  }

  /** Schedules the arrival of a request that has departed from its sender. */
  #underway(kind: MessageKind, name: number, sent: Sent, left: number): void {
    const { links, observer } = this.#options;
    sent.at = links.arrival(name, sent.from, NETWORK, left);
    if (sent.at === Number.POSITIVE_INFINITY) observer.traffic(kind, 'lost', 1, sent.bytes);
    else this.#sent.push(sent.at, sent.from, sent.number, left, sent);
  }

  schedule(agent: number, at: number, event: ScheduledEvent): void {
    const number = this.#scheduled[agent]!++;
    this.#calls.push(at, agent, number, this.now, event);
    this.#options.intervening?.scheduled(agent, event);
  }

  sendTalk(from: number, to: readonly number[], { content, bytes }: TalkContent): void {
    const { links, observer } = this.#options;
    const name = this.knowledge.nextName('talk', from);
    const message = { from, content };
    observer.traffic('talk', 'sent', to.length, bytes);
    const underway = (other: number, left: number) => {
      const at = links.arrival(name, from, other, left);
      if (at === Number.POSITIVE_INFINITY) observer.traffic('talk', 'lost', 1, bytes);
      else this.schedule(other, at, { type: 'receive', message });
    };
    if (!this.#outbox?.takes(from)) for (const other of to) underway(other, this.now);
    else {
      const all = [...to];
      const leaves = (departure: Departure) => {
        for (const [copy, other] of all.entries())
          underway(other, computeDeparture(departure, copy));
      };
      this.#outbox.put({ from, at: this.now, bytes, copies: all.length, leaves });
    }
  }

  agentId = (agent: number) => this.#options.agents[agent]!.id;
  groupOf = (agent: number) => this.#options.agents[agent]?.group.group ?? '';
  signatoryOf = (agent: number): Signatory => this.#options.agents[agent]!.by;
  neighbours = (agent: number) => this.#options.neighbours[agent]!;
  block = (agent: number, hash: string) => this.knowledge.block(agent, hash, this.now);
  openBlocks = (agent: number) => this.knowledge.openBlocks(agent, this.now);
  knowsClosed = (agent: number, hash: string) => this.knowledge.knowsClosed(agent, hash, this.now);
  head = (agent: number) => this.knowledge.head(agent, this.now);
  receivedVotes = (agent: number, hash: string) =>
    this.knowledge.receivedVotes(agent, hash, this.now);
  support = (agent: number, hash: string) => this.knowledge.support(agent, hash, this.now);
  receivedMemes = (agent: number, hash: string) =>
    this.knowledge.receivedMemes(agent, hash, this.now);
  receivedRemarks = (agent: number, hash: string, most = Number.POSITIVE_INFINITY) =>
    this.knowledge.receivedRemarks(agent, hash, this.now, most);
  alliancesOf = (agent: number) => this.knowledge.alliancesOf(agent);
  alliesOf = (agent: number) => this.knowledge.alliesOf(agent);
  membersOf = (alliance: string) => this.knowledge.membersOf(alliance);
  reputationOf = (agent: number) => this.knowledge.reputationOf(agent);

  decide(agent: number, decision: SlotDecision): void {
    this.#options.observer.decided(agent, decision, this.now);
  }

  ignored(agent: number, why: IgnoredWhy, detail: string): void {
    this.#options.observer.ignored(agent, { why, detail }, this.now);
  }

  noteContent(note: ContentNote): void {
    this.knowledge.noteContent(note);
    this.#options.observer.published(note);
  }

  /** Time of the next call or arrival, or infinity. */
  protected nextDue(): number {
    return Math.min(this.#calls.nextAt, this.#sent.nextAt);
  }

  /** Calls all agents whose calls are due before `end`. */
  protected callAgents(end: number): void {
    const { callLoop } = this.#options;
    const calls = this.#calls;
    if (!callLoop) {
      while (calls.takeBefore(end)) this.#callNext();
      return;
    }
    const next = (): boolean => {
      const isDue = calls.takeBefore(end);
      if (isDue) this.#callNext();
      return isDue;
    };
    if (calls.nextAt < end) callLoop(next);
  }

  /** Calls agents, and waits for deciders if any question was asked. */
  protected callAndAsk(end: number): Promise<void> | undefined {
    const began = this.now;
    this.callAgents(end);
    return this.#questions?.answerAll(this, (held) => {
      for (const { at, from, number, since, event } of held) {
        this.#calls.push(at, from, number, since, event);
      }
      this.now = began;
      this.callAgents(end);
    });
  }

  /** Makes the call that was taken from the queue. */
  #callNext(): void {
    const { at, since, from: agent, number, item } = this.#calls;
    const event = item!;
    const questions = this.#questions;
    const asking = questions && { at, from: agent, number, since, event };
    if (asking && questions.holds(asking)) return;
    const { agents, behaviour, faults, intervening } = this.#options;
    const down = faults.down(agent, at);
    // Paused agents are called later. Crashed agents lose the call.
    if (down?.kind === 'pause') {
      this.#calls.push(down.end, agent, number, since, event);
      return;
    }
    const forgets = faults.crashedBetween(agent, since, at) && plans.has(event.type);
    if (!down && !forgets) {
      this.now = Math.max(this.now, at);
      behaviour.handle(agents[agent]!, this, event);
    }
    if (!asking || !questions.asked(asking)) intervening?.called(agent, event);
  }

  /** Sends the outbox. Called when no earlier message can follow. */
  protected sendOff(): void {
    this.#outbox?.empty();
  }

  protected arrivesBefore(end: number): boolean {
    return this.#sent.nextAt < end;
  }

  /** Removes and returns the arrivals before `end`, in order. */
  protected arrived(end: number): Sent[] {
    const arrived: Sent[] = [];
    while (this.#sent.takeBefore(end)) arrived.push(this.#sent.item!);
    return arrived;
  }

  /** Publishes an event: computes which agents learn of it, and when. */
  protected publish(event: Event, at: number, cause: Cause | null): void {
    this.#options.intervening?.happened(event);
    this.knowledge.learn(event, at, cause);
    this.#options.observer.event(event, at, cause);
    this.#eventCalls.spread(event, at);
  }

  protected lost(kind: CommandKind, bytes: number): void {
    this.#options.observer.traffic(requestKinds[kind], 'lost', 1, bytes);
  }

  /** Counts a request that was not applied. */
  protected refused(from: number, kind: CommandKind, why: RefusedWhy, at = this.now): void {
    this.refusals.set(why, (this.refusals.get(why) ?? 0) + 1);
    this.#options.observer.refused(from, kind, why, at);
  }

  /** Schedules the retry of a proposal that was refused for lack of room, if the agent insists. */
  protected tryAgain(from: number, kind: CommandKind, refusal: Refusal, at = this.now): void {
    const { agents } = this.#options;
    if (kind !== 'propose' || !this.scenario.producers.insist || !noRoom.has(refusal.reason))
      return;
    const waitMs = 1_000 * Number(refusal.details?.retry_after_s ?? 1);
    this.schedule(from, at + waitMs, { type: 'produce', turn: agents[from]!.turn });
  }
}

export interface SocietyOptions {
  scenario: Scenario;
  networkId: string;
  rule(): NetworkRule;
  agents: ScriptedAgent[];
  ordinals: Ordinals;
  behaviour: Behaviour;
  /** True if votes are commands that become requests only when a log needs them. */
  sendsCommands: boolean;
  /** Signs votes before they arrive. Default: votes are signed when their bytes are read. */
  signer?: AheadSigner;
  /** Wraps calls to agents. Default: a plain loop. */
  callLoop?: CallLoop;
  /** External decisions. Default: none. */
  asking?: QuestionGate;
  neighbours: number[][];
  faults: Faults;
  links: Links;
  /** Null if no uplink is limited. */
  uplinks: Uplinks | null;
  seedNumber: number;
  startMs: number;
  observer: Observer;
  /** Interventions. Default: none. */
  intervening?: Intervening;
  /** Parent of the first blocks. Default: genesis. */
  head?: string;
  /** Inspects and may change each request, to inject faults in tests. */
  inTransit?: (request: SignedRequest) => SignedRequest;
}

/**
 * Calls to agents with external deciders. All questions in a window are answered together, because
 * no message sent in the window arrives in it. An agent's later calls wait for its answer.
 */
class Questions {
  readonly #asking: QuestionGate;
  readonly #observer: Observer;
  readonly #intervening: Intervening | undefined;
  /** Calls with an open question. A call finishes when the answer arrives. */
  readonly #open = new Map<number, Call>();
  #held: Call[] = [];

  constructor(asking: QuestionGate, observer: Observer, intervening: Intervening | undefined) {
    this.#asking = asking;
    this.#observer = observer;
    this.#intervening = intervening;
  }

  /** Queues the call if its agent waits for an answer. */
  holds(call: Call): boolean {
    if (!this.#asking.waits(call.from)) return false;
    this.#held.push(call);
    return true;
  }

  /** Returns true if the call has asked a question. */
  asked(call: Call): boolean {
    if (!this.#asking.waits(call.from)) return false;
    this.#open.set(call.from, call);
    return true;
  }

  /**
   * Performs the answers, each at its question's time, until no question is open.
   * @param again runs the calls that waited, and the calls scheduled in the meantime.
   */
  async answerAll(world: { now: number }, again: (held: Call[]) => void): Promise<void> {
    const reached = world.now;
    for (;;) {
      const all = await this.#asking.answers();
      if (all.length === 0) break;
      for (const { agent, at, cost, act } of all) {
        world.now = at;
        this.#observer.asked(agent, cost);
        act();
        this.#intervening?.called(agent, this.#open.get(agent)!.event);
      }
      this.#open.clear();
      again(this.#held.splice(0));
    }
    world.now = Math.max(world.now, reached);
  }
}
