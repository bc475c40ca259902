/**
 * A network without a log, for simulations. Applies commands in order and keeps only the state:
 * there are no entries, digests, encoded events or files. Outcomes, events and reads equal those of
 * `Network`.
 */
import { type Admitted, checked } from '../admit/admit.js';
import { refuseUnknownKey } from '../admit/credentials.js';
import { completeGenesis, type GenesisOptions } from '../admit/genesis.js';
import type { Verified } from '../admit/verify.js';
import { Engine, type Step } from '../core/engine.js';
import type { Outcome } from '../core/state.js';
import type { Event } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import type { Refusal } from '../protocol/schema/reason.js';
import {
  type RecordKey,
  type RecordOf,
  SCHEMA_VERSION,
  type Table,
} from '../protocol/schema/record.js';
import { prepareRule } from '../rules/sandbox.js';
import type { RangeOptions } from '../store/store.js';
import type { Clock } from './clock.js';
import { LiveTables } from './live-tables.js';
import type { Applied } from './open-store.js';
import { type CommittedView, StateViews } from './state-views.js';

interface UnrecordedOptions {
  genesis: GenesisOptions;
  clock: Clock;
  /**
   * True to take requests in rounds, like a network that verifies signatures. No signature is
   * verified.
   */
  inRounds: boolean;
}

const settled = Promise.resolve();

export class UnrecordedNetwork {
  readonly genesis: Genesis;
  readonly #clock: Clock;
  readonly #engine: Engine;
  readonly #views: LiveViews;
  /**
   * Accepts requests like a network without verification. `enabled` makes the caller take requests
   * in rounds.
   */
  readonly verification: {
    readonly enabled: boolean;
    defer(admitted: Admitted): Verified | { refusal: Refusal };
  };
  /** Position of the state that the views show. */
  #viewed = 0;
  /** No entry waits for a disk. */
  readonly backlog = 0;
  readonly durable = settled;

  private constructor(genesis: Genesis, { clock, inRounds }: UnrecordedOptions) {
    const tables = new LiveTables();
    this.genesis = genesis;
    this.#clock = clock;
    this.verification = { enabled: inRounds, defer: (admitted) => this.#accept(admitted) };
    this.#engine = Engine.create(genesis, clock.now(), tables, tables).engine;
    this.#views = new LiveViews(tables, genesis, clock, this.#view());
  }

  /** @throws {TypeError} if a parameter is out of range. */
  static async open(options: UnrecordedOptions): Promise<UnrecordedNetwork> {
    await prepareRule(options.genesis);
    return new UnrecordedNetwork(completeGenesis(options.genesis), options);
  }

  /** Accepts a request at once. */
  verifyAdmitted = async (admitted: Admitted): Promise<Verified | { refusal: Refusal }> =>
    this.#accept(admitted);

  /** Accepts a request from a registered key. */
  #accept(admitted: Admitted): Verified | { refusal: Refusal } {
    const refusal = refuseUnknownKey(admitted.command, this.knows);
    if (refusal) return { refusal };
    admitted[checked] = true;
    return admitted as Verified;
  }

  /** Returns true for a registered key (hex, lower case). */
  knows = (publicKey: string): boolean => this.#engine.hasKey(publicKey);

  /** Returns the outcome if the request would change nothing, or null. */
  precheck({ command }: Admitted): Outcome | null {
    return this.#engine.precheck(command, this.#now);
  }

  apply({ command }: Verified): Applied {
    const at = this.#now;
    const ticked = this.#fireUntil(at);
    const seq = this.#engine.position.seq + 1;
    const { outcome, events } = this.#engine.apply({ seq, at, command });
    return {
      outcome: outcome!,
      events: ticked.length === 0 ? events : [...ticked, ...events],
      durable: settled,
    };
  }

  /** Fires all deadlines before now. Returns the events that the deadlines emit. */
  fireDeadlines(): readonly Event[] {
    return this.#fireUntil(this.#now);
  }

  nextDeadline = (): number | null => this.#engine.nextDeadline();
  reputationOf = (publicKey: string): number => this.#engine.reputationOf(publicKey);
  votesUntilClose = (blockHash: string): number => this.#engine.votesUntilClose(blockHash);

  /** Number of the last applied entry, as if a log existed. */
  get applied(): number {
    return this.#engine.position.seq;
  }

  /** Reads of the state as of the last applied entry. */
  get read(): StateViews {
    const { seq } = this.#engine.position;
    if (seq !== this.#viewed) this.#views.swap(this.#view());
    this.#viewed = seq;
    return this.#views;
  }

  get #now(): number {
    return Math.max(this.#clock.now(), this.#engine.position.at);
  }

  /** Applies a tick for each deadline, one millisecond after it. */
  #fireUntil(at: number): readonly Event[] {
    let events: Event[] | null = null;
    for (;;) {
      const due = this.#engine.nextDeadline();
      if (due === null || due >= at) return events ?? noEvents;
      const seq = this.#engine.position.seq + 1;
      const step: Step = this.#engine.apply({ seq, at: due + 1, command: null });
      events ??= [];
      events.push(...step.events);
    }
  }

  #view(): CommittedView {
    const { seq, at, event_seq } = this.#engine.position;
    const none = { epoch: '', log_digest: '', digest: '' };
    const { network_id } = this.genesis;
    return {
      meta: { schema_version: SCHEMA_VERSION, network_id, ...none, seq, at, event_seq },
      summary: this.#engine.summary(),
    };
  }
}

const noEvents: readonly Event[] = [];

/** Reads of records in memory. */
class LiveViews extends StateViews {
  readonly #tables: LiveTables;

  constructor(tables: LiveTables, genesis: Genesis, clock: Clock, view: CommittedView) {
    super(genesis, clock, view);
    this.#tables = tables;
  }

  override record<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined {
    return this.#tables.read(table, key);
  }

  override records<T extends Table>(table: T, options: RangeOptions = {}) {
    return this.#tables.range(table, options);
  }
}
