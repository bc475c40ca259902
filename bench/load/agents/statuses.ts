/**
 * Status updates that change nothing but their reason, signed ahead. A server takes an agent's
 * updates in the order of their timestamps only, so each agent has one under way at a time.
 */
import { isRecord } from '../json.js';
import { type Signed, signRequests } from '../prepare/requests.js';
import { aheadMs, type Supply } from '../prepare/supply.js';
import type { Call, CallOutcome } from '../workload.js';
import type { AgentPool } from './agent-pool.js';
import { type Agent, statusChange } from './agents.js';

export interface StatusPlan {
  agents: readonly Agent[];
  perS: number;
  onReady(): void;
  /** Of the update with this number, from 0. */
  onCompleted(number: number, outcome: CallOutcome): void;
}

type Update = Signed & { number: number };

export class Statuses {
  readonly #pool: AgentPool;
  readonly #plan: StatusPlan;
  readonly #supply: Supply<Update>;
  readonly #busy = new Set<number>();
  #made = 0;

  constructor(pool: AgentPool, plan: StatusPlan) {
    this.#pool = pool;
    this.#plan = plan;
    const make = (count: number, position: number) => this.#make(count, position);
    this.#supply = pool.supply({ make, perS: plan.perS, onReady: plan.onReady });
  }

  /** What the reason of each update begins with; its number follows. */
  get mark(): string {
    return `load ${this.#pool.run} `;
  }

  prepare(): Promise<void> {
    return this.#supply.prepare();
  }

  /** Whether there is one to send. */
  get ready(): boolean {
    const front = this.#supply.peek();
    return front !== null && !this.#busy.has(front.agent);
  }

  /** The next, and its number; or null until `onReady`. */
  next(): { call: Call; number: number } | null {
    if (!this.ready) return null;
    const update = this.#supply.take();
    const { agent, number, target, headers, body, signedAtMs } = update;
    this.#pool.record.used(agent, signedAtMs);
    this.#busy.add(agent);
    const call: Call = {
      operation: 'status',
      method: 'PUT',
      target,
      headers,
      body,
      holds: statusHolds,
      completed: (outcome) => {
        this.#busy.delete(agent);
        this.#plan.onCompleted(number, outcome);
        this.#plan.onReady();
      },
    };
    return { call, number };
  }

  async #make(count: number, position: number): Promise<Update[]> {
    const { now, stamp, signers } = this.#pool;
    const { agents, perS } = this.#plan;
    const first = this.#made;
    this.#made += count;
    const nowMs = now();
    const changes = Array.from({ length: count }, (_, index) => {
      const agent = agents[(first + index) % agents.length]!;
      const atMs = nowMs + Math.min(aheadMs, ((position + index) * 1_000) / perS);
      const timestamp = stamp(agent.ordinal, atMs);
      const reason = this.mark + (first + index);
      return statusChange(agent, { status: 'active', reason, timestamp });
    });
    const signed = await signRequests(signers, changes);
    return signed.map((request, index) => ({ ...request, number: first + index }));
  }
}

/** The interface does not show this answer; what a server says must fit the update. */
function statusHolds(data: unknown): boolean {
  if (!isRecord(data) || data.duplicate === true) return false;
  return data.status === undefined || data.status === 'active';
}
