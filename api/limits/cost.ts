/**
 * A request with a valid signature costs its agent one operation and the bytes that it writes. A
 * replay of a captured request costs the address a read instead.
 */
import type { Admitted } from '../../engine/admit/admit.js';
import type { Outcome } from '../../engine/core/state.js';
import type { Spent } from '../../engine/node/kept-network.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { type LimitName, limitTable, WRITTEN_BESIDE_BYTES } from '../contract/limit-table.js';
import type { BlockShare } from './block-share.js';
import { type Account, type Limits, type Quota, refund, type Use } from './limits.js';
import type { ChargedSignatures } from './signature-quota.js';

type Counted = readonly [LimitName, Account];

/** The parts of a request that determine its cost. */
type Operation = Pick<Spent, 'kind' | 'publicKey' | 'signature' | 'bytes'>;

export function toOperation({ request, command, signature }: Admitted): Operation {
  const { public_key: publicKey, kind } = command;
  const bytes = request.body.length + (request.file?.length ?? 0);
  return { kind, publicKey, signature, bytes };
}

type Signatures = Pick<ChargedSignatures, 'has' | 'add'>;

/** The cost of a request. It is nothing if limits are off. */
export class Cost {
  readonly #charged: Pick<ChargedSignatures, 'add'> | null;
  readonly #now: number;
  readonly #operated: Operation;
  readonly #operation: Counted;
  readonly #written: readonly Counted[];
  readonly #bytes: number;
  #use: Use | null = null;
  #writes: (Use | null)[] = [];
  /** True if the agent was already charged for this signature. */
  readonly again: boolean;

  /** @param address account of the sender. */
  constructor(limits: Limits, charged: Signatures, operation: Operation, address: Account) {
    const { kind, publicKey, signature, bytes } = operation;
    const { now } = address;
    const agent = limits.agent(publicKey, now);
    const payer = kind === 'register' ? address : agent;
    const [own, all] = byTheDay.has(kind) ? daily : byMinute;
    this.#charged = limits.figures && charged;
    this.#now = now;
    this.#operated = operation;
    this.again = limits.figures !== null && charged.has(publicKey, signature, now);
    this.#operation = this.again ? ['read', address] : [kind, payer];
    this.#bytes = bytes + WRITTEN_BESIDE_BYTES;
    this.#written = [
      [own, agent],
      [all, address],
    ];
  }

  exceeded(): Quota | null {
    const [operation, payer] = this.#operation;
    if (!payer.has(operation)) return payer.quota(operation);
    const full = this.#written.find(([name, account]) => !account.has(name, this.#bytes));
    return full ? full[1].quota(full[0], this.#bytes) : null;
  }

  /** Returns true if the excess does not matter: a request without a change writes no bytes. */
  isFree({ name }: Quota, precheck: Outcome | null): boolean {
    if (!precheck) return false;
    return limitTable[name].unit === 'bytes' || (!this.again && precheck.result === 'duplicate');
  }

  /** Charges the request before its outcome is known, as of `ageMs` ago. */
  charge(ageMs = 0): void {
    const [name, payer] = this.#operation;
    this.#use = payer.use(name, 1, ageMs);
    this.#writes = this.#written.map(([name, account]) => account.use(name, this.#bytes, ageMs));
    const { publicKey, signature } = this.#operated;
    if (!this.again) this.#charged?.add(publicKey, signature, this.#now);
  }

  /**
   * Refunds depending on the outcome. Call in the outcome's turn, so that repeats in flight do not
   * hold the agent's quota.
   */
  conclude(outcome: Outcome): void {
    const free = !this.again && !isCharged(this.#operated.kind, outcome);
    const logged = outcome.result === 'accepted' || outcome.result === 'equivocation';
    if (free) refund(this.#use);
    if (!logged) this.#writes.forEach(refund);
  }

  /** Returns the operation's remaining quota, for the headers. */
  left(): Quota | null {
    const [name, payer] = this.#operation;
    return payer.quota(name);
  }
}

/** Commands that may be large and therefore count per day. */
const byTheDay = new Set<CommandKind>(['propose', 'meme']);
const byMinute = ['bytes', 'address_bytes'] as const;
const daily = ['day_bytes', 'address_day_bytes'] as const;

/** True for an older status update, which anyone who captured the request can replay. */
export const isReplay = ({ reason }: Refusal) => reason === 'REPLAYED';

/** True if the block closed before the request arrived, which no sender can predict. */
export const isLate = (outcome: Outcome) =>
  'refusal' in outcome && outcome.refusal.reason === 'VOTING_CLOSED';

/** True if the agent pays. Server faults, replays, late votes, refused registrations are free. */
function isCharged(kind: CommandKind, outcome: Outcome): boolean {
  if ('refusal' in outcome) {
    const { refusal } = outcome;
    if (refusal.code === 'NETWORK_ERROR' || isReplay(refusal) || isLate(outcome)) return false;
    return kind !== 'register';
  }
  return outcome.result !== 'duplicate';
}

export function refuseQuota({ name, quota, windowSeconds, resetSeconds }: Quota): Refusal {
  const unit = limitTable[name].unit === 'bytes' ? ' bytes' : '';
  const window = windows[windowSeconds] ?? `${windowSeconds} s`;
  const values = { limit: name, quota: `${quota}${unit}`, window, seconds: resetSeconds };
  const details = { limit: name, quota, retry_after_s: resetSeconds };
  return refuse('RATE_LIMIT', values, { details });
}

const windows: Record<number, string> = { 1: 'second', 60: 'minute', 86400: 'day' };

/** Refuses a proposal until the network may open a further block. */
export function refuseBlockShare({ quota }: BlockShare, waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000);
  const details = { limit: 'blocks', quota, retry_after_s: seconds };
  return refuse('BLOCK_RATE_LIMIT', { quota, seconds }, { details });
}

interface Counters {
  limits: Limits;
  charged: Signatures;
  blocks: BlockShare | null;
}

/**
 * Counts a request from another node of a cluster as the admitting node did, so an agent has one
 * quota across all nodes. Replaying a captured request on a different node costs
 * nothing.
 */
export function countRemoteUsage({ limits, charged, blocks }: Counters): (spent: Spent) => void {
  // An accepted request counts once, even if a copy is in flight here. A refusal may be a replay.
  const once = { has: () => false, add: charged.add.bind(charged) };
  return (spent) => {
    const { kind, publicKey, spender, outcome, ageMs } = spent;
    const known = outcome.result === 'refused' ? charged : once;
    const cost = new Cost(limits, known, spent, limits.address(spender));
    if (cost.again) return;
    cost.charge(ageMs);
    cost.conclude(outcome);
    if (kind === 'propose' && outcome.result === 'accepted') {
      blocks?.openedElsewhere(publicKey, ageMs);
    }
  };
}
