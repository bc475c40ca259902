/**
 * Simulated votes with and without a log, as multiples of 1/R, and a peer model in plain
 * JavaScript: an event heap and the same agents, which hear, decide and deliver.
 */
import { defaultScenario, simulate } from '../../sim/index.js';
import { defineCase, type Round, type Row } from '../case.js';
import { jobSource, measureRate, measureTime, verifyOrThrow } from '../raw/raw.js';

interface UnrecordedOptions {
  /** Blocks for 1,000 agents and for 10,000 agents. */
  blocks: number;
  largeBlocks: number;
}

/** Upper limits of a vote without an auditor, in 1/R, by number of agents. */
const allowed: Readonly<Record<number, number>> = { 1000: 0.3, 10000: 0.45 };
const ALLOWED_WITH_LOG = 0.8;

async function measureUnrecorded(
  { blocks, largeBlocks }: UnrecordedOptions,
  { seed }: Round,
): Promise<Row[]> {
  // CPU time of a verification, so that other programs do not change the multiples.
  const verification = measureRate(jobSource(seed), verifyOrThrow()).cpuUs;
  const rows: Row[] = [];
  for (const [agents, length] of [
    [1_000, blocks],
    [10_000, largeBlocks],
  ] as const) {
    await cpuOfVote(agents, Math.ceil(length / 4), {});
    const audited = await cpuOfVote(agents, length, { store: 'memory' });
    const recorded = await cpuOfVote(agents, length, { store: 'memory', audit: false });
    const unrecorded = await cpuOfVote(agents, length, { log: 'none' });
    const unaudited = await cpuOfVote(agents, length, { log: 'none', audit: false });
    const peer = await cpuOfPeerVote(agents, length);
    const row = (name: string, cpu_us: number, more: Partial<Row> = {}): Row => ({
      name: `${name}, ${agents.toLocaleString('en-US')} agents`,
      cpu_us,
      value: cpu_us / verification,
      unit: '1/R',
      ...more,
    });
    rows.push(
      row('a vote with log and audit', audited),
      row('a vote with a log', recorded, agents === 1_000 ? { allowed: ALLOWED_WITH_LOG } : {}),
      row('a vote with an audit', unrecorded, { ratio: unrecorded / audited }),
      row('a vote without log and audit', unaudited, {
        ratio: unaudited / recorded,
        allowed: allowed[agents]!,
      }),
      row('a vote of the peer model', peer),
      row('a vote without log and audit, of the peer', unaudited, { ratio: unaudited / peer }),
    );
  }
  return rows;
}

type Options = Parameters<typeof simulate>[1];

/** CPU time of a vote in microseconds, over a whole run. */
async function cpuOfVote(agents: number, blocks: number, options: Options): Promise<number> {
  const scenario = defaultScenario(agents, { signatures: 'none', length: { blocks } });
  let votes = 0;
  const { cpu } = await measureTime(async () => {
    votes = (await simulate(scenario, options)).measures.votes ?? 0;
  });
  return (1e6 * cpu) / votes;
}

async function cpuOfPeerVote(agents: number, blocks: number): Promise<number> {
  let votes = 0;
  const { cpu } = await measureTime(async () => {
    votes = new PeerModel(agents).run(blocks);
  });
  return (1e6 * cpu) / votes;
}

export const unrecordedCase = defineCase<UnrecordedOptions>({
  name: 'unrecorded',
  about: 'simulated votes with and without a log, and of a peer model',
  sizes: { small: { blocks: 60, largeBlocks: 6 }, large: { blocks: 400, largeBlocks: 20 } },
  run: measureUnrecorded,
});

/*
 * Peer model: a block reaches each agent after a latency, the agent thinks, reads the votes of its
 * neighbours that have arrived, decides, and its vote arrives after a latency. There is no
 * protocol, no identity, no social life, no fault, no measure and no check.
 */

const HEAR = 0;
const VOTE = 1;
const DELIVER = 2;
const DEGREE = 8;
const LEAST_MS = 20;
const SPREAD_MS = 60;
const THINK_MS = 2_000;

class PeerModel {
  readonly #agents: number;
  readonly #heap: Heap;
  readonly #votedAt: Float64Array;
  readonly #decisions: Uint8Array;
  #draw = 1;
  #approve = 0;
  #reject = 0;

