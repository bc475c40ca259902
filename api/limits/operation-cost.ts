/**
 * What one request costs once its signature holds: an operation of its agent and the bytes it
 * writes. Sent again by whoever captured it, it is a read of the address.
 */
import type { Admitted, CommandKind, Outcome, Refusal, Spent } from '../../engine/internal.js';
import { type LimitName, limitTable, WRITTEN_BESIDE_BYTES } from '../contract/limit-table.js';
import type { ChargedSignatures } from './charged-signatures.js';
import type { Limits, Quota, Use } from './limits.js';

/** A limit, and whom it is counted for. */
type Counted = readonly [LimitName, string];

/** What of a request its cost depends on. */
export type Operation = Pick<Spent, 'kind' | 'publicKey' | 'signature' | 'bytes'>;

export function operationOf({ request, command, signature }: Admitted): Operation {
  const { public_key: publicKey, kind } = command;
  const bytes = request.body.length + (request.file?.length ?? 0);
  return { kind, publicKey, signature, bytes };
}

/** What a request costs, for as long as it is dealt with. */
export interface Cost {
  /** Whether its agent was charged for it before. */
  readonly again: boolean;
  /** The quota that it exceeds, if it does. */
  exceeded(): Quota | null;
  /** Whether that is no matter: what changes nothing writes nothing, and a repeat is free. */
  isFree(exceeded: Quota, precheck: Outcome | null): boolean;
  /** Charges it, before its outcome is known, as of so many milliseconds ago. */
  charge(ageMs?: number): void;
  /** In the turn of the outcome: repeats in flight must not hold units of a victim's quota. */
  conclude(outcome: Outcome): void;
  /** What is left of its operation's quota, for the headers. */
  left(): Quota | null;
}

/** Of a request from `addressKey`; free where nothing is limited. */
export const costOf = (
  limits: Limits,
  charged: Pick<ChargedSignatures, 'has' | 'add'>,
  operation: Operation,
  addressKey: string,
): Cost => (limits.figures ? new Counting(limits, charged, operation, addressKey) : free);

const free: Cost = {
  again: false,
  exceeded: () => null,
  isFree: () => true,
  charge() {},
  conclude() {},
  left: () => null,
};

class Counting implements Cost {
  readonly #limits: Limits;
  readonly #kind: CommandKind;
  readonly #operation: Counted;
  readonly #written: readonly Counted[];
  readonly #bytes: number;
  #uses: (Use | null)[] = [];
  #writes: (Use | null)[] = [];
  readonly again: boolean;

  constructor(
    limits: Limits,
    charged: Pick<ChargedSignatures, 'has' | 'add'>,
    { kind, publicKey, signature, bytes }: Operation,
    addressKey: string,
  ) {
    const agent = `agent:${publicKey}`;
    this.#limits = limits;
    this.#kind = kind;
    this.again = charged.has(publicKey, signature);
    const subject = kind === 'register' ? addressKey : agent;
    this.#operation = this.again ? ['read', addressKey] : [kind, subject];
    this.#bytes = bytes + WRITTEN_BESIDE_BYTES;
    const [own, all] = byTheDay.has(kind) ? daily : byMinute;
    this.#written = [
      [own, agent],
      [all, addressKey],
    ];
    if (!this.again) this.#remember = () => charged.add(publicKey, signature);
  }

  #remember: () => void = () => {};

  exceeded(): Quota | null {
    const quota = this.#limits.quota(...this.#operation);
    if (quota?.remaining === 0) return quota;
    const quotas = this.#written.map((which) => this.#limits.quota(...which, this.#bytes));
    return quotas.find((one) => one && one.remaining < this.#bytes) ?? null;
  }

  isFree({ name }: Quota, precheck: Outcome | null): boolean {
    if (!precheck) return false;
    return limitTable[name].unit === 'bytes' || (!this.again && precheck.result === 'duplicate');
  }

  charge(ageMs = 0): void {
    this.#uses = [this.#limits.use(...this.#operation, 1, ageMs)];
    this.#writes = this.#written.map((which) => this.#limits.use(...which, this.#bytes, ageMs));
    this.#remember();
  }

  conclude(outcome: Outcome): void {
    const free = !this.again && !isCharged(this.#kind, outcome);
    const logged = outcome.result === 'accepted' || outcome.result === 'equivocation';
    for (const use of free ? this.#uses : []) this.#limits.giveBack(use);
    for (const use of logged ? [] : this.#writes) this.#limits.giveBack(use);
  }

  left(): Quota | null {
    return this.#limits.quota(...this.#operation);
  }
}

/** What may be large is counted by the day. */
const byTheDay = new Set<CommandKind>(['propose', 'meme']);
const byMinute = ['bytes', 'address_bytes'] as const;
const daily = ['day_bytes', 'address_day_bytes'] as const;

/** An older status update: anybody who has seen it can send it again. */
export const isReplay = ({ reason }: Refusal) => reason === 'REPLAYED';

/** The block closed before the request came, which no sender can predict. */
export const isLate = (outcome: Outcome) =>
  'refusal' in outcome && outcome.refusal.reason === 'VOTING_CLOSED';

/**
 * Whether an agent is charged: not for our own fault, what is sent again, what comes too late, or a
 * registration that is refused.
 */
export function isCharged(kind: CommandKind, outcome: Outcome): boolean {
  if ('refusal' in outcome) {
    const { refusal } = outcome;
    if (refusal.code === 'NETWORK_ERROR' || isReplay(refusal) || isLate(outcome)) return false;
    return kind !== 'register';
  }
  return outcome.result !== 'duplicate';
}
