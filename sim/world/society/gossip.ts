/**
 * What agents say to their neighbours: votes, each with the memes that it refers to, and memes of
 * their own. Whoever decides looks up what has arrived, so nothing is kept for each receiver.
 */
import type { Decision } from '../../../engine/internal.js';
import type { ReceivedMeme, ReceivedRemark, ReceivedVote } from '../../agents/port/known.js';
import type { Links } from '../links/links.js';
import type { MessageKind } from '../messages.js';
import type { Observer } from '../observer.js';
import type { Mutes } from './intervening.js';
import type { PostedMeme, Talk, ToldRemark } from './talk.js';

export class Gossip {
  readonly #links: Links;
  readonly #neighbours: readonly (readonly number[])[];
  readonly #observer: Observer;
  readonly #mutes: Mutes;

  constructor(
    links: Links,
    neighbours: readonly (readonly number[])[],
    observer: Observer,
    mutes: Mutes,
  ) {
    this.#mutes = mutes;
    this.#links = links;
    this.#neighbours = neighbours;
    this.#observer = observer;
  }

  /** A vote has counted: its agent tells the neighbours, memes and all. */
  vote(talk: Talk, agent: number, vote: { decision: Decision; memes: readonly string[] }): void {
    talk.decisions[agent] = vote.decision === 'approve' ? 1 : 2;
    if (vote.memes.length > 0) {
      talk.references.set(agent, vote.memes);
      talk.memes[agent] = 1;
    }
    const at = talk.votedAt[agent]!;
    this.say('gossip.vote', agent, at, talk.voteNames[agent]!, talk.voteBytes[agent]!);
  }

  meme(talk: Talk, agent: number, stance: Decision, meme: PostedMeme): void {
    talk.stances.set(meme.id, stance);
    if (agent < 0) return;
    const posted = talk.posted.get(agent);
    if (posted) posted.push(meme);
    else talk.posted.set(agent, [meme]);
    talk.memes[agent] = 1;
    if (this.#untilMuted(meme.id, meme.at) >= meme.at) {
      this.say('gossip.meme', agent, meme.at, meme.name, meme.bytes);
    }
  }

  remark(talk: Talk, agent: number, remark: ToldRemark): void {
    if (agent < 0) return;
    const told = talk.remarks.get(agent);
    if (told) told.push(remark);
    else talk.remarks.set(agent, [remark]);
    this.say('gossip.remark', agent, remark.at, remark.name, remark.bytes);
  }

  /** Counts a message to each neighbour; one by one only where some of them may be lost. */
  say(kind: MessageKind, from: number, at: number, name: number, bytes: number): void {
    const neighbours = this.#neighbours[from]!;
    this.#observer.traffic(kind, 'sent', neighbours.length, bytes);
    if (this.#links.sure(at)) return;
    let lost = 0;
    for (const to of neighbours) if (this.#links.fails(name, from, to, at)) lost += 1;
    if (lost > 0) this.#observer.traffic(kind, 'lost', lost, bytes);
  }

  receivedVotes(
    agent: number,
    talk: Talk,
    allies: ReadonlySet<number> | undefined,
    now: number,
  ): ReceivedVote[] {
    const { votedAt, voteNames, decisions } = talk;
    const received: ReceivedVote[] = [];
    for (const other of this.#neighbours[agent]!) {
      const at = votedAt[other]!;
      if (at === 0 || !this.#heard(voteNames[other]!, other, agent, at, now)) continue;
      const decision: Decision = decisions[other] === 1 ? 'approve' : 'reject';
      received.push({ agent: other, decision, ally: allies?.has(other) === true });
    }
    return received;
  }

  /** The same votes as one figure, for those who look at each block: an ally's weighs 2. */
  support(
    agent: number,
    talk: Talk,
    allies: ReadonlySet<number> | undefined,
    now: number,
  ): number | null {
    const { votedAt, voteNames, decisions } = talk;
    let approving = 0;
    let all = 0;
    for (const other of this.#neighbours[agent]!) {
      const at = votedAt[other]!;
      if (at === 0 || !this.#heard(voteNames[other]!, other, agent, at, now)) continue;
      const weight = allies?.has(other) === true ? 2 : 1;
      all += weight;
      if (decisions[other] === 1) approving += weight;
    }
    return all === 0 ? null : Math.floor((100 * approving) / all);
  }

  /** Each once, in the order of the neighbours. */
  receivedMemes(agent: number, talk: Talk, now: number): ReceivedMeme[] {
    const { stances, texts, memes, posted, references, votedAt, voteNames } = talk;
    if (stances.size === 0) return [];
    const received = new Map<string, ReceivedMeme>();
    const take = (id: string) => {
      const stance = stances.get(id);
      if (stance) received.set(id, { id, stance, text: texts.get(id) ?? '' });
    };
    for (const other of this.#neighbours[agent]!) {
      if (memes[other] === 0) continue;
      for (const { id, at, name } of posted.get(other) ?? []) {
        if (this.#heard(name, other, agent, at, this.#untilMuted(id, now))) take(id);
      }
      const passed = references.get(other);
      if (!passed) continue;
      const heardBy = (until: number) =>
        this.#heard(voteNames[other]!, other, agent, votedAt[other]!, until);
      if (!heardBy(now)) continue;
      for (const id of passed) {
        const until = this.#untilMuted(id, now);
        if (until === now || heardBy(until)) take(id);
      }
    }
    return [...received.values()];
  }

  receivedRemarks(agent: number, talk: Talk, now: number): ReceivedRemark[] {
    const received: ReceivedRemark[] = [];
    if (talk.remarks.size === 0) return received;
    for (const other of this.#neighbours[agent]!) {
      for (const { message, stance, at, name } of talk.remarks.get(other) ?? []) {
        if (!this.#heard(name, other, agent, at, now)) continue;
        received.push({ agent: other, stance, message });
      }
    }
    return received;
  }

  /** By when somebody must have heard of a meme to know of it now. */
  #untilMuted(meme: string, now: number): number {
    const from = this.#mutes.size === 0 ? undefined : this.#mutes.get(meme);
    return from === undefined ? now : Math.min(now, from - 1);
  }

  /** Whether a message has arrived by now. */
  #heard(name: number, from: number, to: number, at: number, now: number): boolean {
    return at < now && this.#links.arrival(name, from, to, at) <= now;
  }
}
