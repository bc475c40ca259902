/** Small but complete run and sweep folders, from which reports are generated. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { measures as dictionary, type SimResult } from 'folkmoot/sim';
import { Collector } from '../../dist/sim/measure/collector.js';
import { openTables, prepareOutput, writeResult } from '../../dist/sim/run/output.js';
import { newPopulation } from '../engine/helpers.js';
import { agentsIn, eventsOf, timeOf } from '../sim/measure/fixture.js';
import { START_MS } from '../support/citizens.js';

type Scenario = SimResult['scenario'];

/** Returns a scenario with every member filled in. */
function scenarioOf(groups: readonly string[], changes: Partial<Scenario> = {}): Scenario {
  return {
    title: 'Three quarters of a town',
    question: 'Does a quarter of contrarians keep a town from deciding?',
    expect: 'pass',
    seed: '1',
    signatures: 'verified',
    limits: 'off',
    population: groups.length * 4,
    agents: groups.map((group, index) => ({
      ...{ group, count: 4, personality: ['lawful'], capabilities: ['validator', 'producer'] },
      ...{ producers: 0, strategy: index === 1 ? { kind: 'contrarian' } : { kind: 'personality' } },
    })),
    producers: {
      ...{ schedule: 'open', block_interval_ms: 3_000, transactions: { least: 1, most: 5 } },
      ...{ senders: 'own', insist: false, memes: 0.3 },
    },
    social: {
      ...{ memes: { rate: 1 }, discussion: { rate: 1 } },
      ...{ alliances: { rate: 1, duration_ms: 120_000, most: 2, invited: 3 }, breaks: { rate: 0 } },
      occasion_ms: 30_000,
    },
    topology: { kind: 'small_world', degree: 8, rewired: 0.1 },
    links: {
      ...{ latency: { distribution: 'uniform', mean_ms: 200, spread_ms: 100 }, between: [] },
      ...{ loss: 0, duplication: 0 },
    },
    interventions: [],
    faults: [
      {
        kind: 'churn',
        start_ms: 0,
        length_ms: 60_000,
        whom: [{}],
        stay_ms: 60_000,
        away_ms: 5_000,
      },
    ],
    consensus: {
      ...{ policy: 'bft', weights: 'equal', voting_period_ms: 30_000, min_validators: 1 },
      ...{ dormant_after: 0, dormant_share: 0.3333, leak_periods: 20, participation: 0.5 },
      consistency: 'conformity',
    },
    length: { blocks: 60 },
    patience_periods: 20,
    measure: { every_ms: 5_000, votes: true, decisions: false },
    ...changes,
  };
}

export interface RunOptions {
  groups?: readonly string[];
  blocks?: number;
  scenario?: Partial<Scenario>;
  result?: Partial<SimResult>;
}

