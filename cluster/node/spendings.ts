/**
 * What agents spend at other nodes of what each may do in a time: told to whoever counts it here.
 * It decides at the door what is asked of the order, and never what is applied.
 */
import type { Applied, Spent } from '../../engine/internal.js';
import type { Wanted } from './appender.js';
import { bounds } from './bounds.js';

/** When it was done, by the network's time. */
type Dated = Omit<Spent, 'ageMs'> & { at: number };

export class Spendings {
  readonly #now: () => number;
  readonly #listeners = new Set<(spent: Spent) => void>();
  /** Until somebody listens: the latest of what is read when a node begins. */
  #unheard: Dated[] | null = [];

  /** `now`: the network's time, milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The first listener is told what came before it. */
  listen(listener: (spent: Spent) => void): void {
    this.#listeners.add(listener);
    for (const dated of this.#unheard ?? []) this.#tell(dated);
    this.#unheard = null;
  }

  /** A request of a batch was applied at `at`; who let it in counts it as well. */
  came({ verified, spender }: Wanted, { outcome }: Applied, at: number): void {
    const { request, command, signature } = verified;
    const { kind, public_key: publicKey } = command;
    const bytes = request.body.length + (request.file?.length ?? 0);
    const dated = { kind, publicKey, signature, bytes, spender, outcome, at };
    if (!this.#unheard) return this.#tell(dated);
    this.#unheard.push(dated);
    const { unheardSpendings } = bounds;
    if (this.#unheard.length > 2 * unheardSpendings) this.#unheard.splice(0, unheardSpendings);
  }

  #tell({ at, ...spent }: Dated): void {
    const ageMs = Math.max(0, this.#now() - at);
    for (const listener of this.#listeners) listener({ ...spent, ageMs });
  }
}
