/**
 * The world in virtual time, in one process: agents are called in windows shorter than any message
 * needs, so that nothing said in a window is heard in it. Requests are verified in rounds, applied
 * at their arrival, and committed behind; the order is (arrival, sender, number) and nothing else.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import TinyQueue from 'tinyqueue';
import {
  admit,
  type Event,
  GENESIS_HASH,
  type Network,
  type Reason,
  type Refusal,
  type SignedRequest,
  StoreError,
  type VirtualClock,
} from '../engine/index.js';
import { agentId } from '../engine/signing.js';
import { type ScriptedAgent, takeTurn } from './agents/agent.js';
import { act } from './agents/script.js';
import { Knowledge } from './knowledge.js';
import { latencyMs, NETWORK, WINDOW_MS } from './latency.js';
import { type Arrival, roundLength } from './rounds.js';
import type { Wake, World } from './world.js';

interface Call {
  at: number;
  agent: number;
  number: number;
  wake: Wake;
}

interface Sent {
  at: number;
  from: number;
  number: number;
  request: SignedRequest;
}

type BlockEnd = { status: string; block_hash: string };

/** Applied entries that may wait for the disk before the world does. */
const BACKLOG = 4_096;

export interface LocalWorldOptions {
  network: Network;
  clock: VirtualClock;
  agents: ScriptedAgent[];
  neighbours: number[][];
  /** Names latencies. */
  seedNumber: number;
  /** Sees each request on its way, and may change it: faults for tests. */
  inTransit?: (request: SignedRequest) => SignedRequest;
  /** Sees each event in order. */
  onEvent(event: Event, at: number): void;
}

