/** Six studies from the literature as shipped scenarios, with the results of theory. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  completeScenario,
  type Figures,
  findScenario,
  loadScenario,
  type SimResult,
  simulate,
  withValues,
} from 'folkmoot/sim';
import { checkDeterminism } from 'folkmoot/testing';

const studies = {
  ...{ 'leader-failure': 'leaders', cascade: 'cascade', 'sybil-waves': 'sybil', cartel: 'cartel' },
  ...{ eclipse: 'eclipse', deffuant: 'deffuant' },
} as const;
const names = Object.keys(studies) as (keyof typeof studies)[];

type Change = readonly [path: string, value: unknown];
interface Outcome extends SimResult {
  own: Figures;
}

/** Runs a study with some values changed; returns its measures and those of a group's script. */
async function outcome(name: string, group: string, ...changes: Change[]): Promise<Outcome> {
  const { raw, folder } = loadScenario(name);
  const scenario = completeScenario(withValues(raw, changes), folder);
  const result = await simulate(scenario, { store: 'memory', verifier: 'off', folder });
  expect(result.broken).toBe(null);
  return { ...result, own: result.reported.groups[group]! };
}

/** Expects a share of `among` trials within a number of standard errors. */
function near(share: number, expected: number, among: number, errors = 4) {
  const error = Math.sqrt((expected * (1 - expected)) / among);
  expect(Math.abs(share - expected)).toBeLessThan(errors * error);
}

test.each(names)('%s: its file and its script are short, without comments', (name) => {
  const scenario = findScenario(name)!;
  const script = join(dirname(scenario), 'scripts', `${studies[name]}.ts`);
  const said = readFileSync(scenario, 'utf8').replace(/#.*$/gm, '');
  const code = readFileSync(script, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const countLines = (text: string) => text.split('\n').filter((line) => line.trim() !== '').length;
  expect(countLines(said)).toBeLessThanOrEqual(40);
  // An exchange that is atomic in spite of lost messages takes more.
  expect(countLines(code)).toBeLessThanOrEqual(name === 'deffuant' ? 70 : 40);
});

test.each(names)('%s: is deterministic', async (name) => {
  const { scenario, folder } = loadScenario(name, [['length', { virtual_ms: 75_000 }]]);
  const { same, difference } = await checkDeterminism(scenario, { folder });
  expect([same, difference]).toEqual([true, null]);
});

test.each([3, 5])('leader-failure: misses the slots of %i failed leaders of ten', async (down) => {
  const { own, measures } = await outcome('leader-failure', 'leaders', [
    'faults.0.whom.0.count',
    down,
  ]);
  expect(own.missed_share).toBeCloseTo(down / 10, 10);
  // A slot's block is proposed when the slot begins, and arrives shortly after.
  expect(own.longest_gap_ms! % 5_000).toBeLessThan(1_000);
  expect(own.longest_gap_ms).toBeGreaterThan(9_000);
  const calm = await outcome('leader-failure', 'leaders', ['faults', []]);
  expect(calm.own.missed_share).toBe(0);
  const ratio = measures.finality_p50_ms! / calm.measures.finality_p50_ms!;
  expect(Math.abs(ratio - 1)).toBeLessThan(0.1);
});

test.each([
  ['bft', 55, 60],
  ['majority', 75, 80],
] as const)('sybil-waves: %s decides with up to %i electors', async (policy, last, first) => {
  const { own } = await outcome('sybil-waves', 'sybils', ['consensus.policy', policy]);
  expect(own.keys).toBe(45);
  expect(own.largest_final).toBeGreaterThanOrEqual(last);
  expect(own.largest_final).toBeLessThan(first);
  expect(own.smallest_stopped).toBeGreaterThan(last);
  expect(own.smallest_stopped).toBeLessThanOrEqual(first);
});

test.each([
  [0.2, false],
  [0.9, true],
])('cartel: at a price of %d, captures the network: %s', async (price, captured) => {
  const path = 'agents.cartel.strategy.parameters.price';
  const { own, measures } = await outcome('cartel', 'town', [path, price]);
  near(own.sold_share!, price, 54);
  expect(measures.unsound_finalized_share).toBe(captured ? 1 : 0);
  expect(measures.sound_finalized_share).toBe(captured ? 0 : 1);
  expect(measures.alliances! > 0).toBe(true);
});

test('cartel: captures at least as many runs with `alliance_bonus` as with `equal`', async () => {
  const changes = [0.35, 0.4, 0.45, 0.5, 0.55].map(
    (price) => ['agents.cartel.strategy.parameters.price', price] as const,
  );
  const captured = async (weights: string) => {
    const runs: number[] = [];
    for (const change of changes) {
      const { measures } = await outcome('cartel', 'town', ['consensus.weights', weights], change, [
        'length.virtual_ms',
        90_000,
      ]);
      runs.push(measures.unsound_finalized_share!);
    }
    return runs.filter((share) => share > 0.5).length;
  };
  expect(await captured('alliance_bonus')).toBeGreaterThanOrEqual(await captured('equal'));
});

test('eclipse: attackers fill tables in proportion to their rate', async () => {
  const rate = 'agents.attackers.strategy.parameters.rate';
  const quiet = await outcome('eclipse', 'honest', [rate, 1]);
  expect(quiet.own.eclipsed_share).toBeLessThan(0.03);
  expect(quiet.measures.finalized_share).toBeGreaterThan(0.95);
  const loud = await outcome('eclipse', 'honest', [rate, 16]);
  const share = (15 * 16) / (15 * 16 + 44);
  // All tables hold the latest announcements, so a few of about 30 blocks form one sample.
  expect(Math.abs(loud.own.eclipsed_share! - share ** 4)).toBeLessThan(0.2);
  expect(loud.measures.finalized_share).toBeLessThan(0.3);
});

const slow = { distribution: 'lognormal', mean_ms: 700, spread_ms: 700 };
const crash = { kind: 'crash', start_ms: 30_000, length_ms: 5_000, whom: [{ share: 0.2 }] };

test.each([
  ['scattered latencies', [['links.latency', slow]]],
  ['lost messages', [['links.loss', 0.1]]],
  ['a short crash', [['faults', [crash]]]],
] as [string, Change[]][])('deffuant: conserves the mean with %s', async (_, changes) => {
  const { own } = await outcome('deffuant', 'town', ...changes);
  expect(own.mean_drift).toBe(0);
});
