/** An engine that goes through a stored log, entry by entry, from genesis or from a checkpoint. */
import { admit } from '../admit/index.js';
import { Engine, type Step, type Summary } from '../core/index.js';
import { encodeStep } from '../node/encode.js';
import { proposalAt } from '../node/open-store.js';
import { Overlay } from '../node/overlay.js';
import { Digests } from '../protocol/log.js';
import type { Genesis } from '../protocol/schema/index.js';
import type { LogLine } from '../replay/index.js';
import { type Store, StoreError, type StoreMeta } from '../store/index.js';
import { type Checkpoint, encodeCheckpoint } from './checkpoint.js';
import { RecordsAt } from './records.js';

/** Entries after which what was written once is read out of the folder: memory stays bounded. */
const REBASE = 256;

export class Walk {
  readonly #genesis: Genesis;
  readonly records: RecordsAt;
  readonly #overlay: Overlay;
  readonly #digests: Digests;
  #engine: Engine | null = null;
  #unbased = 0;
  /** Of all entries so far, as they are stored. */
  logBytes: number;

  /** Begins before entry 0, or after a checkpoint's. */
  constructor(
    live: Store,
    genesis: Genesis,
    from: { checkpoint: Checkpoint; logBytes: number } | null,
  ) {
    this.#genesis = genesis;
    const head = from?.checkpoint.head;
    this.records = new RecordsAt(live, head ?? null, from?.checkpoint.records);
    this.#overlay = new Overlay(this.records, (entry) => proposalAt(live, genesis, entry));
    this.#digests = new Digests(head?.log_digest, head?.digest);
    this.logBytes = from?.logBytes ?? 0;
    if (!head) return;
    const { seq, at, event_seq } = head;
    this.#engine = Engine.restore(genesis, this.#overlay, { seq, at, event_seq });
  }

  /** The last entry that was applied; -1 before the first. */
  get seq(): number {
    return this.#engine?.position.seq ?? -1;
  }

  get summary(): Summary {
    return this.#engine!.summary();
  }

  /** Where the log would end if it ended here. */
  meta(end: StoreMeta): StoreMeta {
    const { digest, logDigest: log_digest } = this.#digests;
    return { ...end, ...this.#engine!.position, digest, log_digest };
  }

  /** @throws {StoreError} `CORRUPT` when the entry does not give the digests stored with it. */
  step(line: LogLine): Step {
    const { entry } = line;
    const step = this.#apply(line);
    const { changes, results } = encodeStep(step);
    this.logBytes += this.#digests.advance(entry, results).length;
    if (line.digest !== this.#digests.digest || line.logDigest !== this.#digests.logDigest) {
      throw damaged(entry.seq, 'its digests are others');
    }
    this.records.write(changes);
    this.#unbased += 1;
    if (this.#unbased >= REBASE) this.#rebase();
    return step;
  }

  checkpoint(): Buffer {
    this.#rebase();
    const { seq, at, event_seq } = this.#engine!.position;
    const { digest, logDigest: log_digest } = this.#digests;
    const head = { seq, at, event_seq, log_digest, digest };
    return encodeCheckpoint(head, this.records.keptRows());
  }

  #rebase(): void {
    this.records.rebase(this.#engine!.position);
    this.#unbased = 0;
  }

  #apply({ entry, file }: LogLine): Step {
    const { seq, at, kind } = entry;
    if (kind === 'genesis') {
      const { engine, step } = Engine.create(this.#genesis, at, this.#overlay);
      this.#engine = engine;
      return step;
    }
    if (!this.#engine) throw damaged(seq, 'the log does not begin with genesis');
    if (kind === 'tick') return this.#done(seq, this.#engine.apply({ seq, at, command: null }));
    const request = { ...entry, kind, ...(file ? { file } : {}) };
    const admitted = admit(request, this.#genesis.network_id);
    if ('refusal' in admitted) throw damaged(seq, admitted.refusal.message);
    return this.#done(seq, this.#engine.apply({ seq, at, command: admitted.command }));
  }

  #done(seq: number, step: Step): Step {
    const result = step.outcome?.result;
    if (result !== 'refused' && result !== 'duplicate') return step;
    throw damaged(seq, `it is ${result}`);
  }
}

function damaged(seq: number, why: string): StoreError {
  const advice = 'folkmoot replay says more';
  return new StoreError('CORRUPT', `entry ${seq} does not follow from the log: ${why}; ${advice}`);
}
