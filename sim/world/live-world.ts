/**
 * The world in wall time: the same agents on a live network, among others. World time begins with
 * the network's and passes `speed` times as fast, or is held; requests are signed with the
 * network's own time, and its deadlines stay what they are.
 */
import type { Event, EventData } from '../../engine/protocol/schema/event.js';
import { soundness } from '../agents/port.js';
import type { Answer, Gateway } from './gateway.js';
import { memeText, requestKinds } from './messages.js';
import type { Cause } from './observer.js';
import { type Sent, Society, type SocietyOptions } from './society.js';

/** The world looks up after so long though nothing is due: whether to go on is asked then. */
const LONGEST_PAUSE_MS = 250;

interface LiveWorldOptions extends SocietyOptions {
  gateway: Gateway;
  speed: number;
}

export class LiveWorld extends Society {
  readonly #options: LiveWorldOptions;
  /** How fast its time passes, and since when: an instant of the network's, and of its own. */
  #pace: { speed: number; networkMs: number; worldMs: number };
  readonly #gateway: Gateway;
  readonly #underway = new Set<Promise<void>>();
  readonly #openQuestions = new Asked();
  #failure: { error: unknown } | null = null;
  #over = false;
  /** When the present pause ends, in the world's time; and what ends it now. */
  #pausedUntil = 0;
  #endPause: () => void = () => {};

  constructor(options: LiveWorldOptions) {
    super(options);
    this.#options = options;
    this.#gateway = options.gateway;
    const { speed, startMs } = options;
    this.#pace = { speed, networkMs: startMs, worldMs: startMs };
  }

  /** How many agents the network knows. */
  get joined(): number {
    return this.#options.agents.filter(({ joined }) => joined).length;
  }

  /** From now on its time passes so many times as fast as the network's; 0 holds it. */
  setPace(speed: number): void {
    const networkMs = this.#gateway.now();
    this.#pace = { speed, networkMs, worldMs: this.#worldTime(networkMs) };
    this.#endPause();
  }

  /** Resolves when nothing that was sent so far is under way. */
  async waitIdle(): Promise<void> {
    await Promise.all(this.#underway);
  }

  /**
   * Lives while `goesOn` says so, and ends when all that was sent is answered.
   * @throws {ScenarioError} when a script throws. @throws {RemoteError} when the network is gone.
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

  /** The world's time at an instant of the network's. */
  #worldTime(at: number): number {
    const { speed, networkMs, worldMs } = this.#pace;
    return worldMs + Math.trunc((at - networkMs) * speed);
  }

  /** Whatever is due by now, in short windows: what is sent goes out in its turn, late or not. */
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

  /** An agent that was registered in an earlier run is told by the answer alone that it is in. */
  #welcome(from: number, answer: Answer): void {
    const agent = this.#options.agents[from]!;
    const known =
      'data' in answer || ('refusal' in answer && answer.refusal.reason === 'AGENT_EXISTS');
    if (agent.joined || !known) return;
    this.#options.behaviour.registered(agent, this, this.now);
    const status = 'data' in answer && 'status' in answer.data ? answer.data.status : 'active';
    if (status === 'active') return;
    // It was away when that run ended.
    agent.onBreak = true;
    this.schedule(from, this.now, { type: 'return' });
  }

  /** Until the network ends, or the first event after the world has. */
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

  /** Of a stranger's block nobody has noted what is in it: it is read. */
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
 * Votes and memes that were sent to a live network and may come back as events: an event names its
 * agent and what it is, never the request that it follows from.
 */

/** For each agent: what was never answered makes room in the end. */
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

  /** It was refused, or had been done before. */
  drop(sent: Sent): void {
    const own = this.#sent.get(sent.from);
    const index = own?.indexOf(sent) ?? -1;
    if (index >= 0) own!.splice(index, 1);
  }

  /** What an agent's vote on a block follows from; of two alike, the one that was sent first. */
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
