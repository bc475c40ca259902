/** A simulation end to end: tables, measures, report, and a repetition. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { completeScenario, type Scenario, simulate, writeRunReport } from 'folkmoot/sim';
import { temporaryFolder, testNetwork } from '../../support/fixture.js';

const scenario = (changes: Record<string, unknown> = {}): Scenario =>
  completeScenario({
    title: 'Two camps',
    signatures: 'none',
    agents: [
      { group: 'town', count: 40, producers: 3 },
      { group: 'crowd', count: 12, strategy: { kind: 'contrarian' } },
      { group: 'liars', count: 3, strategy: { kind: 'equivocator' } },
    ],
    consensus: { voting_period_ms: 10_000 },
    social: { memes: { rate: 4 }, alliances: { rate: 4 } },
    measure: { votes: true },
    length: { blocks: 12 },
    ...changes,
  });

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');
const rows = (folder: string, name: string): Record<string, string>[] =>
  parse(read(folder, name), { columns: true, record_delimiter: '\n' });

async function kept() {
  const out = temporaryFolder();
  return { out, ...(await simulate(scenario(), { out })) };
}

test('simulate: votes.csv equals the votes stored by the network', async () => {
  const { out } = await kept();
  const votes = rows(out, 'votes.csv');
  const blocks = rows(out, 'blocks.csv');
  const agents = rows(out, 'agents.csv');
  const genesis = { network_id: 'folkmoot-sim' };
  const { network } = await testNetwork({ path: join(out, 'network'), genesis, verifier: 'off' });
  expect([...network.read.records('votes')]).toHaveLength(votes.length);
  for (const { block, agent, decision, voted_ms, after_ms, meme_references } of votes) {
    const { block_hash, proposed_ms } = blocks[Number(block)]!;
    const voter = network.read.record('agents', agents[Number(agent)]!.agent_id!)!;
    const { ordinal } = network.read.record('blocks', block_hash!)!.context;
    const vote = network.read.record('votes', [ordinal, voter.ordinal])!;
    expect([vote.decision, vote.meme_references.length]).toEqual([
      decision,
      Number(meme_references),
    ]);
    expect(Number(voted_ms)).toBe(Number(proposed_ms) + Number(after_ms));
  }
});

test('simulate: the saved scenario and seed reproduce digest, tables and report', async () => {
  const first = await kept();
  const again = temporaryFolder();
  const scenarioAgain = completeScenario(JSON.parse(read(first.out, 'scenario.json')));
  const second = await simulate(scenarioAgain, { out: again, seed: first.seed });
  expect(second.digest).toBe(first.digest);
  expect(second.measures).toEqual(first.measures);
  const { measures } = await simulate(scenario(), { store: 'memory' });
  expect(measures).toEqual(first.measures);
  for (const name of ['blocks', 'agents', 'groups', 'series', 'votes']) {
    expect(read(again, `${name}.csv`), name).toBe(read(first.out, `${name}.csv`));
  }
  await writeRunReport(first.out);
  await writeRunReport(again);
  expect(read(again, 'report.html')).toBe(read(first.out, 'report.html'));
});
