/** Social graph over HTTP: the neighbours of the simulation, and the faults that cut them off. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KnownGraph } from 'folkmoot/api';
import { completeScenario, simulate } from 'folkmoot/sim';
import { START_MS } from '../../support/citizens.js';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows, suiteFolder } from '../../support/runs.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { world } from '../../support/service/server.js';
import { expectError } from '../../support/service/world.js';
import { quiet } from '../fixture.js';
import { allOf, served } from './kept-run.js';

const folder = suiteFolder();
const EDGES = 'edges.csv';

/** An agent that joins after the end never registers. */
const never = { start_ms: 3_600_000, over_ms: 1, waves: 1, every_ms: 1 };
const groups = [
  { group: 'town', count: 14, producers: 2 },
  { group: 'late', count: 5, join: { start_ms: 9_000, over_ms: 2_000, waves: 1, every_ms: 1 } },
  { group: 'never', count: 1, join: never },
];

type Raw = Record<string, unknown>;

/** Runs and saves the scenario; returns the graph as the world has it. */
async function ran(name: string, sections: Raw): Promise<KnownGraph> {
  const agents = groups;
  const base = { title: name, agents, signatures: 'none', social: quiet, length: { blocks: 3 } };
  const scenario = completeScenario({ ...base, ...sections }, folder);
  let graph: KnownGraph | undefined;
  const onGraph = (known: KnownGraph) => {
    graph = known;
  };
  await simulate(scenario, { out: join(folder, name), seed: '9', folder }, { onGraph });
  return graph!;
}

const topologies: Raw[] = [
  { kind: 'complete' },
  { kind: 'ring', degree: 4 },
  { kind: 'small_world', degree: 6, rewired: 0.3 },
  { kind: 'scale_free', degree: 4 },
  { kind: 'erdos_renyi', degree: 5 },
  { kind: 'groups', degree: 2, rewired: 0.2 },
  { kind: 'edges', file: EDGES },
];

interface Neighbour {
  agent_id: string;
  number: number | null;
  hears: boolean;
  heard: boolean;
}

beforeAll(() => {
  writeFileSync(join(folder, EDGES), 'a,b\n0,1\n0,2\n2,3\n5,18\n5,19\n17,3\n');
});

test.each(topologies)('graph: serves the neighbours of the run, $kind', async (topology) => {
  const name = String(topology.kind);
  await ran(name, { topology });
  const { there, network, ids } = await served(join(folder, name));
  // Edges that the simulation wrote at its end.
  const edges = csvRows(join(folder, name, 'edges.csv')).map(({ a, b }) => [Number(a), Number(b)]);
  const { graph } = await there.read('/api/v1/scenario');
  const { knows } = await there.read('/api/v1/control');
  expect(knows).toEqual(['history', 'scenario', 'neighbours']);
  if (topology.file) {
    // The run's tables include a file of the same name, which is not the input file.
    const answer = await there.get(`/api/v1/agents/${ids[0]}/neighbours`);
    expect([graph, answer.error.details.reason]).toEqual([null, 'UNKNOWN_SCENARIO']);
    return;
  }
  expect(graph).toEqual({ topology: name, links: edges.length, edges });
  for (const [place, id] of ids.entries()) {
    if (!network.read.record('agents', id)) continue;
    const path = `/api/v1/agents/${id}/neighbours`;
    const found = await allOf<Neighbour>(there, path, 'neighbours', 4);
    const own = edges.flatMap(([a, b]) => (a === place ? b! : b === place ? a! : []));
    expect(found.map(({ agent_id }) => ids.indexOf(agent_id))).toEqual(own.sort((a, b) => a - b));
    for (const { agent_id, number, hears, heard } of found) {
      expect(number).toBe(network.read.record('agents', agent_id)?.ordinal ?? null);
      expect([hears, heard]).toEqual([true, true]);
    }
    const { links, total } = await there.read(`${path}?limit=1000`);
    expect(total).toBe(own.length);
    const among = (links as [number, number][]).map(([a, b]) => [own[a], own[b]]);
    expect(among).toEqual(edges.filter(([a, b]) => own.includes(a!) && own.includes(b!)));
  }
});

