/** What actors emitted during one apply, in order. Engine numbers and takes it at the end. */
import type { Emitted } from '../protocol/schema/index.js';

export class Outbox {
  #emitted: Emitted[] = [];
  #faults: unknown[] = [];

  emit(emitted: Emitted): void {
    this.#emitted.push(emitted);
  }

  /** An actor threw or got an event that its state does not know: a bug, told by the engine. */
  fault(what: unknown): void {
    this.#faults.push(what);
  }

  take(): Emitted[] {
    const taken = this.#emitted;
    this.#emitted = [];
    return taken;
  }

  firstFault(): unknown {
    return this.#faults[0];
  }
}
