/** An independent reputation model in integers, with 1,000,000 for a score of 100. */
import type { Decision } from 'folkmoot';
import type { Citizen } from '../../support/citizens.js';

const S = 1_000_000;

interface Scores {
  meme: number;
  consistency: number;
  peer: number;
  alliance: number;
  penalty: number;
  overall: number;
  told: number;
}

interface Vote {
  voter: Citizen;
  decision: Decision;
  memes?: string[];
  weight?: number;
}

const ema = (old: number, sample: number) => old + Math.trunc((sample - old) / 16);

/** Returns a share in units of 1/S, rounded down. */
const share = (part: number, whole: number) => Number((BigInt(S) * BigInt(part)) / BigInt(whole));

const weigh = (votes: readonly Vote[]) => votes.reduce((sum, { weight = 1 }) => sum + weight, 0);

export class Model {
  readonly #scores = new Map<string, Scores>();
  readonly #creators = new Map<string, string>();
  readonly #alliances: string[][] = [];
  #updates: [string, number, number][] = [];

  of({ id }: Pick<Citizen, 'id'>): Scores {
    const half = S / 2;
    const fresh = { meme: half, consistency: half, peer: half, alliance: half };
    const scores = this.#scores.get(id) ?? { ...fresh, penalty: 0, overall: half, told: half };
    this.#scores.set(id, scores);
    return scores;
  }

  shown(citizen: Citizen) {
    const { meme, consistency, peer, alliance, overall } = this.of(citizen);
    return {
      overall_score: overall / 10_000,
      meme_quality: meme / 10_000,
      decision_consistency: consistency / 10_000,
      peer_ratings: peer / 10_000,
      alliance_strength: alliance / 10_000,
    };
  }

  /** Returns the updates from the last close: agent, old and new score. */
  told(): [string, number, number][] {
    return this.#updates;
  }

  meme(id: string, creator: Citizen): void {
    this.#creators.set(id, creator.id);
  }

  ally(members: readonly Citizen[]): void {
    this.#alliances.push(members.map(({ id }) => id));
  }

  equivocate(citizen: Citizen): void {
    const scores = this.of(citizen);
    scores.penalty = Math.min(500_000, scores.penalty + 250_000);
    this.#sum(citizen.id);
  }

  close(block: { producer: Citizen; votes: Vote[]; outcome: 'finalized' | 'rejected' }): void {
    const { producer, votes, outcome } = block;
    const right = outcome === 'finalized' ? 'approve' : 'reject';
    const part = new Set([producer.id, ...votes.map(({ voter }) => voter.id)]);
    for (const id of part) {
      const scores = this.of({ id });
      scores.penalty -= Math.trunc(scores.penalty / 64);
    }
    for (const { voter, decision } of votes) {
      const scores = this.of(voter);
      scores.consistency = ema(scores.consistency, decision === right ? S : 0);
    }
    this.#peers(producer, votes);
    const creators = this.#memes(votes, right);
    for (const id of part) this.#alliance(id, votes);
    this.#updates = [];
    for (const id of [...new Set([...part, ...creators])].sort()) this.#sum(id);
  }

  #peers(producer: Citizen, votes: readonly Vote[]): void {
    const rate = (of: Citizen, alike: Decision) => {
      const others = votes.filter(({ voter }) => voter.id !== of.id);
      if (others.length === 0) return;
      const like = others.filter(({ decision }) => decision === alike);
      this.of(of).peer = ema(this.of(of).peer, share(weigh(like), weigh(others)));
    };
    rate(producer, 'approve');
    for (const { voter, decision } of votes) rate(voter, decision);
  }

  #memes(votes: readonly Vote[], right: Decision): string[] {
    const rated: string[] = [];
    for (const [meme, creator] of [...this.#creators].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const near = this.#alliances.filter((members) => members.includes(creator)).flat();
      const references = votes.filter(
        ({ voter, memes = [] }) =>
          memes.includes(meme) && voter.id !== creator && !near.includes(voter.id),
      );
      if (references.length === 0) continue;
      const matching = references.filter(({ decision }) => decision === right);
      const scores = this.of({ id: creator });
      scores.meme = ema(scores.meme, share(weigh(matching), weigh(references)));
      rated.push(creator);
    }
    return rated;
  }

  #alliance(id: string, votes: readonly Vote[]): void {
    const samples = this.#alliances
      .filter((members) => members.includes(id))
      .map((members) => votes.filter(({ voter }) => members.includes(voter.id)))
      .filter((voting) => voting.length >= 2)
      .map((voting) => {
        const approving = voting.filter(({ decision }) => decision === 'approve').length;
        return share(Math.max(approving, voting.length - approving), voting.length);
      });
    const scores = this.of({ id });
    scores.alliance =
      samples.length > 0
        ? ema(scores.alliance, Math.max(...samples))
        : scores.alliance - Math.trunc(scores.alliance / 64);
  }

  #sum(id: string): void {
    const scores = this.of({ id });
    const { meme, consistency, peer, alliance, penalty } = scores;
    const sum = Math.trunc((20 * meme + 40 * consistency + 25 * peer + 15 * alliance) / 100);
    scores.overall = Math.min(S, Math.max(0, sum - penalty));
    if (Math.abs(scores.overall - scores.told) < 1_000) return;
    this.#updates.push([id, scores.told / 10_000, scores.overall / 10_000]);
    scores.told = scores.overall;
  }
}
