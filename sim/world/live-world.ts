/**
 * World in wall time: agents on a live network, alongside agents from other sources. World time
 * starts at the network's time and advances at `speed`, or is paused. Requests are signed with the
 * network's time, and network deadlines are not scaled.
 */
import type { Event, EventData } from '../../engine/protocol/schema/event.js';
import { soundness } from '../agents/port.js';
import type { Answer, Gateway } from './gateway.js';
import { memeText, requestKinds } from './messages.js';
import type { Cause } from './observer.js';
import { type Sent, Society, type SocietyOptions } from './society.js';

/** Maximum sleep, after which the world checks if the run has ended. */
const LONGEST_PAUSE_MS = 250;

interface LiveWorldOptions extends SocietyOptions {
  gateway: Gateway;
  speed: number;
}

export class LiveWorld extends Society {
  readonly #options: LiveWorldOptions;
  /** Speed of time, with the network time and world time at which the speed was set. */
  #pace: { speed: number; networkMs: number; worldMs: number };
  readonly #gateway: Gateway;
  readonly #underway = new Set<Promise<void>>();
  readonly #openQuestions = new Asked();
  #failure: { error: unknown } | null = null;
  #over = false;
  /** End of the current sleep in world time. `#endPause` ends the sleep early. */
  #pausedUntil = 0;
  #endPause: () => void = () => {};

  constructor(options: LiveWorldOptions) {
    super(options);
    this.#options = options;
    this.#gateway = options.gateway;
    const { speed, startMs } = options;
    this.#pace = { speed, networkMs: startMs, worldMs: startMs };
  }

  get joined(): number {
    return this.#options.agents.filter(({ joined }) => joined).length;
  }

  /** Sets the speed relative to network time; 0 pauses. */
  setPace(speed: number): void {
    const networkMs = this.#gateway.now();
    this.#pace = { speed, networkMs, worldMs: this.#worldTime(networkMs) };
    this.#endPause();
  }

  /** Resolves when all requests sent so far are answered. */
  async waitIdle(): Promise<void> {
    await Promise.all(this.#underway);
  }

  /**
   * Runs while `goesOn` returns true, and until all requests are answered.
   * @throws {ScenarioError} if a script throws. @throws {RemoteError} if the network is gone.
   */
  async run(goesOn: () => boolean): Promise<void> {
    this.#listen().catch((error) => this.#fail(error));
    try {
      while (goesOn()) {
        this.#turn();
        await this.#pause();
        if (this.#failure) throw this.#failure.error;
      }
    } finally {
      this.#over = true;
    }
    await Promise.all(this.#underway);
  }

  protected override networkTime(): number {
    return this.#gateway.now();
  }

  #worldTime(at: number): number {
    const { speed, networkMs, worldMs } = this.#pace;
    return worldMs + Math.trunc((at - networkMs) * speed);
  }

  /** Runs everything that is due, in short windows, which preserves the order even when late. */
  #turn(): void {
    if (this.#pace.speed === 0) return;
    const now = this.#worldTime(this.#gateway.now());
    const { windowMs } = this.#options.links;
    for (let due = this.nextDue(); due <= now; due = this.nextDue()) {
      const end = Math.min(due + windowMs, now + 1);
      this.callAgents(end);
      this.sendOff();
      for (const sent of this.arrived(end)) this.#deliver(sent);
    }
    this.now = Math.max(this.now, now);
  }

  #pause(): Promise<void> {
    this.#pausedUntil = this.nextDue();
    const left = this.#pausedUntil - this.#worldTime(this.#gateway.now());
    const { speed } = this.#pace;
    const wallMs = speed === 0 ? LONGEST_PAUSE_MS : Math.ceil(Math.max(0, left) / speed);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(wallMs, LONGEST_PAUSE_MS));
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#endPause();
  }

