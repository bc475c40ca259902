/** Robustness audits: power and error by real runs, surviving conclusions, and the probe. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, simulate } from 'folkmoot/sim';
import { withValues } from '../../../dist/sim/scenario/problem.js';
import { type Arm, compareTwins, listTwins } from '../../../dist/sim/study/audit.js';
import { runCommand } from '../../support/command.js';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';

const quiet = {
  memes: { rate: 0 },
  discussion: { rate: 0 },
  alliances: { rate: 0 },
  breaks: { rate: 0 },
};

const jury = (strategy: object) => ({
  ...{ title: 'a jury', signatures: 'none', social: quiet, length: { blocks: 10 } },
  agents: [{ group: 'jury', count: 5, producers: 1, strategy }],
  deliberation: { rounds: 1 },
  consensus: { policy: 'majority', participation: 0, dormant_after: 0 },
});

/** A model whose answers depend on all wording and on chance, but not on the order of options. */
const noisy = `
const hash = (text) => {
  let state = 2166136261;
  for (let at = 0; at < text.length; at += 1) {
    state = Math.imul(state ^ text.charCodeAt(at), 16777619);
  }
  state = Math.imul(state ^ (state >>> 15), 2246822507);
  return ((state ^ (state >>> 13)) >>> 0) / 4294967296;
};
export function deliberate({ deliberation }, rng) {
  const { options } = deliberation.value;
  const labels = Array.isArray(options) ? options : Object.keys(options);
  const names = Array.isArray(options) ? options : Object.values(options);
  const approves = hash(JSON.stringify(deliberation) + rng.int(4294967296)) < 0.6;
  return { do: 'state', value: labels[names.indexOf(approves ? 'approve' : 'reject')] };
}
`;

/** Returns the comparisons of one audit with real runs. */
async function audit(strategy: object, name: string, seeds: number, folder?: string) {
  const raw = jury(strategy);
  const base = completeScenario(raw, folder);
  const run = async (scenario: typeof base): Promise<Arm> => {
    const records: Arm[number][] = [];
    for (let seed = 0; seed < seeds; seed += 1) {
      const how = { seed: `${name}/${seed}`, log: 'none', audit: false } as const;
      const { verdict, measures, reported } = await simulate(scenario, {
        ...how,
        ...(folder === undefined ? {} : { folder }),
      });
      records.push({ seed: `${seed}`, values: {}, verdict, measures, reported });
    }
    return records;
  };
  const twins = new Map<string, Arm>();
  for (const { name: twin, path, value } of listTwins(base)) {
    twins.set(twin, await run(completeScenario(withValues(raw, [[path, value]]), folder)));
  }
  expect([...twins.keys()]).toEqual(['order', 'labels', 'persona', 'paraphrase', 'threat']);
  const responses = ['reported.first_option', 'reported.accuracy_first'];
  return compareTwins(await run(base), twins, responses, 0.05);
}

test('audit: flags a planted first-option bias of 5 % with power .9', async () => {
  const strategy = { kind: 'mock', model: 'independent', p: 0.6, bias: 0.05 };
  let found = 0;
  for (let index = 0; index < counts.audits; index += 1) {
    const flagged = (await audit(strategy, `planted ${index}`, 20)).filter((one) => one.flagged);
    if (flagged.some(({ twin }) => twin === 'order')) found += 1;
    expect(flagged.every(({ twin }) => twin === 'order')).toBe(true);
  }
  expect(found / counts.audits).toBeGreaterThanOrEqual(0.9);
});

test('audit: flags a clean model in at most 5 % of audits', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'noisy.js'), noisy);
  let found = 0;
  let differing = 0;
  for (let index = 0; index < counts.audits; index += 1) {
    const all = await audit({ kind: 'script', module: 'noisy.js' }, `clean ${index}`, 8, folder);
    differing += all.filter(({ difference }) => difference !== 0).length;
    if (all.some((one) => one.flagged)) found += 1;
  }
  // The answers do differ between the twins.
  expect(differing).toBeGreaterThan(counts.audits);
  // At a rate of 5 %, more are flagged with a probability of 0.01.
  expect(found).toBeLessThanOrEqual(counts.audits === 12 ? 3 : 0.05 * counts.audits);
});

test('audit: says which conclusions survive, and asks the agents for their belief', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'jury.json');
  const strategy = { kind: 'mock', model: 'independent', p: 0.6, bias: 0 };
  const path = (name: string) => `agents.jury.strategy.${name}`;
  const sweep = {
    factors: [
      { path: path('p'), name: 'skill', values: [0.55, 0.9] },
      { path: path('bias'), name: 'bias', values: [0, 0.6] },
    ],
    ...{ replicates: 8, responses: ['reported.accuracy_first'], audit: 'none' },
    study: {
      effects: [
        { factor: 'skill', between: [0.55, 0.9] },
        { factor: 'bias', between: [0, 0.6] },
      ],
    },
  };
  writeFileSync(file, JSON.stringify({ ...jury(strategy), sweep }));
  const out = join(folder, 'audit');
  const args = ['study', 'audit', file, '--out', out, '--jobs', '1', '--probe', '--json'];
  const ended = await runCommand(args);
  expect(ended.code, ended.stderr).toBe(0);
  const { effects, comparisons, beliefs } = JSON.parse(ended.stdout);
  expect(effects).toMatchObject([
    { shown: true, lost_in: [], survives: true },
    { shown: true, lost_in: ['order'], survives: false },
  ]);
  const flagged = comparisons.filter((one: { flagged: boolean }) => one.flagged);
  expect(new Set(flagged.map(({ twin }: { twin: string }) => twin))).toEqual(new Set(['order']));
  expect(comparisons).toHaveLength(5 * 2);
  expect(beliefs).toHaveLength(5);
  const before = readFileSync(join(out, 'order', 'runs.csv'), 'utf8');
  const again = await runCommand(args);
  expect([again.code, again.stdout]).toEqual([0, ended.stdout]);
  expect(readFileSync(join(out, 'order', 'runs.csv'), 'utf8')).toBe(before);
});

test('audit: needs a deliberation, and runs a scenario without a sweep', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'jury.json');
  const strategy = { kind: 'mock', model: 'independent', p: 0.6, bias: 0.3 };
  writeFileSync(file, JSON.stringify(jury(strategy)));
  const args = ['--out', join(folder, 'audit'), '--replicates', '10', '--jobs', '1', '--json'];
  const ended = await runCommand(['study', 'audit', file, ...args]);
  expect(ended.code, ended.stderr).toBe(0);
  const { comparisons, effects } = JSON.parse(ended.stdout);
  expect(effects).toEqual([]);
  const [order] = comparisons;
  expect(order).toMatchObject({ twin: 'order', response: 'reported.first_option', pairs: 10 });
  expect(order.difference).toBeCloseTo(-0.3, 1);
  expect(comparisons.filter(({ twin }: { twin: string }) => twin === 'paraphrase')[0].pairs).toBe(
    10,
  );
  const plain = await runCommand(['study', 'audit', 'byzantine', ...args]);
  expect([plain.code, plain.stderr]).toEqual([2, expect.stringContaining('deliberation')]);
});