test('graph: serves a file of links while the file is present and unchanged', async () => {
  const name = 'links';
  mkdirSync(join(folder, 'given'));
  const file = 'given/links.csv';
  writeFileSync(join(folder, file), 'a,b\n0,1\n0,2\n5,18\n');
  await ran(name, { topology: { kind: 'edges', file } });
  const kept = join(folder, name);
  const ask = async () => {
    const { there, ids } = await served(kept);
    return there.get(`/api/v1/agents/${ids[0]}/neighbours`);
  };
  expect((await ask()).error.message).toContain('given/links.csv');
  cpSync(join(folder, 'given'), join(kept, 'given'), { recursive: true });
  expect((await ask()).data).toMatchObject({ topology: 'edges', total: 2 });
  writeFileSync(join(kept, file), 'a,b\n0,3\n');
  expect((await ask()).error.message).toContain('given/links.csv');
  rmSync(join(kept, 'given'), { recursive: true });
});

const otherwise = {
  title: 'otherwise',
  social: { ...quiet, alliances: { rate: 1 } },
  links: { loss: 0.2 },
  length: { blocks: 9 },
  faults: [
    { kind: 'partition', start_ms: 6_000, length_ms: 8_000, whom: [{ group: 'late' }] },
    {
      ...{ kind: 'partition', direction: 'in', start_ms: 10_000, length_ms: 9_000 },
      whom: [{ group: 'town', share: 0.3 }],
    },
  ],
  interventions: [
    { kind: 'silence', whom: [{ agent: 3 }], at_height: 2 },
    { kind: 'silence', whom: [{ group: 'town', count: 2 }], at_ms: 14_000 },
    { kind: 'silence', whom: [{ alliance: 0 }], at_ms: 16_000 },
    { kind: 'link', between: [0, 1], loss: 1, at_ms: 5_000 },
    { kind: 'link', between: [4, 5], loss: 0.9, at_ms: 5_000 },
    { kind: 'link', between: [2, 'network'], loss: 1, at_ms: 5_000 },
    { kind: 'set', path: 'links.loss', value: 1, at_ms: 20_000 },
    { kind: 'set', path: 'links.loss', value: 0.1, at_ms: 21_000 },
    { kind: 'silence', whom: [{ agent: 6 }], at_ms: 3_000, acts: false },
  ],
};

test('graph: reports the faults that cut an agent off, at any entry', async () => {
  const own = await ran('otherwise', otherwise);
  const { there, network, ids } = await served(join(folder, 'otherwise'));
  const draw = drawnFrom(seed);
  const seen = new Set<string>();
  for (let round = 0; round < 400; round += 1) {
    const place = draw(19);
    const entry = draw(network.read.position.seq + 1);
    const { at } = network.read.log.entry(entry)!;
    const path = `/api/v1/agents/${ids[place]}/neighbours?at=${entry}`;
    const { neighbours } = (await there.read(path)) as { neighbours: Neighbour[] };
    const expected = own.neighbours[place]!.map((other) => ({
      agent_id: ids[other],
      hears: own.passes(other, place, at),
      heard: own.passes(place, other, at),
    }));
    for (const { hears, heard } of expected) seen.add(`${hears} ${heard}`);
    const found = neighbours.map(({ number: _, ...one }) => one);
    expect([seed, entry, place, found]).toEqual([seed, entry, place, expected]);
  }
  expect([...seen].sort()).toEqual(['false false', 'false true', 'true false', 'true true']);
  const { events } = await there.read('/api/v1/events?topics=social&limit=1000');
  const allied = (events as { type: string; data: { status: string } }[]).filter(
    ({ type, data }) => type === 'alliance_update' && data.status === 'active',
  );
  expect(allied.length, 'an alliance was silenced').toBeGreaterThan(0);
});

