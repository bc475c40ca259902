/** decisions.ndjson: decision factors are consistent, and recording them changes nothing. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type AnySchema } from 'ajv';
import { completeScenario, simulate } from 'folkmoot/sim';
import { ajvOptions } from '../../../dist/engine/protocol/bundled/options.js';
import { DecisionLine, weighJudgement } from '../../../dist/sim/measure/decisions.js';
import { temporaryFolder } from '../../support/fixture.js';
import { fc, forAll } from '../../support/property.js';
import { csvRows, linesOf } from '../../support/runs.js';

const names = ['content', 'neighbours', 'memes', 'whim'] as const;
const sumOf = (of: Record<(typeof names)[number], number>) =>
  names.reduce((sum, name) => sum + of[name], 0);

const town = (decisions: boolean) =>
  completeScenario({
    title: 'Reasons',
    agents: [
      { group: 'town', count: 18, producers: 2 },
      { group: 'crowd', count: 16, personality: ['memetic', 'dramatic'] },
      { group: 'sober', count: 6, strategy: { kind: 'honest' } },
      { group: 'herd', count: 6, strategy: { kind: 'follower', hears: 1 } },
      { group: 'bloc', count: 4, strategy: { kind: 'bloc' } },
      { group: 'own', count: 4, strategy: { kind: 'script', module: './own.ts' } },
    ],
    social: { memes: { rate: 2 } },
    measure: { votes: true, decisions },
    length: { blocks: 10 },
  });

const script = `export const vote = (view) =>
  ({ do: 'vote', decision: 'approve', ...(view.me.ordinal % 2 ? { reason: 'odd one' } : {}) });
`;

async function runOf(decisions: boolean) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'own.ts'), script);
  const out = join(folder, 'run');
  return { out, result: await simulate(town(decisions), { out, folder, verifier: 'inline' }) };
}

test('decisions: has a consistent line for each counted vote', async () => {
  const { out, result } = await runOf(true);
  const plain = await runOf(false);
  expect(plain.result.digest).toBe(result.digest);
  expect(existsSync(join(plain.out, 'decisions.ndjson'))).toBe(false);
  const text = readFileSync(join(out, 'decisions.ndjson'), 'utf8');
  const lines = linesOf(text).map((line) => JSON.parse(line) as DecisionLine);
  const votes = csvRows(join(out, 'votes.csv'));
  expect(lines).toHaveLength(votes.length);
  const isLine = new Ajv(ajvOptions).compile(DecisionLine as AnySchema);
  for (const [at, line] of lines.entries()) {
    const row = votes[at]!;
    expect(isLine(line), JSON.stringify(isLine.errors)).toBe(true);
    expect([line.block, line.agent, line.decision].map(String)).toEqual([
      ...[row.block, row.agent, row.decision],
    ]);
    expect(line.memes).toHaveLength(Number(row.memes_heard));
    if (line.basis !== 'judgement') continue;
    const { score, threshold, contributions, opinions, without, shapley_24ths } = line;
    expect(line.decision).toBe(score! >= threshold! ? 'approve' : 'reject');
    expect(without!.memes).toBe(row.without_memes);
    const indifferent = score! - sumOf(contributions!);
    const start = indifferent >= threshold! ? 24 : 0;
    expect(start + sumOf(shapley_24ths!)).toBe(line.decision === 'approve' ? 24 : 0);
    for (const name of names) {
      expect(opinions![name]).toBeGreaterThanOrEqual(0);
      const left = score! - contributions![name] >= threshold! ? 'approve' : 'reject';
      expect(without![name]).toBe(left);
    }
  }
  const bases = (group: string) =>
    new Set(lines.filter((line) => line.group === group).map(({ basis }) => basis));
  expect([bases('town'), bases('sober')]).toEqual([new Set(['judgement']), new Set(['content'])]);
  expect([bases('herd').has('neighbours'), bases('bloc')]).toEqual([true, new Set(['unknown'])]);
  expect(bases('own')).toEqual(new Set(['script', 'unknown']));
  expect(lines.find(({ basis }) => basis === 'script')!.reason).toBe('odd one');
  // Some votes were turned by one meme, which the agent had received.
  const turned = lines.filter(({ turned_by }) => turned_by && turned_by.length > 0);
  expect(turned.length).toBeGreaterThan(0);
  for (const { turned_by, memes } of turned)
    expect(memes).toEqual(expect.arrayContaining(turned_by!));
});

const percent = fc.integer({ min: 0, max: 100 });
const factors = ['technical', 'social', 'meme', 'random'] as const;
const four = fc.record({ technical: percent, social: percent, meme: percent, random: percent });

/** Every order in which the four factors can be added. */
function orders(of: readonly string[]): string[][] {
  if (of.length === 0) return [[]];
  return of.flatMap((one) =>
    orders(of.filter((other) => other !== one)).map((rest) => [one, ...rest]),
  );
}

test('decisions: the Shapley value is the mean over all orders of factors', () => {
  forAll([four, four, percent], (weights, opinions, threshold) => {
    const personality = { ...weights, threshold } as never;
    const approves = (on: Record<string, number>) =>
      Number(factors.reduce((sum, of) => sum + weights[of] * on[of]!, 0) >= 100 * threshold);
    const expected: Record<string, number> = { technical: 0, social: 0, meme: 0, random: 0 };
    for (const order of orders(factors)) {
      const on: Record<string, number> = { technical: 50, social: 50, meme: 50, random: 50 };
      for (const factor of order) {
        const before = approves(on);
        on[factor] = opinions[factor as 'meme'];
        expected[factor]! += approves(on) - before;
      }
    }
    const { technical, social, meme, random } = expected;
    const basis = { by: 'judgement', personality, opinions, memes: [], hasMeme: false } as const;
    expect(weighJudgement(basis).shapley_24ths).toEqual({
      ...{ content: technical, neighbours: social, memes: meme, whim: random },
    });
  });
});

test('decisions: a meme turned a vote if the vote would differ without the meme', () => {
  const personality = { technical: 0, social: 0, meme: 100, random: 0, threshold: 60 } as never;
  const opinions = { technical: 50, social: 50, meme: 66, random: 50 };
  const meme = (id: string, stance: 'approve' | 'reject') => ({ id, stance, text: '' });
  const memes = [meme('a', 'approve'), meme('b', 'approve'), meme('c', 'reject')];
  const { turned_by, score } = weighJudgement({
    ...{ by: 'judgement', personality, opinions, memes, hasMeme: false },
  });
  expect([score, turned_by]).toEqual([6_600, ['a', 'b']]);
});
