/**
 * Votes and memes that were sent to a live network and may come back as events: an event names its
 * agent and what it is, never the request that it follows from.
 */
import { memeText } from '../messages.js';
import type { Cause } from '../observer.js';
import type { Sent } from './society.js';

/** For each agent: what was never answered makes room in the end. */
const MOST = 64;

export class Asked {
  readonly #sent = new Map<number, Sent[]>();

  add(sent: Sent): void {
    const { kind } = sent.request;
    if (kind !== 'vote' && kind !== 'meme') return;
    const own = this.#sent.get(sent.from) ?? [];
    own.push(sent);
    if (own.length > MOST) own.shift();
    this.#sent.set(sent.from, own);
  }

  /** It was refused, or had been done before. */
  drop(sent: Sent): void {
    const own = this.#sent.get(sent.from);
    const index = own?.indexOf(sent) ?? -1;
    if (index >= 0) own!.splice(index, 1);
  }

  /** What an agent's vote on a block follows from; of two alike, the one that was sent first. */
  vote(agent: number, block: string, decision: string): Cause | null {
    return this.#take(agent, ({ note }) => note?.block === block && note.decision === decision);
  }

  meme(agent: number): Cause | null {
    return this.#take(agent, ({ request }) => request.kind === 'meme');
  }

  #take(agent: number, is: (sent: Sent) => boolean): Cause | null {
    const own = this.#sent.get(agent);
    const found = own?.find(is);
    if (!found) return null;
    this.drop(found);
    const { note, bytes, request } = found;
    const text = request.kind === 'meme' ? memeText(request) : undefined;
    return { from: agent, note, bytes, text, memes: note?.memeReferences ?? [] };
  }
}
