/** What became of the requests of one kind. */
import type { Operation } from '../result.js';
import type { CallOutcome } from '../workload.js';
import { newHistogram, record, type Summary } from './histogram.js';

/** Codes and reasons are the server's words: it may have no end of them. */
const KINDS_OF_REFUSAL = 200;

const countedAs = {
  lie: 'lies',
  timed_out: 'timed_out',
  broken: 'broken',
  unfinished: 'unfinished',
} as const;

export class Tally {
  readonly #operation: string;
  readonly #counts = { accepted: 0, lies: 0, timed_out: 0, broken: 0, unfinished: 0 };
  readonly #refused = new Map<string, Refused>();
  readonly #response = newHistogram();
  readonly #service = newHistogram();
  #sent = 0;

  constructor(operation: string) {
    this.#operation = operation;
  }

  sent(): void {
    this.#sent += 1;
  }

  accepted(responseMs: number, serviceMs: number): void {
    this.#counts.accepted += 1;
    record(this.#response, responseMs);
    record(this.#service, serviceMs);
  }

  failed(outcome: Exclude<CallOutcome, { kind: 'accepted' }>): void {
    if (outcome.kind === 'refused') this.#refuse(outcome);
    else this.#counts[countedAs[outcome.kind]] += 1;
  }

  result(summary: Summary): Operation {
    return {
      operation: this.#operation,
      sent: this.#sent,
      ...this.#counts,
      refused: [...this.#refused.values()].sort(byCount),
      response: summary(this.#response),
      service: summary(this.#service),
    };
  }

  #refuse({ status, code, reason }: CallOutcome & { kind: 'refused' }): void {
    const full = this.#refused.size >= KINDS_OF_REFUSAL;
    const named = full ? { status, code: '-', reason: '-' } : { status, code, reason };
    const key = Object.values(named).join(' ');
    const known = this.#refused.get(`${status} ${code} ${reason}`) ?? this.#refused.get(key);
    if (known) known.count += 1;
    else this.#refused.set(key, { ...named, count: 1 });
  }
}

type Refused = Operation['refused'][number];

const byCount = (a: Refused, b: Refused) => b.count - a.count || a.status - b.status;