  #deliver(sent: Sent): void {
    this.#openQuestions.add(sent);
    const answered = this.#gateway
      .submit(sent.from, sent.request)
      .then((answer) => this.#take(sent, answer))
      .catch((error) => this.#fail(error))
      .finally(() => this.#underway.delete(answered));
    this.#underway.add(answered);
  }

  #take(sent: Sent, answer: Answer): void {
    const { from, bytes } = sent;
    const { kind } = sent.request;
    const { result } = answer;
    if (result !== 'accepted' && result !== 'lost') this.#openQuestions.drop(sent);
    if (result === 'lost') this.#options.observer.traffic(requestKinds[kind], 'lost', 1, bytes);
    else if (result === 'refused') {
      this.refused(from, kind, answer.refusal.reason);
      this.tryAgain(from, kind, answer.refusal);
    } else if (result !== 'accepted') this.refused(from, kind, result);
    if (kind === 'register') this.#welcome(from, answer);
  }

  /** Welcomes an agent registered in an earlier run, which gets only the response and no event. */
  #welcome(from: number, answer: Answer): void {
    const agent = this.#options.agents[from]!;
    const known =
      'data' in answer || ('refusal' in answer && answer.refusal.reason === 'AGENT_EXISTS');
    if (agent.joined || !known) return;
    this.#options.behaviour.registered(agent, this, this.now);
    const status = 'data' in answer && 'status' in answer.data ? answer.data.status : 'active';
    if (status === 'active') return;
    // The agent became inactive at the end of the earlier run.
    agent.onBreak = true;
    this.schedule(from, this.now, { type: 'return' });
  }

  /** Listens until the network ends, or until the first event after the end of the world. */
  async #listen(): Promise<void> {
    for await (const event of this.#gateway.events()) {
      if (this.#over) return;
      if (event.type === 'block_proposal') await this.#judge(event.data);
      this.#hear(event);
    }
  }

  #hear(event: Event): void {
    this.now = Math.max(this.now, this.#worldTime(this.#gateway.now()));
    this.publish(event, this.#worldTime(Date.parse(event.data.timestamp)), this.#causeOf(event));
    this.sendOff();
    if (this.nextDue() < this.#pausedUntil) this.#endPause();
  }

  #causeOf(event: Event): Cause | null {
    if (event.type === 'block_validation') {
      const { validator, block_hash, decision } = event.data;
      return this.#openQuestions.vote(this.knowledge.ordinalOf(validator.id), block_hash, decision);
    }
    if (event.type !== 'meme_posted') return null;
    return this.#openQuestions.meme(this.knowledge.ordinalOf(event.data.creator.id));
  }

  /** Reads a block's content if the block comes from outside the scenario. */
  async #judge({ block_hash: block, producer, meme_content }: EventData['block_proposal']) {
    if (this.knowledge.ordinalOf(producer.id) >= 0) return;
    const transactions = (await this.#gateway.transactionsOf(block)) ?? [];
    const hasMeme = Object.keys(meme_content).length > 0;
    const said = transactions.map(({ data }) => data);
    const note = { block, soundness: soundness(transactions), hasMeme, transactions: said };
    this.knowledge.noteContent({ ...note, senders: [] });
  }
}

/*
 * Sent votes and memes that can return as events. An event names its agent and content, but not the
 * request that caused the event.
 */

/** Limit per agent. Unanswered requests are dropped first. */
const MOST = 64;

class Asked {
  readonly #sent = new Map<number, Sent[]>();

  add(sent: Sent): void {
    const { kind } = sent.request;
    if (kind !== 'vote' && kind !== 'meme') return;
    const own = this.#sent.get(sent.from) ?? [];
    own.push(sent);
    if (own.length > MOST) own.shift();
    this.#sent.set(sent.from, own);
  }

  /** Removes a refused or duplicate request. */
  drop(sent: Sent): void {
    const own = this.#sent.get(sent.from);
    const index = own?.indexOf(sent) ?? -1;
    if (index >= 0) own!.splice(index, 1);
  }

  /** Returns a vote event's cause. Among identical votes, the oldest matches. */
  vote(agent: number, block: string, decision: string): Cause | null {
    return this.#take(agent, ({ note }) => note?.block === block && note.decision === decision);
  }

  meme(agent: number): Cause | null {
    return this.#take(agent, ({ request }) => request.kind === 'meme');
  }

  #take(agent: number, is: (sent: Sent) => boolean): Cause | null {
    const own = this.#sent.get(agent);
    const found = own?.find(is);
    if (!found) return null;
    this.drop(found);
    const { note, bytes, request } = found;
    const text = request.kind === 'meme' ? memeText(request) : undefined;
    return { from: agent, note, bytes, text, memes: note?.memeReferences ?? [] };
  }
}
