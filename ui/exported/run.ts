/** A whole run, unpacked: the network after any entry, and what is kept beside its rows. */
import { cutSpan } from '../../api/view/cut.js';
import { applySpan, emptyPicture } from '../../api/view/fold.js';
import type { Kept } from '../../api/view/kept.js';
import {
  type AgentRow,
  type BlockRow,
  type MemeRow,
  type Picture,
  rowKinds,
  type Span,
} from '../../api/view/model.js';
import type { Reel } from '../../api/view/reel.js';
import { Keyframes } from '../player/past/keyframes.js';

const REGISTERED = rowKinds.indexOf('registered');

export class Run {
  readonly spans: readonly Span[];
  readonly kept: Kept;
  readonly agents: readonly AgentRow[];
  /** When each agent registered, by number. */
  readonly registered: readonly number[];
  readonly #keyframes = new Keyframes();

  constructor({ spans, kept }: Reel) {
    this.spans = spans;
    this.kept = kept;
    const picture = emptyPicture(kept.network);
    for (const span of spans) this.#keyframes.keep(applySpan(picture, span));
    this.agents = picture.agents;
    this.registered = spans.flatMap(({ rows }) =>
      [...rows.at].filter((_, row) => rows.kind[row] === REGISTERED),
    );
  }

  get end(): number {
    return this.spans.at(-1)!.to;
  }

  /** @throws {RangeError} for an entry that is not there */
  picture(at: number): Picture {
    if (at > this.end) throw new RangeError(`there is no entry ${at}: the last is ${this.end}`);
    const picture = this.#keyframes.before(at) ?? emptyPicture(this.kept.network);
    for (const span of this.spans) {
      if (span.to > picture.entry && span.from <= at) applySpan(picture, span, at);
    }
    const { entries, at: times } = this.kept.quiet;
    const quiet = entries.indexOf(at);
    if (quiet >= 0) picture.at = times[quiet]!;
    return picture;
  }

  /** Rows from an entry on, as far as one span goes. */
  rows(from: number, to: number): Span {
    const span = this.spans.find((one) => from <= one.to);
    if (!span) throw new RangeError(`there is no entry ${from}: the last is ${this.end}`);
    return cutSpan(span, from, to);
  }

  agent(id: string): AgentRow | undefined {
    return this.agents.find((agent) => agent.id === id);
  }

  block(hash: string): BlockRow | undefined {
    return this.#introduced('blocks', (block) => block.hash === hash);
  }

  meme(id: string): MemeRow | undefined {
    return this.#introduced('memes', (meme) => meme.id === id);
  }

  #introduced<T extends 'blocks' | 'memes'>(
    what: T,
    is: (one: Span['introduced'][T][number]) => boolean,
  ): Span['introduced'][T][number] | undefined {
    for (const { introduced } of this.spans) {
      const found = (introduced[what] as Span['introduced'][T][number][]).find(is);
      if (found) return found;
    }
    return undefined;
  }
}
