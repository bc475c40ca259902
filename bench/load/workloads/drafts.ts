/**
 * Requests that are drafted and signed ahead. A server accepts the status changes of an agent only
 * with ascending timestamps, so each agent has one in flight.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { memeInput, sha256Hex } from '../../../engine/protocol/signing.js';
import { type Agent, type AgentPool, statusChange } from '../agents.js';
import { Fifo } from '../schedule.js';
import { isRecord } from '../server.js';
import { aheadMs, signEach, signRequests, staleMs } from '../signers.js';
import type { Call, CallOutcome, Expected, Source, Wait } from '../workload.js';

import { read } from './reads.js';

export type Draft =
  | { do: 'status'; reason: string }
  | { do: 'meme'; text: string; caption?: string | undefined }
  | { do: 'get'; path: string }
  | { do: 'vote' }
  /** The script failed, so nothing is sent. */
  | { do: 'fail'; reason: string };

export interface DraftPlan {
  agents: readonly Agent[];
  expected: Expected;
  /** Requests drafted at a time, and at most ahead. */
  group?: number;
  most?: number;
  /** Drafts the request with this number, which the agent will send. */
  draft(number: number, agent: Agent): Draft;
  votes?: Source | null;
  sent?(number: number, intendedMs: number): void;
  completed?(number: number, outcome: CallOutcome): void;
  /** Drafts the request that follows a response, outside the schedule; null for none. */
  follow?(number: number, agent: Agent, outcome: CallOutcome): Draft | null;
}

const GROUP = 512;
/** Most requests that follow each other in an iteration. */
const MOST_FOLLOWING = 8;
/** About 100 MiB of requests of one kilobyte. */
const MOST_AHEAD = 100_000;

interface Prepared {
  number: number;
  agent: Agent;
  draft: Draft;
  timestamp: string;
  /** Null for a vote, which the chain signs. */
  call: Call | null;
  signedAtMs: number;
}

const POLL_MS = 5;
/** Fewest requests that wait, if more are expected. */
const LEAST_WAITING = 64;

export class Drafts implements Source {
  readonly #pool: AgentPool;
  readonly #plan: DraftPlan;
  readonly #waiting = new Fifo<Prepared>();
  readonly #group: number;
  readonly #busy = new Set<number>();
  #made = 0;
  #making = false;
  /** Requests under way that follow a response. */
  #following = 0;
  #waitsFor: Wait = 'answers';

  constructor(pool: AgentPool, plan: DraftPlan) {
    this.#pool = pool;
    this.#plan = plan;
    this.#group = plan.group ?? GROUP;
  }

  async prepared(): Promise<Source> {
    while (this.#waiting.size < this.#most) await this.#make();
    return this;
  }

  /** Most requests that wait: those of the time for which a timestamp is valid. */
  get #most(): number {
    const { expected, most = MOST_AHEAD } = this.#plan;
    const left = expected.total - this.#made + this.#waiting.size;
    return Math.min(most, left, (expected.perS * aheadMs) / 1_000);
  }

  waitsFor(): Wait {
    return this.#waitsFor;
  }

