/** Events as they were published: while somebody watches, none of them is parsed again. */
import type { Event, PublishedEvent, ServedNetwork } from '../../../../engine/internal.js';

/** What is older is read from the store. */
const MOST = 65_536;

export class EventCache {
  readonly #events: (Event | undefined)[] = [];
  readonly #network: Pick<ServedNetwork, 'onEvents'>;
  #holders = 0;
  #stop: () => void = () => {};

  constructor(network: Pick<ServedNetwork, 'onEvents'>) {
    this.#network = network;
  }

  /** Keeps what comes until the last of those who asked for it lets go. */
  hold(): () => void {
    this.#holders += 1;
    if (this.#holders === 1) this.#stop = this.#network.onEvents((events) => this.#take(events));
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders > 0) return;
      this.#stop();
      this.#events.length = 0;
    };
  }

  /** Given once: whoever asks again reads it from the store. */
  take(seq: number): Event | undefined {
    const event = this.#events[seq % MOST];
    if (event?.seq !== seq) return undefined;
    this.#events[seq % MOST] = undefined;
    return event;
  }

  #take(events: readonly PublishedEvent[]): void {
    for (const { seq, event } of events) this.#events[seq % MOST] = event;
  }
}
