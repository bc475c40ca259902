/**
 * The workload `mixed`: typical requests from a network's agents, by weight. An operation that
 * cannot be sent now catches up later, so that the shares hold over the whole run.
 */
import { memeInput, sha256Hex } from '../../../engine/protocol/signing.js';
import { AgentPool, Statuses } from '../agents.js';
import type { Chain } from '../chain.js';
import type { LoadOptions } from '../options.js';
import { isRecord } from '../server.js';
import { aheadMs, type Supply, signEach } from '../signers.js';
import type { Call, Workload } from '../workload.js';
import { assemble } from './chained.js';

/** Percentages of arrivals. */
const weights = { vote: 60, state: 12, agents: 3, reputation: 15, status: 7, meme: 3 } as const;

type Kind = keyof typeof weights;

const kinds = Object.keys(weights) as Kind[];
/** Agents per list. A server without this parameter returns all agents. */
const LIST = 20;
/** Arrivals signed ahead per second of a closed loop. */
const GUESS_PER_S = 5_000;

/** Credit above which arrivals wait for a kind that cannot be sent: the credit of ten arrivals. */
const DEBT = 1_000;

/** Builds a call of each kind; null if the kind has to wait. */
type Means = Record<Kind, (intendedMs: number) => Call | null>;

export function mixed({ rate, batch }: LoadOptions): Workload {
  const perS = (kind: Kind) => ((rate ?? GUESS_PER_S) * weights[kind]) / 100;
  let pool: AgentPool | null = null;
  let chain: Chain | null = null;
  let draw: ((intendedMs: number) => Call | null) | null = null;
  return {
    async prepare(context, progress) {
      pool = new AgentPool(context, progress);
      await pool.gather();
      const blocksPerS = (needed: number) => perS('vote') / needed;
      chain = await assemble(pool, { arrivals: 'votes', batch, blocksPerS });
      draw = shares(await meansOf(pool, chain, perS));
      pool.ready();
      return { subscribers: 0 };
    },
    next: (intendedMs) => draw!(intendedMs),
    onReturned: () => chain?.onReturned(),
    waitsFor: () => chain!.waitsFor,
    limit(perS) {
      const share = weights.vote / 100;
      const votes = chain!.limit(perS * share);
      return votes && { ...votes, perS: votes.perS / share };
    },
    drain: async (signal) => chain?.drain(signal),
    close: async () => pool?.close(),
    signed: () => pool!.record.signed,
  };
}

async function meansOf(
  pool: AgentPool,
  chain: Chain,
  perS: (kind: Kind) => number,
): Promise<Means> {
  const { agents, context } = pool;
  const onReady = () => context.wake();
  const onCompleted = () => {};
  const statuses = new Statuses(pool, { agents, perS: perS('status'), onReady, onCompleted });
  const memes = new Memes(pool, { perS: perS('meme'), onReady });
  await Promise.all([statuses.prepare(), memes.prepare()]);
  return {
    vote: (intendedMs) => chain.next(intendedMs),
    ...readsOf(agents.map(({ id }) => id)),
    status: () => statuses.next()?.call ?? null,
    meme: () => memes.next(),
  };
}

/**
 * Every arrival adds each kind's weight to its credit. The ready kind with the highest credit is
 * sent.
 */
function shares(means: Means): (intendedMs: number) => Call | null {
  const credit = new Map<Kind, number>(kinds.map((kind) => [kind, weights[kind]]));
  return (intendedMs) => {
    const byCredit = [...kinds].sort((a, b) => credit.get(b)! - credit.get(a)!);
    for (const kind of byCredit) {
      const call = means[kind](intendedMs);
      // Arrivals wait for a kind with too much credit, so that reads do not dominate.
      if (!call && credit.get(kind)! > DEBT) return null;
      if (!call) continue;
      for (const one of kinds) credit.set(one, credit.get(one)! + weights[one]);
      credit.set(kind, credit.get(kind)! - 100);
      return call;
    }
    return null;
  };
}

