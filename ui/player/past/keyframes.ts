/** Pictures that were passed, so that going back is a copy and a short fold. */
import type { Picture } from '../../../api/view/model.js';

/** Agents of all pictures that are kept: some two hundred megabytes at the most. */
const AGENTS = 1_000_000;

export class Keyframes {
  /** Ascending by entry. */
  readonly #kept: Picture[] = [];

  clear(): void {
    this.#kept.length = 0;
  }

  /** Keeps a copy. */
  keep(picture: Picture): void {
    const place = this.#kept.findLastIndex(({ entry }) => entry <= picture.entry);
    if (this.#kept[place]?.entry === picture.entry) return;
    this.#kept.splice(place + 1, 0, copyOf(picture));
    const most = Math.max(4, Math.floor(AGENTS / Math.max(1, picture.agents.length)));
    // Every second one goes: seeking takes longer, but anywhere alike.
    if (this.#kept.length > most) {
      const left = this.#kept.filter((_, index) => index % 2 === 0);
      this.#kept.splice(0, this.#kept.length, ...left);
    }
  }

  /** A copy of the last one that is no later than an entry. */
  before(entry: number): Picture | null {
    const found = this.#kept.findLast((one) => one.entry <= entry);
    return found ? copyOf(found) : null;
  }

  /** Where the last one before an entry stands; -1 where there is none. */
  placeBefore(entry: number): number {
    return this.#kept.findLast((one) => one.entry <= entry)?.entry ?? -1;
  }
}

/** Whatever a fold changes in place is copied; the ballots of closed blocks change no more. */
export const copyOf = (picture: Picture): Picture => ({
  ...picture,
  agents: picture.agents.map((agent) => ({ ...agent })),
  blocks: picture.blocks.map((block) => ({
    ...block,
    ballots: block.status === 'voting' ? [...block.ballots] : block.ballots,
  })),
  alliances: [...picture.alliances],
  memes: [...picture.memes],
  said: [...picture.said],
  totals: { ...picture.totals },
});
