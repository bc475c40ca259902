/**
 * The rate limits of a server, in the world's time: what its gate would refuse never reaches the
 * network. Each agent has an address of its own; reads are not simulated.
 */
import { figuresOf, type Profile } from '../../../api/contract/limit-table.js';
import { type BlockShare, blockShareOf } from '../../../api/limits/block-share.js';
import { Limits } from '../../../api/limits/limits.js';
import { costOf, operationOf } from '../../../api/limits/operation-cost.js';
import { blocksUsed, quotaUsed } from '../../../api/limits/refusals.js';
import type { Admitted, Outcome, Refusal } from '../../../engine/internal.js';

/** What a request has been charged, until its outcome is known. */
export interface Charged {
  conclude(outcome: Outcome): void;
}

/** Nobody captures requests here; and where nothing is signed, all signatures are alike. */
const unseen = { has: () => false, add: () => {} };

export class Quotas {
  readonly #limits: Limits;
  readonly #blocks: BlockShare | null;
  readonly #reputationOf: (publicKey: string) => number;

  constructor(profile: Profile, now: () => number, reputationOf: (publicKey: string) => number) {
    const figures = figuresOf(profile);
    this.#limits = new Limits(profile, figures, now);
    this.#blocks = blockShareOf(figures, now);
    this.#reputationOf = reputationOf;
  }

  /** Charges a request, or says why not. `look`: what the network would refuse it with. */
  take(from: number, admitted: Admitted, look: Outcome | null): Charged | { refusal: Refusal } {
    const { kind, public_key: key } = admitted.command;
    const operation = operationOf(admitted);
    const cost = costOf(this.#limits, unseen, operation, `address:${from}`);
    const exceeded = cost.exceeded();
    if (exceeded && !cost.isFree(exceeded, look)) return { refusal: quotaUsed(exceeded) };
    const opens = kind === 'propose' && !look ? this.#blocks : null;
    const waitMs = opens?.take(key, this.#reputationOf(key)) ?? 0;
    if (opens && waitMs > 0) return { refusal: blocksUsed(opens, waitMs) };
    cost.charge();
    return {
      conclude(outcome) {
        cost.conclude(outcome);
        if (outcome.result !== 'accepted') opens?.giveBack(key);
      },
    };
  }
}
