/**
 * What one request costs once its signature holds: an operation of its agent and the bytes it
 * writes. Sent again by whoever captured it, it is a read of the address.
 */
import type { Admitted } from '../../engine/admit/admit.js';
import type { Outcome } from '../../engine/core/state.js';
import type { Spent } from '../../engine/node/kept-network.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import { type LimitName, limitTable, WRITTEN_BESIDE_BYTES } from '../contract/limit-table.js';
import { type Account, type Limits, type Quota, refund, type Use } from './limits.js';
import type { ChargedSignatures } from './signature-quota.js';

/** A limit, and the account that it is counted for. */
type Counted = readonly [LimitName, Account];

/** What of a request its cost depends on. */
type Operation = Pick<Spent, 'kind' | 'publicKey' | 'signature' | 'bytes'>;

export function toOperation({ request, command, signature }: Admitted): Operation {
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

/** The cost of a request from an address; free where nothing is limited. */
export const computeCost = (
  limits: Limits,
  charged: Pick<ChargedSignatures, 'has' | 'add'>,
  operation: Operation,
  address: Account,
): Cost => (limits.figures ? new Counting(limits, charged, operation, address) : free);

const free: Cost = {
  again: false,
  exceeded: () => null,
  isFree: () => true,
  charge() {},
  conclude() {},
  left: () => null,
};

class Counting implements Cost {
  readonly #charged: Pick<ChargedSignatures, 'add'>;
  readonly #kind: CommandKind;
  readonly #publicKey: string;
  readonly #signature: string;
  readonly #operation: Counted;
  readonly #written: readonly Counted[];
  readonly #bytes: number;
  #use: Use | null = null;
  #writes: (Use | null)[] = [];
  readonly again: boolean;

  constructor(
    limits: Limits,
    charged: Pick<ChargedSignatures, 'has' | 'add'>,
    { kind, publicKey, signature, bytes }: Operation,
    address: Account,
  ) {
    const agent = limits.account(`agent:${publicKey}`);
    this.#kind = kind;
    this.#charged = charged;
    this.#publicKey = publicKey;
    this.#signature = signature;
    this.again = charged.has(publicKey, signature);
    const payer = kind === 'register' ? address : agent;
    this.#operation = this.again ? ['read', address] : [kind, payer];
    this.#bytes = bytes + WRITTEN_BESIDE_BYTES;
    const [own, all] = byTheDay.has(kind) ? daily : byMinute;
    this.#written = [
      [own, agent],
      [all, address],
    ];
  }

  exceeded(): Quota | null {
    const quota = this.left();
    if (quota?.remaining === 0) return quota;
    for (const [name, account] of this.#written) {
      const written = account.quota(name, this.#bytes);
      if (written && written.remaining < this.#bytes) return written;
    }
    return null;
  }

  isFree({ name }: Quota, precheck: Outcome | null): boolean {
    if (!precheck) return false;
    return limitTable[name].unit === 'bytes' || (!this.again && precheck.result === 'duplicate');
  }

  charge(ageMs = 0): void {
    const [name, payer] = this.#operation;
    this.#use = payer.use(name, 1, ageMs);
    this.#writes = this.#written.map(([name, account]) => account.use(name, this.#bytes, ageMs));
    if (!this.again) this.#charged.add(this.#publicKey, this.#signature);
  }

  conclude(outcome: Outcome): void {
    const free = !this.again && !isCharged(this.#kind, outcome);
    const logged = outcome.result === 'accepted' || outcome.result === 'equivocation';
    if (free) refund(this.#use);
    if (!logged) this.#writes.forEach(refund);
  }

  left(): Quota | null {
    const [name, payer] = this.#operation;
    return payer.quota(name);
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
function isCharged(kind: CommandKind, outcome: Outcome): boolean {
  if ('refusal' in outcome) {
    const { refusal } = outcome;
    if (refusal.code === 'NETWORK_ERROR' || isReplay(refusal) || isLate(outcome)) return false;
    return kind !== 'register';
  }
  return outcome.result !== 'duplicate';
}