  constructor(agents: number) {
    this.#agents = agents;
    this.#heap = new Heap(agents);
    this.#votedAt = new Float64Array(agents);
    this.#decisions = new Uint8Array(agents);
  }

  /** Runs some blocks, each to two thirds or one third. Returns the number of counted votes. */
  run(blocks: number): number {
    let votes = 0;
    let now = 0;
    for (let block = 0; block < blocks; block += 1) {
      this.#begin(now);
      while (!this.#isDecided()) {
        const event = this.#heap.take();
        if (event < 0) break;
        now = this.#heap.at;
        votes += this.#handle(event, now);
      }
    }
    if (votes === 0) throw new Error('the peer model counted no vote');
    return votes;
  }

  #begin(now: number): void {
    this.#heap.clear();
    this.#votedAt.fill(Number.POSITIVE_INFINITY);
    this.#approve = 0;
    this.#reject = 0;
    for (let agent = 0; agent < this.#agents; agent += 1) {
      this.#heap.push(now + this.#latency(), 3 * agent + HEAR);
    }
  }

  #isDecided(): boolean {
    return 3 * this.#approve > 2 * this.#agents || 3 * this.#reject >= this.#agents;
  }

  /** Returns 1 for a vote that arrives, or else 0. */
  #handle(event: number, now: number): number {
    const agent = Math.floor(event / 3);
    const kind = event % 3;
    if (kind === HEAR) this.#heap.push(now + 200 + this.#below(THINK_MS), 3 * agent + VOTE);
    else if (kind === VOTE) {
      this.#decisions[agent] = this.#decide(agent, now);
      const at = now + this.#latency();
      this.#votedAt[agent] = at;
      this.#heap.push(at, 3 * agent + DELIVER);
    } else {
      if (this.#decisions[agent] === 1) this.#approve += 1;
      else this.#reject += 1;
      return 1;
    }
    return 0;
  }

  /** Reads the neighbours' votes that have arrived, and decides. */
  #decide(agent: number, now: number): 0 | 1 {
    let heard = 0;
    let approving = 0;
    for (let step = 1; step <= DEGREE; step += 1) {
      const other = (agent + step * 37) % this.#agents;
      if (this.#votedAt[other]! + this.#latency() > now) continue;
      heard += 1;
      approving += this.#decisions[other]!;
    }
    const social = heard === 0 ? 50 : (100 * approving) / heard;
    return 60 + social / 2 + this.#below(40) > 70 ? 1 : 0;
  }

  #latency(): number {
    return LEAST_MS + this.#below(SPREAD_MS);
  }

  #below(limit: number): number {
    this.#draw = (Math.imul(this.#draw, 1_103_515_245) + 12_345) >>> 0;
    return (this.#draw >>> 16) % limit;
  }
}

/** Binary heap of integers by time, in typed columns. */
class Heap {
  #times: Float64Array;
  #events: Int32Array;
  #size = 0;
  /** Time of the event that was taken last. */
  at = 0;

  constructor(capacity: number) {
    this.#times = new Float64Array(2 * capacity);
    this.#events = new Int32Array(2 * capacity);
  }

  clear(): void {
    this.#size = 0;
  }

  push(at: number, event: number): void {
    let place = this.#size;
    this.#size += 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (this.#times[above]! <= at) break;
      this.#move(above, place);
      place = above;
    }
    this.#times[place] = at;
    this.#events[place] = event;
  }

  /** Removes and returns the first event. Returns -1 if the queue is empty. */
  take(): number {
    if (this.#size === 0) return -1;
    const first = this.#events[0]!;
    this.at = this.#times[0]!;
    this.#size -= 1;
    if (this.#size > 0) this.#sink(this.#times[this.#size]!, this.#events[this.#size]!);
    return first;
  }

  #sink(at: number, event: number): void {
    let place = 0;
    for (let below = 1; below < this.#size; below = 2 * place + 1) {
      const other = below + 1;
      if (other < this.#size && this.#times[other]! < this.#times[below]!) below = other;
      if (this.#times[below]! >= at) break;
      this.#move(below, place);
      place = below;
    }
    this.#times[place] = at;
    this.#events[place] = event;
  }

  #move(from: number, to: number): void {
    this.#times[to] = this.#times[from]!;
    this.#events[to] = this.#events[from]!;
  }
}
