/** An engine by itself with registered agents: no digests, no store, no signatures. */
import {
  type Answer,
  admit,
  Engine,
  emptyReader,
  genesisDefaults,
  type Reader,
  type RecordKey,
  type Signatory,
  type SignedRequest,
  type Step,
} from '../../engine/index.js';
import { NETWORK_ID, registration, START_MS, signatories } from './chain.js';
import { expectAccepted } from './pass.js';

export interface Done {
  seq: number;
  at: number;
  step: Step;
  answer: Answer;
  /** In the engine alone, milliseconds. */
  spentMs: number;
}

export class Town {
  readonly by: readonly Signatory[];
  readonly #engine: Engine;
  readonly #records = new Map<string, unknown>();
  /** Engine time. */
  at = START_MS;

  private constructor(by: readonly Signatory[]) {
    this.by = by;
    // Nobody is left out for not voting: every block has the same electorate.
    const genesis = { ...genesisDefaults, network_id: NETWORK_ID, dormant_after: 0 };
    const { engine, step } = Engine.create(genesis, this.at, this.#reader());
    this.#engine = engine;
    this.#keep(step);
  }

  static async of(validators: number, seed: string): Promise<Town> {
    const town = new Town(signatories(seed, validators, false));
    for (const [ordinal, one] of town.by.entries()) await town.do(registration(one, ordinal));
    return town;
  }

  /** Applies a request: what it did, and how long that took. */
  async do(request: SignedRequest): Promise<Done> {
    const admitted = await admit(request, NETWORK_ID);
    if ('refusal' in admitted) throw new Error(admitted.refusal.message);
    const seq = this.#engine.position.seq + 1;
    const input = { seq, at: this.at, command: admitted.command };
    const start = performance.now();
    const step = this.#engine.apply(input);
    const spentMs = performance.now() - start;
    this.#keep(step);
    return { ...input, step, answer: expectAccepted(step.outcome), spentMs };
  }

  /** Lets engine time pass; what is due meanwhile happens. */
  pass(milliseconds: number): void {
    this.at += milliseconds;
    for (;;) {
      const due = this.#engine.nextDeadline();
      if (due === null || due >= this.at) return;
      this.#keep(
        this.#engine.apply({ seq: this.#engine.position.seq + 1, at: due + 1, command: null }),
      );
    }
  }

  /** What the host would hold: the engine reads back what it has written. */
  #reader(): Reader {
    const records = this.#records;
    return { ...emptyReader, read: (table, key) => records.get(nameOf(table, key)) as never };
  }

  #keep({ changes }: Step): void {
    for (const { table, key, value } of changes) {
      if (value === null) this.#records.delete(nameOf(table, key));
      else this.#records.set(nameOf(table, key), value);
    }
  }
}

const nameOf = (table: string, key: RecordKey) => `${table} ${String(key)}`;
