/** Built-in personalities: specified weights and thresholds of approval. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Personality, personalities } from 'folkmoot/sim';
import { approves } from '../../dist/sim/scenario/schema/personalities.js';

/** Weights of the technical, social, meme and random opinion in percent, and the threshold. */
const specified: Record<string, [number, number, number, number, number]> = {
  lawful: [80, 15, 0, 5, 60],
  rational: [70, 20, 5, 5, 55],
  neutral: [40, 40, 10, 10, 50],
  strategic: [35, 55, 5, 5, 50],
  greedy: [30, 50, 10, 10, 50],
  emotional: [10, 60, 20, 10, 50],
  dramatic: [10, 35, 35, 20, 50],
  memetic: [10, 15, 70, 5, 50],
  chaotic: [5, 10, 15, 70, 50],
};
const opinionNames = ['technical', 'social', 'meme', 'random'] as const;
const named = Object.entries(specified);

test('personalities: are exactly the nine specified ones', () => {
  const weights = Object.entries(personalities).map(([name, one]) => {
    const { technical, social, meme, random, threshold } = one;
    return [name, [technical, social, meme, random, threshold]];
  });
  expect(Object.fromEntries(weights)).toEqual(specified);
});

test('docs/model.md: lists every trait of every personality', () => {
  const file = fileURLToPath(new URL('../../docs/model.md', import.meta.url));
  const lines = readFileSync(file, 'utf8').split('\n');
  const cellsOf = (line: string) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1);
  const from = lines.findIndex((line) => line.startsWith('| personality '));
  const [, ...names] = cellsOf(lines[from]!);
  const rows = lines.slice(from + 2, lines.indexOf('', from)).map(cellsOf);
  const shown = rows.map(([name, ...cells]) => {
    return [name, Object.fromEntries(cells.map((cell, at) => [names[at]!, Number(cell)]))];
  });
  expect(Object.fromEntries(shown)).toEqual(personalities);
});

describe.each(named)('approves: %s', (name, [, , , , threshold]) => {
  const personality = personalities[name]!;
  const all = (value: number) => opinions(value, value, value, value);

  test('approves: one step of any weighted opinion decides at the threshold', () => {
    for (const opinion of opinionNames) {
      const lower = { ...all(threshold), [opinion]: threshold - 1 };
      expect(approves(personality, lower), opinion).toBe(personality[opinion] === 0);
    }
  });
});

test('approves: the threshold lies between two values one point of the mean apart', () => {
  const half: Personality = { ...personalities.neutral!, threshold: 50 };
  // 40 * 50 + 40 * 50 + 10 * 50 + 10 * 50 = 50 * 100; one random point less makes 4,990.
  expect(approves(half, opinions(50, 50, 50, 50))).toBe(true);
  expect(approves(half, opinions(50, 50, 50, 49))).toBe(false);
  expect(approves(half, opinions(50, 50, 49, 51))).toBe(true);
});

function opinions(technical: number, social: number, meme: number, random: number) {
  return { technical, social, meme, random };
}