export class LocalWorld implements World {
  readonly #options: LocalWorldOptions;
  readonly #knowledge: Knowledge;
  readonly #ids: string[];
  readonly #calls = new TinyQueue<Call>(
    [],
    (a, b) => a.at - b.at || a.agent - b.agent || a.number - b.number,
  );
  readonly #sent = new TinyQueue<Sent>(
    [],
    (a, b) => a.at - b.at || a.from - b.from || a.number - b.number,
  );
  readonly producers: number;
  /** Requests by what became of them: accepted, or the reason of the refusal. */
  readonly outcomes = new Map<'accepted' | 'duplicate' | Reason, number>();
  readonly #invited = new Set<string>();
  now: number;
  #number = 0;

  constructor(options: LocalWorldOptions) {
    this.#options = options;
    this.now = options.clock.now();
    this.#ids = options.agents.map(({ by }) => agentId(by.publicKey));
    this.producers = options.agents.filter(({ producer }) => producer).length;
    const ordinals = new Map(this.#ids.map((id, ordinal) => [id, ordinal]));
    const { seedNumber, neighbours } = options;
    this.#knowledge = new Knowledge(seedNumber, neighbours, ordinals, GENESIS_HASH);
  }

  get networkId(): string {
    return this.#options.network.genesis.network_id;
  }

  send(from: number, request: SignedRequest): void {
    const number = this.#nextNumber();
    const at = this.now + latencyMs(this.#options.seedNumber, number, from, NETWORK);
    const { inTransit } = this.#options;
    this.#sent.push({ at, from, number, request: inTransit ? inTransit(request) : request });
  }

  wake(agent: number, at: number, wake: Wake): void {
    this.#calls.push({ at, agent, number: this.#nextNumber(), wake });
  }

  agentId = (agent: number) => this.#ids[agent]!;
  neighbours = (agent: number) => this.#options.neighbours[agent]!;
  block = (agent: number, hash: string) => this.#knowledge.block(agent, hash, this.now);
  knowsClosed = (agent: number, hash: string) => this.#knowledge.knowsClosed(agent, hash, this.now);
  head = (agent: number) => this.#knowledge.head(agent, this.now);
  votesHeard = (agent: number, hash: string) => this.#knowledge.votesHeard(agent, hash, this.now);
  memesHeard = (agent: number, hash: string) => this.#knowledge.memesHeard(agent, hash, this.now);
  share = (agent: number, hash: string, memes: readonly string[]) =>
    this.#knowledge.share(agent, hash, memes);
  publish = (hash: string, soundness: number, hasMeme: boolean) =>
    this.#knowledge.publish(hash, soundness, hasMeme);
  alliancesOf = (agent: number) => this.#knowledge.alliancesOf(agent);

  /** Runs the next window in which something happens; false when nothing ever will. */
  async step(): Promise<boolean> {
    const { network, clock, agents } = this.#options;
    const due = network.nextDeadline();
    const next = Math.min(
      this.#calls.peek()?.at ?? Number.POSITIVE_INFINITY,
      this.#sent.peek()?.at ?? Number.POSITIVE_INFINITY,
      due === null ? Number.POSITIVE_INFINITY : due + 1,
    );
    if (next === Number.POSITIVE_INFINITY) return false;
    const end = next - (next % WINDOW_MS) + WINDOW_MS;
    for (let call = this.#calls.peek(); call && call.at < end; call = this.#calls.peek()) {
      this.#calls.pop();
      this.now = call.at;
      act(agents[call.agent]!, this, call.wake);
    }
    await this.#deliver(end);
    clock.set(end);
    this.#hear(network.advance());
    // The disk gets its turn; the world waits only when it is far ahead of it.
    if (network.backlog > BACKLOG) await network.durable;
    else await nextTurn();
    return true;
  }

  /** Takes in what arrives before `end`, round by round. */
  async #deliver(end: number): Promise<void> {
    const { network, clock } = this.#options;
    let arrivals = await this.#arrivals(end);
    while (arrivals.length > 0) {
      clock.set(arrivals[0]!.at);
      this.#hear(network.advance());
      const length = roundLength(arrivals, {
        nextDeadline: network.nextDeadline(),
        votesUntilClose: (block) => network.votesUntilClose(block),
      });
      await this.#round(arrivals.slice(0, length));
      arrivals = arrivals.slice(length);
    }
  }

  async #arrivals(end: number): Promise<Arrival[]> {
    const arrivals: Arrival[] = [];
    for (let sent = this.#sent.peek(); sent && sent.at < end; sent = this.#sent.peek()) {
      this.#sent.pop();
      const { at, from, number, request } = sent;
      const admitted = await admit(request, this.networkId);
      if ('refusal' in admitted) this.#count(admitted.refusal);
      else arrivals.push({ at, from, number, admitted });
    }
    return arrivals;
  }

  async #round(arrivals: readonly Arrival[]): Promise<void> {
    const { network, clock } = this.#options;
    const verified = await Promise.all(
      arrivals.map(({ admitted }) => {
        const hopeless = network.check(admitted);
        return hopeless ?? network.verifyAdmitted(admitted);
      }),
    );
    for (const [index, { at }] of arrivals.entries()) {
      clock.set(at);
      const one = verified[index]!;
      if ('result' in one) {
        this.#count('refusal' in one ? one.refusal : 'duplicate');
      } else if ('refusal' in one) this.#count(one.refusal);
      else {
        const { outcome, events } = network.apply(one);
        this.#count('refusal' in outcome ? outcome.refusal : outcome.result);
        this.#hear(events);
      }
      if (network.backlog > BACKLOG) await network.durable;
    }
  }

  /** A refusal is part of a run, unless it says that the network cannot go on. */
  #count(outcome: 'accepted' | 'duplicate' | Refusal): void {
    const what = typeof outcome === 'string' ? outcome : outcome.reason;
    if (typeof outcome !== 'string' && outcome.code === 'NETWORK_ERROR') {
      throw new StoreError(what === 'DISK_FULL' ? 'FULL' : 'FAILED', outcome.message);
    }
    this.outcomes.set(what, (this.outcomes.get(what) ?? 0) + 1);
  }

  /** Spreads what happened: who will hear of it, and when. */
  #hear(events: readonly Event[]): void {
    for (const event of events) {
      const at = Date.parse(event.data.timestamp);
      this.#knowledge.learn(event, at);
      this.#options.onEvent(event, at);
      if (event.type === 'block_proposal') this.#announce(event.data.block_hash);
      else if (event.type === 'block_status') this.#stirProducers(event.data, at);
      else if (event.type === 'alliance_update') this.#invite(event, at);
    }
  }

  #announce(hash: string): void {
    const talk = this.#knowledge.talk(hash)!;
    for (const { ordinal, onBreak } of this.#options.agents) {
      if (onBreak) continue;
      this.wake(ordinal, this.#knowledge.heardAt(ordinal, talk), { what: 'hear', block: hash });
    }
  }

  /** When voting ends, each producer waits a while by chance, so that few propose at once. */
  #stirProducers({ status, block_hash }: BlockEnd, at: number): void {
    const talk = this.#knowledge.talk(block_hash);
    if (status === 'orphaned' || !talk) return;
    for (const agent of this.#options.agents) {
      if (!agent.producer || agent.onBreak) continue;
      const heard = this.#knowledge.closeHeardAt(agent.ordinal, talk.seq, at);
      takeTurn(agent, this, heard + this.turnMs(agent));
    }
  }

  /** How long a producer waits for its turn: longer where there are more of them. */
  turnMs({ chance }: ScriptedAgent): number {
    return 1 + chance('turns').int(this.producers * TURN_MS);
  }

  #invite({ data, seq }: Event & { type: 'alliance_update' }, at: number): void {
    const { seedNumber } = this.#options;
    const { alliance_id, status } = data;
    // A declining invitee updates the alliance too: the others are called once all the same.
    const known = this.#invited.has(alliance_id);
    if (status === 'proposed') this.#invited.add(alliance_id);
    else this.#invited.delete(alliance_id);
    if (known || status !== 'proposed') return;
    for (const { id, role } of data.members) {
      if (role !== 'invited') continue;
      const agent = this.#knowledge.ordinalOf(id);
      const hears = at + latencyMs(seedNumber, seq, NETWORK, agent);
      this.wake(agent, hears, { what: 'invited', alliance: alliance_id });
    }
  }

  #nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }
}

/** Mean spacing of producers' turns: long against the time in which they hear of each other. */
const TURN_MS = 3_000;
