/** What scripted agents write: transactions, memes, remarks. */
import type { Decision } from '../../../engine/internal.js';
import type { Stream } from '../../rng.js';

const goods = ['grain', 'wool', 'timber', 'salt', 'iron', 'honey', 'cloth', 'ale'];
const praise = ['the way', 'a feast', 'worth the walk', 'what we came for', 'gold'];
const blame = ['a swamp', 'spoiled milk', 'not on our land', 'a bad omen', 'mud'];

/** The data of one transaction. A careless producer writes one that does not add up. */
export function transactionData(
  by: number,
  number: number,
  sound: boolean,
  stream: Stream,
): string {
  const amount = 1 + stream.int(1_000);
  const type = stream.pick(['transfer', 'trade', 'pledge']);
  return JSON.stringify({
    type,
    good: stream.pick(goods),
    amount: sound ? amount : -amount,
    from: by,
    nonce: number,
  });
}

export function memeText(blockHash: string, stance: Decision, stream: Stream): string {
  const words = stream.pick(stance === 'approve' ? praise : blame);
  return `block ${blockHash.slice(0, 8)} is ${words}`;
}

/** By percent: each is said by many, who share one text. */
const remarks: Record<Decision, readonly string[]> = {
  approve: percents((soundness) => `${soundness} of 100 adds up; I am for it`),
  reject: percents((soundness) =>
    soundness === 100
      ? 'all of it adds up, yet I am against it'
      : `only ${soundness} of 100 adds up; I am against it`,
  ),
};

/** @param soundness whole percent. */
export const remark = (stance: Decision, soundness: number): string => remarks[stance][soundness]!;

function percents(text: (percent: number) => string): string[] {
  return Array.from({ length: 101 }, (_, percent) => text(percent));
}
