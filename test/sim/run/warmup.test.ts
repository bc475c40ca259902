/** Measures with a warm-up equal independent computations from the tables of a run without one. */
import { join } from 'node:path';
import { completeScenario, simulate } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows } from '../../support/runs.js';
import { town } from './town.js';

type Cells = Record<string, string>;

const camps = (measure: Record<string, unknown>) =>
  completeScenario({
    title: 'two camps',
    signatures: 'none',
    agents: [
      { group: 'town', count: 24, producers: 3 },
      { group: 'crowd', count: 9, strategy: { kind: 'contrarian' } },
    ],
    consensus: { voting_period_ms: 8_000 },
    social: { memes: { rate: 4 }, alliances: { rate: 4 } },
    length: { blocks: 24 },
    measure: { votes: true, every_ms: 1_000, ...measure },
  });

async function kept(measure: Record<string, unknown>) {
  const out = join(temporaryFolder(), 'run');
  const result = await simulate(camps(measure), { out, verifier: 'off' });
  const table = (name: string) => csvRows(join(out, name)) as Cells[];
  const [blocks, votes, series] = ['blocks.csv', 'votes.csv', 'series.csv'].map(table);
  return { ...result, blocks: blocks!, votes: votes!, series: series! };
}

type Kept = Awaited<ReturnType<typeof kept>>;

/** The run without a warm-up, made once by the first test that needs it. */
let made: Promise<Kept> | undefined;
const wholeRun = (): Promise<Kept> => {
  made ??= kept({});
  return made;
};

const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

function agreement(votes: Cells[]): number {
  let pairs = 0;
  let alike = 0;
  for (const [index, one] of votes.entries()) {
    for (const other of votes.slice(index + 1)) {
      pairs += 1;
      if (one.decision === other.decision) alike += 1;
    }
  }
  return alike / pairs;
}

/** Measures of the whole run from an instant on. */
function measuredFrom(run: Kept, fromMs: number) {
  const blocks = run.blocks.filter(({ proposed_ms }) => Number(proposed_ms) >= fromMs);
  const numbers = new Set(blocks.map(({ number }) => number));
  const votes = run.votes.filter(({ block }) => numbers.has(block!));
  const closed = blocks.filter(({ status }) => status !== 'voting');
  const ended = (status: string) => closed.filter((block) => block.status === status);
  const finality = ended('finalized').map(({ finality_ms }) => Number(finality_ms));
  const known = votes.filter(({ without_memes }) => without_memes !== '');
  const turned = known.filter(({ without_memes, decision }) => without_memes !== decision);
  const perBlock = closed.map(({ number }) => votes.filter(({ block }) => block === number));
  const transactions = mean(ended('finalized').map(({ transactions: count }) => Number(count)));
  const memesBefore = run.series.findLast((r) => r.measure === 'memes' && Number(r.t_ms) <= fromMs);
  return {
    proposed: blocks.length,
    finalized: ended('finalized').length,
    rejected: ended('rejected').length,
    expired: ended('expired').length,
    orphaned: ended('orphaned').length,
    open_at_end: blocks.length - closed.length,
    finalized_share: ended('finalized').length / closed.length,
    finality_mean_ms: mean(finality),
    votes: votes.length,
    votes_per_block: mean(perBlock.map(({ length }) => length)),
    participation: mean(closed.map(({ electors, votes: cast }) => Number(cast) / Number(electors))),
    transactions: transactions * finality.length,
    tps: (transactions * finality.length * 1000) / (run.virtual_ms - fromMs),
    agreement: mean(perBlock.filter(({ length }) => length > 1).map(agreement)),
    influence: turned.length / known.length,
    meme_references: votes.reduce((sum, vote) => sum + Number(vote.meme_references), 0),
    memes: run.measures.memes! - Number(memesBefore?.value ?? 0),
  };
}

function expectSame(found: Record<string, unknown>, expected: Record<string, number>) {
  for (const [name, value] of Object.entries(expected)) {
    expect(found[name], name).toBeCloseTo(value, 5);
  }
}

