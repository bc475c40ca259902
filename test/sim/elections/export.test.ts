/** `folkmoot events --format preflib`: exported ballots are the orders of the election data. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, loadScenario, simulate, withValues } from 'folkmoot/sim';
import { exportPrefLib } from '../../../dist/cli/commands/events/preflib.js';
import { findDataType, readElection } from '../../../dist/sim/elections/election-data.js';
import { toPreference } from '../../../dist/sim/elections/rule-ballots.js';
import { temporaryFolder } from '../../support/fixture.js';
import { openForReading } from '../../support/runs.js';

/** Runs the scenario `capital` by a rule, and opens its network. */
async function hold(policy: string) {
  const { raw, folder } = loadScenario('capital');
  const changes = [
    ['consensus.policy', policy],
    ['length.blocks', 2],
    ['signatures', 'none'],
  ] as const;
  const scenario = completeScenario(withValues(raw, changes), folder);
  const out = join(temporaryFolder(), 'run');
  await simulate(scenario, { folder, out });
  const store = openForReading(join(out, 'network'));
  onTestFinished(() => store.close());
  const all = { from: 1, to: store.meta()!.event_seq, agents: new Set<string>(), labels: {} };
  return { store, all, folder };
}

const read = (file: string) => readElection(readFileSync(file, 'utf8'), findDataType(file));
const ordersOf = ({ ballots }: ReturnType<typeof read>) =>
  Object.fromEntries(ballots.map(({ count, ballot }) => [JSON.stringify(ballot.tiers), count]));

test.each([
  ['schulze', 'soc', { '[[0],[1],[2],[3]]': 42, '[[1],[2],[3],[0]]': 26 }],
  ['plurality', 'soi', { '[[0]]': 42, '[[1]]': 26, '[[2]]': 15, '[[3]]': 17 }],
  ['approval', 'toc', { '[[0],[1,2,3]]': 42, '[[1],[0,2,3]]': 26 }],
  ['score', 'soc', { '[[0],[1],[2],[3]]': 42, '[[1],[2],[3],[0]]': 26 }],
])('ballots of the rule %s become a file of type %s per block', async (policy, type, orders) => {
  const { store, all, folder } = await hold(policy);
  const out = join(temporaryFolder(), 'ballots');
  await exportPrefLib(store, { ...all, block: undefined, out });
  const files = readdirSync(out).sort();
  expect(files).toEqual([
    expect.stringMatching(new RegExp(`^block-1-[0-9a-f]{12}\\.${type}$`)),
    expect.stringMatching(new RegExp(`^block-2-[0-9a-f]{12}\\.${type}$`)),
  ]);
  const data = read(join(folder, 'elections/tennessee.soc'));
  for (const file of files) {
    const found = read(join(out, file));
    expect([found.alternatives, found.voters]).toEqual([data.alternatives, 100]);
    expect(ordersOf(found)).toMatchObject(orders);
    if (type === 'soc') expect(ordersOf(found)).toEqual(ordersOf(data));
  }
  const block = files[1]!.slice('block-2-'.length, -'.soc'.length);
  const one = join(temporaryFolder(), `one.${type}`);
  await exportPrefLib(store, { ...all, block, out: one });
  expect(ordersOf(read(one))).toEqual(ordersOf(read(join(out, files[1]!))));
  const agents = new Set([`agent_${'0'.repeat(32)}`]);
  const none = exportPrefLib(store, { ...all, agents, block, out: undefined });
  await expect(none).rejects.toMatchObject({ problem: 'INVALID_VALUE' });
  const unknown = exportPrefLib(store, { ...all, block: 'ffff', out: undefined });
  await expect(unknown).rejects.toMatchObject({ problem: 'INVALID_VALUE' });
});

test('ballots without a preference over the options are left out', () => {
  const options = ['a', 'b', 'c'];
  const tiersOf = (ballot: unknown) => toPreference(ballot, options)?.tiers;
  expect(tiersOf({ votes: 3 })).toBeUndefined();
  expect(tiersOf('a')).toBeUndefined();
  expect(tiersOf({ approved: [] })).toEqual([[0, 1, 2]]);
  expect(tiersOf({ approved: ['c', 'a'] })).toEqual([[2, 0], [1]]);
  expect(tiersOf({ scores: { b: 4, c: 4 } })).toEqual([[1, 2], [0]]);
  expect(tiersOf({ ranking: ['c', 'x', 'b'] })).toEqual([[2], [1]]);
  expect(tiersOf({ ranking: [['c', 'a'], 'b'] })).toEqual([[2, 0], [1]]);
  expect(tiersOf({ ranking: ['c', ['x', 'b'], ['y', 'z']] })).toEqual([[2], [1]]);
});
