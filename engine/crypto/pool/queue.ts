/**
 * What waits in front of the pool's threads: two first-in-first-out lines, so that a request with
 * many signatures does not hold up single votes. It knows nothing of threads.
 */
import { limits } from '../../protocol/limits.js';
import type { VerifyJob } from '../verifier.js';

/** One call of `verify`, until its promise is settled. */
export interface VerifyRequest {
  readonly jobs: readonly VerifyJob[];
  readonly verdicts: boolean[];
  /** How many of `jobs` have been handed out in batches. */
  taken: number;
  /** How many verdicts are still to come; the promise is settled at 0. */
  missing: number;
  /** Whether somebody waits for it: until it is settled. */
  open: boolean;
  resolve(verdicts: boolean[]): void;
  reject(reason: Error): void;
}

/** Consecutive jobs of one request within a batch. */
export interface BatchPart {
  readonly request: VerifyRequest;
  readonly from: number;
  readonly to: number;
}

export class VerifyQueue {
  readonly #small: VerifyRequest[] = [];
  readonly #bulk: VerifyRequest[] = [];
  #waiting = 0;

  /** Signatures not yet handed out in a batch. */
  get waiting(): number {
    return this.#waiting;
  }

  add(request: VerifyRequest): void {
    const line = request.jobs.length > limits.verifyBulk ? this.#bulk : this.#small;
    line.push(request);
    this.#waiting += request.jobs.length;
  }

  /**
   * The next batch, of at most `size` jobs. Bulk requests get a quarter of it when small ones wait,
   * and `limits.verifyBulk` at most even when none do, for a vote that comes next waits it out.
   */
  take(size: number): BatchPart[] {
    const batch: BatchPart[] = [];
    // The quarter is kept free, so that a steady stream of votes cannot starve a bulk request.
    const kept = this.#bulk.length === 0 ? 0 : Math.min(limits.verifyBulk, Math.ceil(size / 4));
    const taken = this.#takeFrom(this.#small, size - kept, batch);
    this.#takeFrom(this.#bulk, Math.min(limits.verifyBulk, size - taken), batch);
    return batch;
  }

  /** Forgets what is left of a request that failed. */
  drop(request: VerifyRequest): void {
    const line = request.jobs.length > limits.verifyBulk ? this.#bulk : this.#small;
    const index = line.indexOf(request);
    if (index === -1) return;
    line.splice(index, 1);
    this.#waiting -= request.jobs.length - request.taken;
  }

  #takeFrom(line: VerifyRequest[], size: number, batch: BatchPart[]): number {
    let room = size;
    let finished = 0;
    for (const request of line) {
      if (room === 0) break;
      const from = request.taken;
      const to = Math.min(request.jobs.length, from + room);
      batch.push({ request, from, to });
      request.taken = to;
      room -= to - from;
      if (to === request.jobs.length) finished += 1;
    }
    // One splice a batch: shift() a request would be quadratic in a long line.
    line.splice(0, finished);
    this.#waiting -= size - room;
    return size - room;
  }
}
