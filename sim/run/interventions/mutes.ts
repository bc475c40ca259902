/** Memes that nobody hears of any more, from when on: one by one, or all of an author. */
import type { Named } from '../../scenario/schema/interventions/interventions.js';
import type { Numbers } from './numbers.js';

export interface Muted {
  /** Memes that it muted. */
  did: number;
}

export class Mutes {
  /** By meme, from when on. */
  readonly memes = new Map<string, number>();
  readonly #numbers: Numbers;
  /** Muted before they were posted; authors by agent id. */
  readonly #awaited: { meme: Named; muted: Muted }[] = [];
  readonly #authors = new Map<string, Muted>();

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  meme(meme: Named, now: number): Muted {
    const muted = { did: 0 };
    const id = this.#numbers.meme(meme);
    if (id === undefined) this.#awaited.push({ meme, muted });
    else this.#mute(id, now, muted);
    return muted;
  }

  authors(agentIds: readonly string[], now: number): Muted {
    const muted = { did: 0 };
    for (const id of agentIds) this.#authors.set(id, muted);
    for (const { id, author } of this.#numbers.memes) {
      if (agentIds.includes(author)) this.#mute(id, now, muted);
    }
    return muted;
  }

  /** To be told of each before anybody hears of it, with its number known. */
  posted(id: string, author: string): void {
    const own = this.#authors.get(author);
    if (own) this.#mute(id, 0, own);
    for (const { meme, muted } of this.#awaited) {
      if (this.#numbers.meme(meme) === id) this.#mute(id, 0, muted);
    }
  }

  #mute(id: string, now: number, muted: Muted): void {
    if (this.memes.has(id)) return;
    this.memes.set(id, now);
    muted.did += 1;
  }
}
