/** What actors said during one apply, in order. Engine numbers and takes it at the end. */
import type { Emitted } from '../protocol/schema/index.js';

export class Outbox {
  #said: Emitted[] = [];
  #faults: unknown[] = [];

  say(emitted: Emitted): void {
    this.#said.push(emitted);
  }

  /** An actor threw or got an event that its state does not know: a bug, told by the engine. */
  fault(what: unknown): void {
    this.#faults.push(what);
  }

  take(): Emitted[] {
    const said = this.#said;
    this.#said = [];
    return said;
  }

  firstFault(): unknown {
    return this.#faults[0];
  }
}
