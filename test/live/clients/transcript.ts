/** Events that all subscribers of the same topics must receive, byte for byte. */
import type { Caller, ReadEvent } from './caller.js';
import type { Subscriber } from './subscriber.js';

/** Records the first copy of each event, and compares all other copies with it. */
export class Transcript {
  readonly #texts: Buffer[] = [];
  /** Subscribers that received a different event, with the event's index. */
  readonly differing: string[] = [];

  constructor(readonly topics: readonly string[]) {}

  follow(subscriber: Subscriber, name: string): void {
    subscriber.onEvent = (text, index) => {
      const known = this.#texts[index];
      if (known === undefined) this.#texts[index] = text;
      else if (!known.equals(text)) this.differing.push(`${name} at ${index}`);
    };
  }

  /** Expects all events after `since`. Returns the number of events. */
  async expectComplete(caller: Caller, since: number): Promise<number> {
    const held = await caller.events(since, this.topics.join(','));
    const told = this.#texts.map((text) => JSON.parse(text.toString()) as ReadEvent);
    expect(this.differing).toEqual([]);
    expect(told.length).toBeLessThanOrEqual(held.length);
    expect(told).toEqual(held.slice(0, told.length));
    return held.length;
  }
}
