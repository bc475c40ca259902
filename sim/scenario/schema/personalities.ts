/**
 * The nine built-in personalities as data. A vote is the weighted mean of four opinions, each 0 to
 * 100, in percent; at `threshold` and above it approves. The other members say how lively they are.
 */

/** How an agent votes, and how lively it is: a vote is the weighted mean of four opinions. */
export interface Personality {
  technical: number;
  social: number;
  meme: number;
  random: number;
  threshold: number;
  /** How many of 1,000 of its transactions are sound when it produces a block. */
  carePermille: number;
  /** How often, of 1,000 blocks it hears of, it posts a meme or speaks up. */
  memePermille: number;
  discussPermille: number;
  /** Of 1,000 occasions, how often it invites neighbours to an alliance, or says yes to one. */
  invitePermille: number;
  acceptPermille: number;
  /** Of 1,000 blocks, how often it does not vote. */
  abstainPermille: number;
  /** The most it thinks before it votes, in milliseconds. */
  thinkMs: number;
}

type Lively = Omit<Personality, 'technical' | 'social' | 'meme' | 'random' | 'threshold'>;

const decides = (
  [technical, social, meme, random]: [number, number, number, number],
  threshold: number,
  lively: Lively,
): Personality => ({ technical, social, meme, random, threshold, ...lively });

const lively = (
  carePermille: number,
  [memePermille, discussPermille]: [number, number],
  [invitePermille, acceptPermille]: [number, number],
  thinkMs: number,
): Lively => ({
  carePermille,
  memePermille,
  discussPermille,
  invitePermille,
  acceptPermille,
  abstainPermille: 30,
  thinkMs,
});

/** The built-in personalities, by name. */
export const personalities: Readonly<Record<string, Personality>> = {
  lawful: decides([80, 15, 0, 5], 60, lively(970, [3, 6], [20, 500], 2_000)),
  rational: decides([70, 20, 5, 5], 55, lively(960, [3, 10], [30, 500], 2_500)),
  neutral: decides([40, 40, 10, 10], 50, lively(940, [5, 5], [15, 400], 2_000)),
  strategic: decides([35, 55, 5, 5], 50, lively(940, [5, 8], [80, 700], 3_000)),
  greedy: decides([30, 50, 10, 10], 50, lively(880, [5, 5], [60, 600], 1_500)),
  emotional: decides([10, 60, 20, 10], 50, lively(920, [12, 20], [40, 600], 1_000)),
  dramatic: decides([10, 35, 35, 20], 50, lively(900, [25, 25], [40, 500], 1_200)),
  memetic: decides([10, 15, 70, 5], 50, lively(900, [50, 10], [30, 600], 1_200)),
  chaotic: decides([5, 10, 15, 70], 50, lively(750, [15, 15], [30, 300], 800)),
};

export const personalityNames = Object.keys(personalities);

/** The four opinions, each 0 to 100. */
export interface Opinions {
  technical: number;
  social: number;
  meme: number;
  random: number;
}

/** Whether the weighted opinions reach the threshold, in integers. */
export function approves(personality: Personality, opinions: Opinions): boolean {
  const sum =
    personality.technical * opinions.technical +
    personality.social * opinions.social +
    personality.meme * opinions.meme +
    personality.random * opinions.random;
  return sum >= personality.threshold * 100;
}