function readsOf(ids: readonly string[]): Pick<Means, 'state' | 'agents' | 'reputation'> {
  let turn = 0;
  return {
    state: () => read('/api/v1/network/state', ({ block_height }) => isNumber(block_height)),
    agents: () =>
      read(`/api/v1/network/agents?limit=${LIST}`, ({ validators }) => Array.isArray(validators)),
    reputation: () => {
      turn += 1;
      const id = encodeURIComponent(ids[turn % ids.length]!);
      return read(`/api/v1/social/reputation/${id}`, ({ overall_score }) =>
        isNumber(overall_score),
      );
    },
  };
}

const isNumber = (value: unknown) => typeof value === 'number';

function read(target: string, holds: (data: Record<string, unknown>) => boolean): Call {
  return {
    operation: 'read',
    method: 'GET',
    target,
    headers: {},
    body: null,
    holds: (data) => isRecord(data) && holds(data),
    completed: () => {},
  };
}

interface Meme {
  agent: number;
  timestamp: string;
  headers: Record<string, string>;
  body: string;
  signedAtMs: number;
}

const BOUNDARY = 'folkmoot-load-boundary';
const CAPTION = 'a load run';
const TAG = 'load';

class Memes {
  readonly #pool: AgentPool;
  readonly #perS: number;
  readonly #supply: Supply<Meme>;
  #made = 0;

  constructor(pool: AgentPool, { perS, onReady }: { perS: number; onReady(): void }) {
    this.#pool = pool;
    this.#perS = perS;
    const make = (count: number, position: number) => this.#make(count, position);
    this.#supply = pool.supply({ make, perS, onReady });
  }

  prepare(): Promise<void> {
    return this.#supply.prepare();
  }

  get ready(): boolean {
    return this.#supply.peek() !== null;
  }

  /** Returns the next call; null until `onReady`. */
  next(): Call | null {
    if (!this.ready) return null;
    const { agent, headers, body, signedAtMs } = this.#supply.take();
    this.#pool.record.used(agent, signedAtMs);
    const target = '/api/v1/social/memes';
    const call = { operation: 'meme', agent, method: 'POST', target, headers, body } as const;
    return { ...call, holds: memeHolds, completed: () => {} };
  }

  async #make(count: number, position: number): Promise<Meme[]> {
    const { agents, now, run, signers } = this.#pool;
    const first = this.#made;
    this.#made += count;
    const nowMs = now();
    const drafts = Array.from({ length: count }, (_, index) => {
      const atMs = nowMs + Math.min(aheadMs, ((position + index) * 1_000) / this.#perS);
      const timestamp = new Date(atMs).toISOString();
      const file = `meme ${first + index} of run ${run}`;
      const form = { caption: CAPTION, content_sha256: sha256Hex(file), tags: [TAG], timestamp };
      const { ordinal: agent, publicKey } = agents[(first + index) % agents.length]!;
      return { agent, publicKey, timestamp, file, input: memeInput(form) };
    });
    const signatures = await signEach(signers, drafts);
    const signedAtMs = performance.now();
    return drafts.map(({ agent, publicKey, timestamp, file }, index) => ({
      agent,
      timestamp,
      signedAtMs,
      headers: {
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'x-agent-public-key': publicKey,
        'x-timestamp': timestamp,
      },
      body: formOf(file, signatures[index]!),
    }));
  }
}

function formOf(file: string, signature: string): string {
  const part = (disposition: string, value: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
  const disposition = 'name="meme_file"; filename="meme.txt"\r\nContent-Type: text/plain';
  return (
    part('name="caption"', CAPTION) +
    part('name="tags"', TAG) +
    part('name="signature"', signature) +
    part(disposition, file) +
    `--${BOUNDARY}--\r\n`
  );
}

/** The protocol does not define this response. */
function memeHolds(data: unknown): boolean {
  return isRecord(data) && data.duplicate !== true;
}