  next(intendedMs: number): Call | null {
    const front = this.#front();
    this.#waitsFor = front ? 'answers' : 'signatures';
    if (!front || (front.draft.do === 'status' && this.#busy.has(front.agent.ordinal))) return null;
    const { number, agent, draft, signedAtMs } = front;
    const call = draft.do === 'vote' ? this.#vote(intendedMs) : front.call;
    if (!call) return null;
    this.#waiting.shift();
    this.#refill();
    if (draft.do === 'status' || draft.do === 'meme') {
      this.#pool.record.used(agent.ordinal, signedAtMs);
    }
    if (draft.do === 'status') this.#busy.add(agent.ordinal);
    this.#plan.sent?.(number, intendedMs);
    const completed = (outcome: CallOutcome) => {
      call.completed(outcome);
      this.#busy.delete(agent.ordinal);
      this.#plan.completed?.(number, outcome);
      void this.#follow(number, agent, outcome, MOST_FOLLOWING);
      this.#pool.context.wake();
    };
    return draft.do === 'vote' ? call : { ...call, completed };
  }

  /** Sends the requests that follow a response, one after another. */
  async #follow(number: number, agent: Agent, outcome: CallOutcome, left: number): Promise<void> {
    if (outcome.kind === 'unfinished' || left === 0) return;
    const draft = this.#plan.follow?.(number, agent, outcome) ?? null;
    if (!draft) return;
    this.#following += 1;
    const { now, stamp, context, signingFailed } = this.#pool;
    try {
      const timestamp = stamp(agent.ordinal, now());
      const [call] = await signDrafts(this.#pool, [{ number, agent, draft, timestamp }]);
      const completed = (after: CallOutcome) => {
        this.#following -= 1;
        void this.#follow(number, agent, after, draft.do === 'fail' ? 0 : left - 1);
      };
      context.send({ ...call!, completed });
    } catch (error) {
      this.#following -= 1;
      if (!this.#pool.isClosed) signingFailed(error as Error);
    }
  }

  /** Resolves once no request follows a response. */
  async drain(signal: AbortSignal): Promise<void> {
    while (this.#following > 0 && !signal.aborted) await sleep(POLL_MS);
  }

  #vote(intendedMs: number): Call | null {
    const call = this.#plan.votes?.next(intendedMs) ?? null;
    if (!call) this.#waitsFor = this.#plan.votes?.waitsFor?.() ?? 'answers';
    return call;
  }

  /** Returns the next request; null until more are signed. */
  #front(): Prepared | null {
    for (let front = this.#waiting.peek(); front; front = this.#waiting.peek()) {
      if (this.#pool.now() - Date.parse(front.timestamp) < staleMs) return front;
      this.#waiting.shift();
    }
    this.#refill();
    return null;
  }

  #refill(): void {
    const { isClosed, context, signingFailed } = this.#pool;
    if (this.#making || isClosed) return;
    if (this.#waiting.size >= Math.max(LEAST_WAITING, this.#most)) return;
    this.#make().then(context.wake, (error: Error) => {
      if (!this.#pool.isClosed) signingFailed(error);
    });
  }

  async #make(): Promise<void> {
    this.#making = true;
    try {
      const { now, stamp } = this.#pool;
      const { agents, expected, draft } = this.#plan;
      const [first, position, nowMs] = [this.#made, this.#waiting.size, now()];
      this.#made += this.#group;
      const drafts = Array.from({ length: this.#group }, (_, index) => {
        const number = first + index;
        const agent = agents[number % agents.length]!;
        const atMs = nowMs + Math.min(aheadMs, ((position + index) * 1_000) / expected.perS);
        const timestamp = stamp(agent.ordinal, atMs);
        return { number, agent, draft: draft(number, agent), timestamp };
      });
      const calls = await signDrafts(this.#pool, drafts);
      const signedAtMs = performance.now();
      for (const [index, one] of drafts.entries()) {
        this.#waiting.push({ ...one, call: calls[index]!, signedAtMs });
      }
    } finally {
      this.#making = false;
    }
  }
}

type Unsigned = Omit<Prepared, 'call' | 'signedAtMs'>;

/** Signs the status changes and the memes, all of one kind at once. */
async function signDrafts(pool: AgentPool, drafts: readonly Unsigned[]): Promise<(Call | null)[]> {
  const calls = new Map<number, Call | null>();
  const of = <K extends Draft['do']>(kind: K) =>
    drafts.filter((one): one is Unsigned & { draft: Draft & { do: K } } => one.draft.do === kind);
  const statuses = of('status');
  const changes = statuses.map(({ agent, timestamp, draft }) =>
    statusChange(agent, { status: 'active', reason: draft.reason, timestamp }),
  );
  const signed = await signRequests(pool.signers, changes);
  for (const [index, { agent, target, headers, body }] of signed.entries()) {
    calls.set(statuses[index]!.number, {
      ...{ operation: 'status', agent, method: 'PUT', target, headers, body },
      ...{ holds: statusHolds, completed: () => {} },
    });
  }
  const memes = of('meme').map((one) => ({ ...one, form: formOf(one) }));
  const inputs = memes.map(({ agent, form }) => ({ agent: agent.ordinal, input: memeInput(form) }));
  const signatures = await signEach(pool.signers, inputs);
  for (const [index, { number, agent, timestamp, draft, form }] of memes.entries()) {
    calls.set(number, {
      ...{ operation: 'meme', agent: agent.ordinal, method: 'POST' },
      target: '/api/v1/social/memes',
      headers: {
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'x-agent-public-key': agent.publicKey,
        'x-timestamp': timestamp,
      },
      body: bodyOf(draft.text, form.caption, signatures[index]!),
      ...{ holds: memeHolds, completed: () => {} },
    });
  }
  for (const { number, draft } of of('get')) {
    calls.set(
      number,
      read(draft.path, () => true),
    );
  }
  for (const { number, draft } of of('fail')) calls.set(number, failing(draft.reason));
  return drafts.map(({ number }) => calls.get(number) ?? null);
}

/** Returns a call that is not sent, because the script failed. */
const failing = (reason: string): Call => ({
  ...{ operation: 'script', method: 'GET', target: '', headers: {}, body: null },
  outcome: { kind: 'refused', status: 0, code: 'SCRIPT_FAILED', reason },
  ...{ holds: () => false, completed: () => {} },
});

/** The protocol does not define these responses. They must not contradict the request. */
const memeHolds = (data: unknown): boolean => isRecord(data) && data.duplicate !== true;
const statusHolds = (data: unknown): boolean =>
  memeHolds(data) && ['active', undefined].includes((data as { status?: string }).status);

const BOUNDARY = 'folkmoot-load-boundary';
const CAPTION = 'a load run';
const TAG = 'load';

const formOf = ({ draft, timestamp }: { draft: Draft & { do: 'meme' }; timestamp: string }) => ({
  caption: draft.caption ?? CAPTION,
  content_sha256: sha256Hex(draft.text),
  tags: [TAG],
  timestamp,
});

function bodyOf(text: string, caption: string, signature: string): string {
  const part = (disposition: string, value: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
  const disposition = 'name="meme_file"; filename="meme.txt"\r\nContent-Type: text/plain';
  return (
    part('name="caption"', caption) +
    part('name="tags"', TAG) +
    part('name="signature"', signature) +
    part(disposition, text) +
    `--${BOUNDARY}--\r\n`
  );
}
