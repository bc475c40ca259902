/** How sound a block's content is, and the tags by which a meme says what it is about. */
import type { Decision } from '../../../engine/internal.js';

/** The share of transactions that add up, 0 to 100. A block without any is neither good nor bad. */
export function soundness(transactions: readonly { data: string }[]): number {
  if (transactions.length === 0) return 50;
  const sound = transactions.filter(({ data }) => addsUp(data));
  return Math.floor((100 * sound.length) / transactions.length);
}

/** Other people's transactions may hold anything. */
function addsUp(data: string): boolean {
  try {
    const { amount } = JSON.parse(data) as { amount?: unknown };
    return typeof amount === 'number' && amount > 0;
  } catch {
    return false;
  }
}

/** The tag by which a meme says which block it is about. */
export const blockTag = (blockHash: string): string => `b_${blockHash.slice(0, 12)}`;
export const stanceTag: Record<Decision, string> = { approve: 'pro', reject: 'contra' };
