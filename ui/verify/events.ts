/** The events that the server has, held against those that were recomputed. */
import type { ReplayedStep } from '../../dist/engine/replay/recompute.js';
import { json } from './http.js';
import type { Parting } from './messages.js';
import { eventParting, type StoredEvent } from './parting.js';

const PAGE = 1_000;

interface EventsPage {
  data: { events: StoredEvent[]; next_cursor: string | null };
}

export class StoredEvents {
  readonly #origin: string;
  readonly #steps: ReplayedStep[] = [];
  /** Fetched, and not compared yet; `seq` of the last one that was fetched. */
  #fetched: StoredEvent[] = [];
  #last = 0;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** What one entry did, to be compared later. */
  add(step: ReplayedStep): void {
    if (step.events.length > 0) this.#steps.push(step);
  }

  /** Compares all that was added; the first entry whose events are others, or null. */
  async compare(): Promise<Parting | null> {
    for (const step of this.#steps.splice(0)) {
      while (this.#fetched.length < step.events.length && (await this.#fetch()));
      const stored = this.#fetched.splice(0, step.events.length);
      const same = step.events.every(({ json }, place) => json === JSON.stringify(stored[place]));
      if (same) continue;
      const { seq, at, kind } = step.entry;
      const found = eventParting(step.events, stored);
      if (found) return { entry: seq, at, kind, ...found };
    }
    return null;
  }

  /** The next page of them; false where there are no more. */
  async #fetch(): Promise<boolean> {
    const path = `/api/v1/events?after=${this.#last}&limit=${PAGE}`;
    const { data } = await json<EventsPage>(`${this.#origin}${path}`);
    this.#fetched.push(...data.events);
    this.#last = data.events.at(-1)?.seq ?? this.#last;
    return data.events.length > 0;
  }
}
