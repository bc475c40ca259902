/**
 * What came of a worker's runs, on its way into the queue: where runs are short it is stored some
 * at a time, since each time costs more than to tell of it. None waits for long.
 */
import type { Claim, QueueClaims, Stored } from '../../cluster/queue/index.js';
import { LARGEST_BYTES } from '../../cluster/queue/index.js';

/** How long a result may wait for others, and how many go together. */
const TOGETHER = { ms: 500, most: 16 } as const;
/** How much the last run counts for what the next ones may take. */
const WEIGHT = 0.2;

interface Done {
  claim: Claim;
  text: string;
}

export class Results {
  readonly #claims: Pick<QueueClaims, 'storeAll'>;
  readonly #onStored: (claim: Claim, how: Stored) => void;
  #waiting: Done[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Rejects when something could not be stored: whoever comes next is told. */
  #storing: Promise<void> = Promise.resolve();
  /** What a run takes; of none that is known yet, for ever. */
  #runMs = Number.POSITIVE_INFINITY;

  constructor(
    claims: Pick<QueueClaims, 'storeAll'>,
    onStored: (claim: Claim, how: Stored) => void,
  ) {
    this.#claims = claims;
    this.#onStored = onStored;
  }

  /** How many runs are to be claimed at once by who does so many at a time. */
  ahead(jobs: number): number {
    const many = Math.floor((TOGETHER.ms * jobs) / this.#runMs);
    return Math.max(1, Math.min(TOGETHER.most, many));
  }

  /** A run was done, which took so long. */
  took(ms: number): void {
    const before = Number.isFinite(this.#runMs) ? this.#runMs : ms;
    this.#runMs = before + WEIGHT * (ms - before);
  }

  /** Resolves when there is room for more; it is stored soon, or with the next `flush`. */
  async add(done: Done): Promise<void> {
    const bytes = Buffer.byteLength(done.text);
    if (this.#bytes + bytes > LARGEST_BYTES || this.#waiting.length === TOGETHER.most) {
      await this.flush();
    }
    this.#waiting.push(done);
    this.#bytes += bytes;
    this.#timer ??= setTimeout(() => this.flush().catch(() => {}), TOGETHER.ms);
  }

  /** Resolves when all is stored that was added. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const some = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    if (some.length > 0) this.#storing = this.#storing.then(() => this.#store(some));
    return this.#storing;
  }

  async #store(some: readonly Done[]): Promise<void> {
    const each = await this.#claims.storeAll(some);
    for (const [at, how] of each.entries()) this.#onStored(some[at]!.claim, how);
  }
}
