/** Swarms: scenarios generated from a number, judged, and shrunk if the network has a bug. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { getConditions } from '../../../dist/sim/scenario/interventions.js';
import { draw } from '../../../dist/sim/swarm/draw.js';
import { expectsProgress } from '../../../dist/sim/swarm/failures.js';
import { folkmoot } from '../../support/cli.js';
import { counts, full } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { linesOf } from '../../support/runs.js';
import { type Edit, mutant } from './mutant.js';

describe('swarm: generation', () => {
  const drawn = Array.from({ length: 300 }, (_, index) => index + 1).map((number) => draw(number));

  test('swarm: generates the scenario from the number alone', () => {
    for (const number of [1, 77, 300]) expect(draw(number)).toEqual(drawn[number - 1]);
    const texts = new Set(drawn.map(({ raw }) => JSON.stringify({ ...raw, title: '', seed: '' })));
    expect(texts.size).toBe(300);
  });

  test('swarm: generates small scenarios', () => {
    for (const { scenario } of drawn) {
      expect(scenario.population).toBeLessThanOrEqual(60);
      expect(scenario.agents.length).toBeLessThanOrEqual(5);
      const { blocks } = scenario.length;
      const [until] = getConditions(scenario.length);
      expect(blocks ?? until?.at_least).toBeLessThanOrEqual(12);
    }
  });

  test('swarm: expects progress of some scenarios', () => {
    const expected = drawn.filter(({ scenario }) => expectsProgress(scenario)).length;
    expect(expected).toBeGreaterThan(30);
    expect(expected).toBeLessThan(270);
  });
});

test(`swarm: ${counts.swarmSeeds} scenarios pass and cover the features`, async () => {
  const out = join(temporaryFolder(), 'failure');
  const args = ['swarm', '--seeds', `${counts.swarmSeeds}`, '--jobs', '2', '--out', out, '--json'];
  const { code, stdout, stderr } = await folkmoot(args);
  expect(code, stderr).toBe(0);
  const { coverage, ...result } = JSON.parse(stdout);
  const twice = Math.floor(counts.swarmSeeds / 10);
  expect(result).toMatchObject({ ran: counts.swarmSeeds, twice, failure: null });
  expect(Object.keys(coverage)).toEqual([
    ...[
      'policy',
      'weights',
      'strategy',
      'fault',
      'latency',
      'topology',
      'schedule',
      'signatures',
      'limits',
      'stay',
      'uplink',
    ],
  ]);
  const policies = Object.values<number>(coverage.policy);
  expect(policies.reduce((sum, count) => sum + count)).toBe(counts.swarmSeeds);
  if (counts.swarmSeeds < 200) return;
  for (const [what, drawn] of Object.entries<Record<string, number>>(coverage)) {
    for (const [name, count] of Object.entries(drawn)) {
      expect(count, `${what} ${name}`).toBeGreaterThan(0);
    }
  }
});

type Planted = [bug: string, first: number, code: number, kind: string, edit: Edit];
const row = (...of: Planted): Planted => of;
const bft = 'engine/rules/library/bft.js';

/** The bug that is found fastest. The others run with the full counts only. */
const quick = new Set(['two thirds suffice to finalize']);

/** `first` is shortly before a number that shows the bug, to keep the test fast. */
const planted = [
  row('two thirds suffice to finalize', 70, 11, 'safety', [
    bft,
    '3 * approve > 2 * total',
    '3 * approve >= 2 * total',
  ]),
  row('nothing is ever finalized', 1, 11, 'safety', [
    bft,
    '3 * approve > 2 * total',
    '3 * approve > 3 * total',
  ]),
  row('reasons of votes depend on the clock of the machine', 10, 12, 'nondeterminism', [
    'sim/agents/actions.js',
    'ballot.reason ??',
    'String(process.hrtime.bigint()) ??',
  ]),
  row('honest agents do not vote', 1, 10, 'liveness', [
    'sim/agents/strategies.js',
    'const decision = block.soundness >= soundness',
    'if (block.soundness >= 0) return; const decision = block.soundness >= soundness',
  ]),
  row('a crash in the engine', 1, 13, 'crash', [
    bft,
    'if (3 * approve > 2 * total)',
    "if (approve > 3) throw new Error('too many'); if (3 * approve > 2 * total)",
  ]),
];

const chosen = planted.filter(([bug]) => full || quick.has(bug));
test.each(chosen)('swarm: %s', async (_, first, code, kind, edit) => {
  const program = mutant(edit);
  const out = join(temporaryFolder(), 'failure');
  const args = ['swarm', '--first', `${first}`, '--seeds', '200', '--jobs', '2', '--out', out];
  const found = await folkmoot([...args, '--json'], { program });
  expect(found.code, found.stderr).toBe(code);
  const { failure } = JSON.parse(found.stdout);
  expect(failure).toMatchObject({ kind, file: join(out, 'scenario.yaml') });
  const text = readFileSync(failure.file, 'utf8');
  expect(linesOf(text)[2]).toBe(`# ${failure.command}`);
  const { agents } = parse(text) as { agents: { count: number }[] };
  const population = agents.reduce((sum, { count }) => sum + count, 0);
  expect(population, text).toBeLessThanOrEqual(5);

  // The printed scenario shows the bug with the mutant, but not with the original.
  const again = failure.command.split(' ').slice(2);
  const shown = await folkmoot(again, { program });
  expect(shown.code).toBe(code);
  if (kind === 'safety') expect(shown.stdout).toMatch(/^ended by +safety$/m);
  expect([0, 10]).toContain((await folkmoot(again)).code);
});
