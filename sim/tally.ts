/** Counts what happened in a run, from its events. */
import type { Event } from '../engine/index.js';

export class Tally {
  votes = 0;
  proposed = 0;
  finalized = 0;
  rejected = 0;
  expired = 0;
  orphaned = 0;
  /** Finalized ones. */
  transactions = 0;
  lastFinalizedAt = 0;

  get closed(): number {
    return this.finalized + this.rejected + this.expired + this.orphaned;
  }

  count(event: Event, at: number): void {
    if (event.type === 'block_validation') this.votes += 1;
    else if (event.type === 'block_proposal') this.proposed += 1;
    else if (event.type === 'block_status' && event.data.status !== 'voting') {
      this[event.data.status] += 1;
      if (event.data.status !== 'finalized') return;
      this.transactions += event.data.transactions;
      this.lastFinalizedAt = at;
    }
  }

  blocks() {
    const { proposed, finalized, rejected, expired, orphaned } = this;
    return { proposed, finalized, rejected, expired, orphaned };
  }
}