test('graph: reports a partition while it lasts', async () => {
  const { there, network, ids } = await served(join(folder, 'otherwise'));
  const across = async (entry: number) => {
    const path = `/api/v1/agents/${ids[14]}/neighbours?at=${entry}`;
    const { neighbours } = (await there.read(path)) as { neighbours: Neighbour[] };
    const elsewhere = neighbours.filter(({ agent_id }) => ids.indexOf(agent_id) < 14);
    return elsewhere.map(({ heard }) => heard);
  };
  let during = 0;
  for (let entry = 0; entry <= network.read.position.seq; entry += 1) {
    const ms = network.read.log.entry(entry)!.at - START_MS;
    if (ms < 3_000) expect(new Set(await across(entry))).toEqual(new Set([true]));
    if (ms < 6_000 || ms >= 14_000) continue;
    during += 1;
    expect(new Set(await across(entry))).toEqual(new Set([false]));
  }
  expect(during).toBeGreaterThan(0);
});

test('graph: refuses agents outside the scenario and unknown parameters', async () => {
  const there = await world();
  const { agentId } = await there.join('town-0');
  const answer = await there.get(`/api/v1/agents/${agentId}/neighbours`);
  expectError(answer, 404, 'INVALID_REQUEST', 'UNKNOWN_SCENARIO');
  const { there: kept, ids } = await served(join(folder, 'otherwise'));
  for (const query of ['limit=0', 'limit=1001', 'cursor=x', 'at=x', 'at=-1']) {
    const bad = await kept.get(`/api/v1/agents/${ids[0]}/neighbours?${query}`);
    expectError(bad, 400, 'INVALID_REQUEST', 'SCHEMA');
  }
  const beyond = await kept.get(`/api/v1/agents/${ids[0]}/neighbours?at=999999`);
  expectError(beyond, 404, 'INVALID_REQUEST', 'UNKNOWN_ENTRY');
  const unknown = await kept.get(`/api/v1/agents/agent_${'0'.repeat(32)}/neighbours`);
  expectError(unknown, 404, 'INVALID_AGENT', 'UNKNOWN_AGENT');
});

type Summary = { scenario: Raw & { topology: Raw }; interventions: { at_ms: unknown }[] };

const lies: [what: string, lie: (summary: Summary) => void, said: RegExp][] = [
  [
    'too many links',
    ({ scenario }) => Object.assign(scenario, { population: 200_000, agents: [huge] }),
    /100000000 links/,
  ],
  ['no topology', ({ scenario }) => Object.assign(scenario, { topology: 7 }), /topology/],
  ['an invalid degree', ({ scenario }) => Object.assign(scenario.topology, { degree: -3 }), /./],
  ['a file outside the folder', elsewhere, /given|etc|inside|not/],
];
const huge = { group: 'town', count: 200_000, producers: 1 };
function elsewhere({ scenario }: Summary): void {
  scenario.topology = { kind: 'edges', file: '../../../../../etc/passwd' };
}

test.each(lies)('graph: answers 404 for a summary with %s', async (...given) => {
  const [, lie, said] = given;
  const kept = join(temporaryFolder(), 'run');
  cpSync(join(folder, 'ring'), kept, { recursive: true });
  const { ids } = await served(kept);
  const file = join(kept, 'summary.json');
  const summary = JSON.parse(readFileSync(file, 'utf8')) as Summary;
  lie(summary);
  if (summary.scenario.agents !== undefined && (summary.scenario.agents as unknown[])[0] === huge) {
    summary.scenario.topology.degree = 1_000;
  }
  writeFileSync(file, JSON.stringify(summary));
  const { there } = await served(kept);
  const answer = await there.get(`/api/v1/agents/${ids[0]}/neighbours`);
  expectError(answer, 404, 'INVALID_REQUEST', 'UNKNOWN_SCENARIO');
  expect(answer.error.message).toMatch(said);
});