/** Returns numbers that appear random but are always the same. */
function noise(): () => number {
  let state = 12_345;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** Saves a run on a real network in which each group leans a different way. */
export async function keptRun(folder: string, options: RunOptions = {}): Promise<SimResult> {
  const { groups = ['town', 'crowd', 'far_hills'], blocks = 60 } = options;
  const scenario = scenarioOf(groups, options.scenario);
  const town = await newPopulation({ genesis: { dormant_after: 0 } });
  const names = groups.flatMap((group) => [group, group, group, group]);
  const voters = await town.joinMany(names.length, ['validator', 'producer']);
  await prepareOutput(folder);
  const tables = openTables(folder, scenario);
  const collector = new Collector(scenario, agentsIn(names), START_MS, { onRow: tables.onRow });
  const chance = noise();
  for (let block = 0; block < blocks; block += 1) {
    const producer = voters[block % voters.length]!;
    const hash = await town.open(producer, { parent_hash: town.head });
    for (const [index, voter] of voters.entries()) {
      await town.wait(20 + Math.floor(chance() * 400));
      const leaning = [0.93, 0.55, 0.8][groups.indexOf(names[index]!) % 3]!;
      await town.vote(voter, hash, chance() < leaning ? 'approve' : 'reject');
    }
    await town.wait(chance() < 0.1 ? 31_000 : 800);
  }
  for (const event of eventsOf(town.network)) collector.event(event, timeOf(event));
  const finished = collector.finish(town.network.read, START_MS + town.now);
  tables.finish();
  const { digest, log_digest, seq, event_seq } = town.network.read.position;
  const result: SimResult = {
    version: '0.0.0',
    commit: null,
    node: 'v20',
    seed: '1',
    scenario,
    modules: {},
    files: {},
    verifier: 'off',
    verdict: 'pass',
    ended_by: 'blocks',
    censored: [],
    broken: null,
    digest,
    log_digest,
    measures: finished.measures,
    messages: finished.messages,
    reported: { run: {}, groups: {} },
    groups: [],
    entries: seq + 1,
    events: event_seq,
    verified: 0,
    commits: 1,
    refused: {},
    virtual_ms: town.now,
    measured_from_ms: 0,
    wall_ms: 1,
    votes_per_s: 1,
    peak_rss_bytes: 1,
    ...options.result,
  };
  await writeResult(folder, result, finished, []);
  return result;
}

type Sweep = NonNullable<Scenario['sweep']>;
type Value = string | number;

export interface SweepOptions {
  design?: Sweep['design'];
  factors: { path: string; name?: string; values: readonly Value[] }[];
  responses?: string[];
  /** Combinations that were run (for a grid, all combinations). */
  cells?: readonly (readonly Value[])[];
  scenario?: Partial<Scenario>;
  /** Verdict of a run, by its number. */
  verdict?: (run: number) => string;
  /** Returns a cell's measured value before noise. */
  measure?: (values: readonly Value[], response: number) => number;
}

const REPLICATES = 5;

const grid = (lists: readonly (readonly Value[])[]): Value[][] =>
  lists.reduce<Value[][]>(
    (rows, list) => rows.flatMap((row) => list.map((value) => [...row, value])),
    [[]],
  );

/** Creates the folder of a finished sweep with invented measures. */
export function keptSweep(folder: string, options: SweepOptions): void {
  const { design = 'grid', factors, responses = ['finalized_share'], scenario = {} } = options;
  const cells = options.cells ?? grid(factors.map(({ values }) => values));
  const columns = factors.map(({ path, name }) => name ?? path);
  const value = options.measure ?? ((values, response) => Number(values[0]) / (response + 1));
  const names = Object.keys(dictionary);
  const chance = noise();
  const runs: (Value | null)[][] = [];
  const summary: (Value | null)[][] = [];
  for (const [index, values] of cells.entries()) {
    for (let replicate = 1; replicate <= REPLICATES; replicate += 1) {
      const run = index * REPLICATES + replicate;
      const verdict = options.verdict?.(run) ?? 'pass';
      const lead = [run, index + 1, replicate, `1/${replicate}`, ...values];
      runs.push([...lead, ...names.map(() => null), verdict, 'd'.repeat(64), `${run}.json`]);
    }
    for (const measure of names) {
      const response = responses.indexOf(measure);
      const mean = response < 0 ? null : value(values, response) * (0.97 + 0.06 * chance());
      const half = mean === null ? null : Math.abs(mean) * 0.1 * chance();
      const ends = mean === null ? [null, null] : [mean - half!, mean + half!];
      summary.push([index + 1, ...values, measure, mean === null ? 0 : 5, mean, half, ...ends]);
    }
  }
  const write = (name: string, header: string[], rows: (Value | null)[][]) =>
    writeFileSync(join(folder, name), stringify([header, ...rows]));
  write(
    'runs.csv',
    ['run', 'cell', 'replicate', 'seed', ...columns, ...names, 'verdict', 'digest', 'file'],
    runs,
  );
  write('summary.csv', ['cell', ...columns, 'measure', 'n', 'mean', 'sd', 'low', 'high'], summary);
  const sweep: Sweep = {
    design,
    factors: factors.map(({ path, name, values }) => ({
      path,
      ...(name === undefined ? {} : { name }),
      values: [...values],
    })),
    replicates: REPLICATES,
    audit: 'all',
    log: 'none',
    responses,
  };
  const head = {
    ...{ version: '0.0.0', commit: null, node: 'v20', runs: cells.length * REPLICATES },
    scenario: { ...scenarioOf(['town', 'crowd'], scenario), sweep },
  };
  writeFileSync(join(folder, 'sweep.json'), JSON.stringify(head));
}
