/** Output of a saved run: strict CSV with the columns of the dictionary, and consistent totals. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { tables as dictionary, type MeasureName, type SimResult, sweepTables } from 'folkmoot/sim';
import { openTables, prepareOutput, writeResult } from '../../../dist/sim/run/output.js';
import { newPopulation } from '../../engine/helpers.js';
import { START_MS } from '../../support/citizens.js';
import { temporaryFolder } from '../../support/fixture.js';
import { agentsIn, type CollectorScenario, eventsOf, scenarioWith, timeOf } from './fixture.js';

type Finished = Parameters<typeof writeResult>[2];

/** Strict: equal columns in each row, quotes where required, LF only. */
function readTable(folder: string, name: string): Record<string, string>[] {
  const text = readFileSync(join(folder, name), 'utf8');
  expect(text.includes('\r'), name).toBe(false);
  expect(text.endsWith('\n'), name).toBe(true);
  const [header, ...rows] = parse(text, { record_delimiter: '\n' }) as string[][];
  expect(header, name).toEqual(Object.keys({ ...dictionary }[name as keyof typeof dictionary]));
  return rows.map((row) => Object.fromEntries(header!.map((column, i) => [column, row[i]!])));
}

const result = (finished: Finished): SimResult =>
  ({
    seed: '1',
    scenario: { title: 'a "run", kept' },
    measures: finished.measures,
    reported: { run: {}, groups: {} },
  }) as SimResult;

/** A saved run of four voters; the names need quoting. */
async function kept(folder: string, change: (scenario: CollectorScenario) => void = () => {}) {
  const { Collector } = await import('../../../dist/sim/measure/collector.js');
  const town = await newPopulation();
  const voters = await town.joinMany(3, ['validator', 'producer'], { name: 'a,"b" é' });
  const scenario = scenarioWith(['east', 'west'], 1_000);
  change(scenario);
  const agents = agentsIn(['east', 'west']);
  agents[0]!.name = 'He said "no, thanks"';
  agents[0]!.capabilities = ['validator', 'producer'];
  await prepareOutput(folder);
  const tables = openTables(folder, scenario);
  const collector = new Collector(scenario, agents, START_MS, { onRow: tables.onRow });
  for (let block = 0; block < 3; block += 1) {
    const hash = await town.open(voters[block]!, { parent_hash: town.head });
    await town.wait(700);
    await town.votes(voters, hash, block === 1 ? 'reject' : 'approve');
  }
  await town.vote(voters[0]!, await town.open(voters[0]!, { parent_hash: town.head }), 'approve');
  for (const event of eventsOf(town.network)) collector.event(event, timeOf(event));
  const finished = collector.finish(town.network.read, START_MS + town.now);
  tables.finish();
  await writeResult(folder, result(finished), finished, [[1], [0]]);
  return finished.measures;
}

test('tables: have the columns of the dictionary, and totals equal to the measures', async () => {
  const folder = temporaryFolder();
  const measures = await kept(folder);
  const blocks = readTable(folder, 'blocks.csv');
  const agents = readTable(folder, 'agents.csv');
  const groups = readTable(folder, 'groups.csv');
  const votes = readTable(folder, 'votes.csv');
  const ended = (status: string) => blocks.filter((block) => block.status === status).length;
  for (const status of ['finalized', 'rejected', 'expired', 'orphaned'] as const) {
    expect(ended(status), status).toBe(measures[status]);
  }
  expect(measures).toMatchObject({ proposed: 4, finalized: 2, rejected: 1, votes: 8 });
  expect(blocks).toHaveLength(4);
  expect(blocks[3]).toMatchObject({ status: 'voting', closed_ms: '', votes: '1', approve: '1' });
  expect(blocks[2]!.producer_name).toBe('a,"b" é');
  expect(votes).toHaveLength(measures.votes!);
  expect(agents[0]).toMatchObject({
    name: 'He said "no, thanks"',
    capabilities: 'validator+producer',
  });
  const cast = (rows: Record<string, string>[]) =>
    rows.reduce((n, row) => n + Number(row.votes), 0);
  const ours = votes.filter(({ group }) => group !== '').length;
  expect([cast(agents), cast(groups), cast(blocks)]).toEqual([ours, ours, votes.length]);
  const lastOf = new Map(readTable(folder, 'series.csv').map((row) => [row.measure, row.value]));
  for (const name of ['finalized', 'rejected', 'votes', 'memes', 'transactions'] as const) {
    expect(Number(lastOf.get(name)), name).toBe(measures[name]);
  }
});

test('folder: has tables, scenario and summary, and no partial files', async () => {
  const folder = temporaryFolder();
  const measures = await kept(folder);
  expect(readdirSync(folder).sort()).toEqual([
    ...['agents.csv', 'blocks.csv', 'edges.csv', 'groups.csv', 'messages.csv', 'scenario.json'],
    ...['series.csv', 'summary.json', 'votes.csv'],
  ]);
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  expect(read('summary.json')).toMatchObject({ seed: '1', measures });
  expect(read('scenario.json')).toEqual({ title: 'a "run", kept' });
});

test('votes.csv: is written only if the scenario enables it', async () => {
  const folder = temporaryFolder();
  await kept(folder, (scenario) => {
    scenario.measure.votes = false;
  });
  expect(readdirSync(folder)).not.toContain('votes.csv');
});

test('votes.csv: keeps the order, and is absent for a failed run', async () => {
  const folder = temporaryFolder();
  const row = { block: 0, group: 'a', personality: 'lawful', decision: 'approve', voted_ms: 1 };
  const rest = {
    ...{ after_ms: 1, memes_heard: null, meme_references: 0, without_memes: null, warmup: 0 },
  };
  const scenario = scenarioWith(['a']);
  const tables = openTables(folder, scenario);
  for (let agent = 0; agent < 2_500; agent += 1) tables.onRow!({ ...row, agent, ...rest });
  expect(readdirSync(folder)).toEqual(['.votes.csv.part']);
  tables.finish();
  tables.abandon();
  const agents = readTable(folder, 'votes.csv').map(({ agent }) => Number(agent));
  expect(agents).toEqual(Array.from({ length: 2_500 }, (_, index) => index));
  const other = temporaryFolder();
  const failed = openTables(other, scenario);
  failed.onRow!({ ...row, agent: 1, ...rest });
  failed.abandon();
  expect(readdirSync(other)).toEqual([]);
});

test.each([
  ...[...Object.keys(dictionary), ...Object.keys(sweepTables), 'network', 'summary.json'],
])('output: refuses a folder that holds %s, and leaves it unchanged', async (name) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, name), 'mine');
  await expect(prepareOutput(folder)).rejects.toMatchObject({ code: 'OTHER_NETWORK' });
  expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
});

test('output: reports a folder that cannot be created or written', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await expect(prepareOutput(join(file, 'inside'))).rejects.toMatchObject({ code: 'UNREADABLE' });
  const gone = join(folder, 'gone');
  expect(() => openTables(gone, scenarioWith(['a']))).toThrow(
    expect.objectContaining({ problem: 'FILE_UNWRITABLE' }),
  );
});

test('dictionary: has no empty text and no duplicate name', async () => {
  const { measures } = await import('folkmoot/sim');
  const texts = [measures, ...Object.values(dictionary), ...Object.values(sweepTables)].flatMap(
    (part) => Object.values(part),
  );
  for (const text of texts) expect(text).toMatch(/\S{2}.*[^.]$/);
  const names: MeasureName[] = Object.keys(measures) as MeasureName[];
  for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
});
