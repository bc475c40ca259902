/** Who takes part in a queue, and who would but may not: told when it changes. */
import type { QueueHost } from '../../cluster/queue/index.js';
import { jsonOf } from './told.js';

/** What one worker may say that it does at a time: more is no worker of ours. */
const MOST_JOBS = 256;
/** Of a worker's own words, which may be anybody's. */
const LONGEST = 300;

export class Workers {
  /** Runs that all of them do at a time. */
  slots = 0;
  readonly #say: (line: string) => void;
  readonly #told = new Set<string>();
  #shown = '';

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  async look(host: QueueHost): Promise<void> {
    let workers = 0;
    this.slots = 0;
    for (const { name, value } of await host.workers()) {
      const about = jsonOf(value.toString('utf8')) as { jobs?: unknown; refused?: unknown } | null;
      if (typeof about?.refused === 'string') this.#tellOnce(name, about.refused);
      const jobs = Number(about?.jobs);
      if (!Number.isSafeInteger(jobs) || jobs < 1 || jobs > MOST_JOBS) continue;
      workers += 1;
      this.slots += jobs;
    }
    const shown =
      workers === 0 ? 'no worker yet' : `${workers} workers, ${this.slots} runs at a time`;
    if (shown !== this.#shown) this.#say(shown);
    this.#shown = shown;
  }

  #tellOnce(name: string, refused: string): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.#say(`a worker takes no part: ${refused.slice(0, LONGEST)}`);
  }
}