test('warmup_ms: keeps the run, and measures the time after the warm-up', async () => {
  const whole = await wholeRun();
  const late = await kept({ warmup_ms: 40_000 });
  expect([late.digest, late.measured_from_ms]).toEqual([whole.digest, 40_000]);
  expectSame(late.measures, measuredFrom(whole, 40_000));
  // Guards against an empty comparison.
  expect(late.measures.proposed!).toBeLessThan(whole.measures.proposed! - 3);
  expect(late.measures.memes!).toBeGreaterThan(3);
  expect(late.measures.messages_sent!).toBeLessThan(whole.measures.messages_sent!);
  expect(late.measures.reputation_mean).toBe(whole.measures.reputation_mean);
});

test('warmup_blocks: ends after the given number of closed blocks', async () => {
  const whole = await wholeRun();
  const late = await kept({ warmup_blocks: 7 });
  const closed = whole.blocks.filter(({ status }) => status !== 'voting');
  const times = closed.map(({ closed_ms }) => Number(closed_ms)).sort((a, b) => a - b);
  expect([late.digest, late.measured_from_ms]).toEqual([whole.digest, times[6]]);
  const { memes, ...expected } = measuredFrom(whole, late.measured_from_ms!);
  expectSame(late.measures, expected);
  // The series has whole seconds, so the expected count may be larger.
  expect(late.measures.memes!).toBeLessThanOrEqual(memes);
});

test('warm-up: marks table rows, and the unmarked rows add up to the measures', async () => {
  const { blocks, votes, measures } = await kept({ warmup_ms: 40_000 });
  expect(blocks.map(({ warmup }) => warmup)).toEqual(
    blocks.map(({ proposed_ms }) => String(Number(Number(proposed_ms) < 40_000))),
  );
  const marked = new Map(blocks.map(({ number, warmup }) => [number, warmup]));
  expect(votes.every(({ block, warmup }) => marked.get(block!) === warmup)).toBe(true);
  expect(votes.filter(({ warmup }) => warmup === '0')).toHaveLength(measures.votes!);
});

test('warm-up: conditions use measured values, the length uses the whole run', async () => {
  const until = { measure: 'finalized', at_least: 2 } as const;
  const options = { store: 'memory', verifier: 'off' } as const;
  const measure = { warmup_ms: 12_000 };
  const late = await simulate(town({ length: { until }, measure }), options);
  expect([late.measures.finalized, late.ended_by]).toEqual([2, 'until finalized at_least 2']);
  const early = await simulate(town({ length: { until } }), options);
  expect(late.virtual_ms).toBeGreaterThan(early.virtual_ms);
  const blocks = await simulate(town({ length: { blocks: 3 }, measure }), options);
  expect(blocks.virtual_ms).toBeLessThan(late.virtual_ms);
  expect([blocks.measures.proposed, blocks.ended_by]).toEqual([1, 'blocks']);
});

test('warm-up: a warm-up that never ends leaves no measures, and the run reports it', async () => {
  const scenario = town({ measure: { warmup_ms: 90_000 }, length: { blocks: 2 } });
  const { measures, measured_from_ms, censored, verdict } = await simulate(scenario, {
    store: 'memory',
    verifier: 'off',
  });
  expect([measured_from_ms, measures.proposed, measures.tps, verdict]).toEqual([
    ...[null, 0, null, 'pass'],
  ]);
  expect(censored).toContainEqual(expect.stringMatching(/^warm-up /));
});

test.each([
  [{ warmup_ms: 5, warmup_blocks: 5 }, {}, /^measure has warmup_ms and warmup_blocks/],
  [{ warmup_ms: 9_000 }, { virtual_ms: 9_000 }, /^measure.warmup_ms is 9000; expected less/],
  [{ warmup_blocks: 9 }, { blocks: 9 }, /^measure.warmup_blocks is 9; expected less/],
  [{ warmup_ms: 0 }, {}, /^measure.warmup_ms is 0; expected .* from 1/],
])('warm-up: refuses %j with length %j', (measure, length, message) => {
  expect(() => completeScenario({ ...town(), measure, length })).toThrow(message);
});
