/** Networks that decide by a module: replays, reads of the past, and refusals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { History, KeptNetwork, Network } from 'folkmoot';
import { completeScenario, simulate } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { createVerifier } from '../../../dist/engine/crypto/pool.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../support/paths.js';
import { replayHere } from '../../support/runs.js';

const example = (name: string) => readFileSync(join(root, 'examples/rules', name), 'utf8');

/** Decides early by a counter, and by chance that the block's hash determines. */
const early = `
const sums = () => ({ approve: 0, reject: 0 });
const decide = ({ approve, reject }, total, over) => {
  const standings = { drawn: draw('a') % 100 };
  if (5 * approve > 3 * total) return { status: 'finalized', standings };
  if (5 * reject >= 2 * total) return { status: 'rejected' };
  return { status: over ? 'expired' : null };
};
const total = (electors) => electors.reduce((sum, { weight }) => sum + weight, 0);
export default {
  decidesEarly: true,
  tally({ electors, votes, over }) {
    const sum = sums();
    for (const { elector, decision } of votes) sum[decision] += electors[elector].weight;
    return decide(sum, total(electors), over);
  },
  counter(electors) {
    const [sum, all] = [sums(), total(electors)];
    return {
      add: ({ elector, decision }) => { sum[decision] += electors[elector].weight; },
      verdict: (over) => decide(sum, all, over),
    };
  },
};`;

const scenarioOf = (source: string, parameters?: Record<string, number>) =>
  completeScenario({
    title: 'A rule of its own',
    agents: [{ group: 'town', count: 30, producers: 2 }],
    consensus: { policy: 'module', rule: { source, ...(parameters ? { parameters } : {}) } },
    length: { blocks: 6 },
  });

test.each([
  ['a weight rule', example('sixty.js')],
  ['an early counter', early],
  ['a tally', example('ranked.js')],
])('module: a run with %s replays, and repeats its digest', async (_, source) => {
  const scenario = scenarioOf(source);
  const out = join(temporaryFolder(), 'run');
  const first = await simulate(scenario, { out });
  const again = await simulate(scenario, { store: 'memory' });
  expect(again.digest).toBe(first.digest);
  expect(first.measures.votes).toBeGreaterThan(60);
  const replayed = await replayHere(join(out, 'network'));
  expect(replayed).toMatchObject({ match: true, digest: first.digest });
  const history = History.open({ path: join(out, 'network') });
  const { position } = await history.at(history.end.seq);
  expect(position.digest).toBe(first.digest);
  await history.close();
  const kept = KeptNetwork.open({ path: join(out, 'network') });
  const { block_height } = kept.read.networkState();
  expect(block_height).toBeGreaterThan(0);
  await kept.close();
});

test('module: a parameter of the rule changes the decisions', async () => {
  const run = (parameters: Record<string, number>) =>
    simulate(scenarioOf(example('sixty.js'), parameters), { store: 'memory' });
  const [low, high] = [await run({ for_bps: 1 }), await run({ for_bps: 9_999 })];
  expect(low.measures.finalized).toBeGreaterThan(high.measures.finalized!);
});

test('module: a scenario with an invalid module is refused at its source', async () => {
  // Completing the scenario finds the problem if the sandbox is loaded already.
  const run = async () => simulate(scenarioOf('export default {'), { store: 'memory' });
  await expect(run()).rejects.toThrow('consensus.rule.source');
});

test('module: a network with an invalid module is not created', async () => {
  const verifier = createVerifier('inline');
  const genesis = { network_id: 'bad', policy: 'module', rule: { source: 'export default 1' } };
  const opened = Network.open({ memory: true, genesis, verifier });
  await expect(opened).rejects.toThrow('/rule/source');
  await verifier.close();
});
