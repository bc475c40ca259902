/**
 * What one request is charged once its signature holds: an operation of its agent and the bytes it
 * writes. Sent again by whoever captured it, it is a read of the address.
 */
import type { Admitted, CommandKind, Outcome, Refusal } from '../../engine/internal.js';
import { type LimitName, limitTable, WRITTEN_BESIDE_BYTES } from '../contract/limit-table.js';
import type { Seen } from './charged-signatures.js';
import type { Limits, Quota, Use } from './limits.js';

export class Charge {
  readonly #limits: Limits;
  readonly #kind: CommandKind;
  readonly #operation: readonly [LimitName, string];
  readonly #written: readonly (readonly [LimitName, string])[];
  readonly #bytes: number;
  #uses: (Use | null)[] = [];
  #writes: (Use | null)[] = [];
  /** Whether it was charged to its agent before. */
  readonly again: boolean;

  constructor(
    limits: Limits,
    seen: Pick<Seen, 'has' | 'add'>,
    admitted: Admitted,
    address: string,
  ) {
    const { request, command, signature } = admitted;
    const { public_key, kind } = command;
    const agent = `agent:${public_key}`;
    const whom = kind === 'register' ? address : agent;
    this.#limits = limits;
    this.#kind = kind;
    this.again = limits.figures !== null && seen.has(public_key, signature);
    this.#operation = this.again ? ['read', address] : [kind, whom];
    this.#bytes = request.body.length + (request.file?.length ?? 0) + WRITTEN_BESIDE_BYTES;
    const [own, all] = byTheDay.has(kind) ? daily : byMinute;
    this.#written = [
      [own, agent],
      [all, address],
    ];
    if (limits.figures && !this.again) this.#remember = () => seen.add(public_key, signature);
  }

  #remember: () => void = () => {};

  /** What is used up, if something is. */
  short(): Quota | null {
    const quota = this.#limits.look(...this.#operation);
    if (quota?.remaining === 0) return quota;
    const quotas = this.#written.map((which) => this.#limits.look(...which, this.#bytes));
    return quotas.find((one) => one && one.remaining < this.#bytes) ?? null;
  }

  /** Whether it may go on: what changes nothing writes nothing, and a repeat is free. */
  spares({ name }: Quota, look: Outcome | null): boolean {
    if (!look) return false;
    return limitTable[name].unit === 'bytes' || (!this.again && look.result === 'duplicate');
  }

  take(): void {
    this.#uses = [this.#limits.use(...this.#operation)];
    this.#writes = this.#written.map((which) => this.#limits.use(...which, this.#bytes));
    this.#remember();
  }

  /** In the turn of the outcome: repeats under way must not hold units of a victim's quota. */
  settle(outcome: Outcome): void {
    const free = !this.again && !costs(this.#kind, outcome);
    const logged = outcome.result === 'accepted' || outcome.result === 'equivocation';
    for (const use of free ? this.#uses : []) this.#limits.giveBack(use);
    for (const use of logged ? [] : this.#writes) this.#limits.giveBack(use);
  }

  /** How its operation stands, for the headers. */
  left(): Quota | null {
    return this.#limits.look(...this.#operation);
  }
}

/** What may be large is counted by the day. */
const byTheDay = new Set<CommandKind>(['propose', 'meme']);
const byMinute = ['bytes', 'address_bytes'] as const;
const daily = ['day_bytes', 'address_day_bytes'] as const;

/** An older status update: anybody who has seen it can send it again. */
export const isReplay = ({ reason }: Refusal) => reason === 'REPLAYED';

/** The block closed before the request came, which no sender can foresee. */
export const isLate = (outcome: Outcome) =>
  'refusal' in outcome && outcome.refusal.reason === 'VOTING_CLOSED';

/**
 * Whether an agent is charged: not for our own fault, what is sent again, what comes too late, or a
 * registration that is refused.
 */
export function costs(kind: CommandKind, outcome: Outcome): boolean {
  if ('refusal' in outcome) {
    const { refusal } = outcome;
    if (refusal.code === 'NETWORK_ERROR' || isReplay(refusal) || isLate(outcome)) return false;
    return kind !== 'register';
  }
  return outcome.result !== 'duplicate';
}
