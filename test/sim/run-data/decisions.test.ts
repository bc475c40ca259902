/** Decision records over HTTP: the lines that the run wrote, by agent, at any entry. */
import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { completeScenario, simulate } from 'folkmoot/sim';
import { copyOf, suiteFolder } from '../../support/runs.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { world } from '../../support/service/server.js';
import { expectError } from '../../support/service/world.js';
import { allOf, served } from './kept-run.js';

const run = join(suiteFolder(), 'run');

interface Line {
  block: number;
  agent: number;
  decision: string;
  basis: string;
  contributions: unknown;
}

beforeAll(async () => {
  const agents = [
    { group: 'town', count: 12, producers: 2 },
    { group: 'late', count: 4, join: { start_ms: 12_000, over_ms: 2_000, waves: 1, every_ms: 1 } },
    { group: 'sheep', count: 3, strategy: { kind: 'follower' } },
  ];
  const raw = { title: 'reasons', agents, measure: { decisions: true }, length: { blocks: 6 } };
  await simulate(completeScenario(raw), { out: run, seed: '5', verifier: 'inline' });
});

const linesIn = (folder: string) =>
  readFileSync(join(folder, 'decisions.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

interface Row extends Omit<Line, 'block' | 'agent'> {
  block_hash: string;
  entry: number;
}

test('decisions: pages through the lines of each agent, newest first', async () => {
  const here = await served(run);
  const lines = linesIn(run);
  expect((await here.there.read('/api/v1/control')).knows).toContain('decisions');
  let found = 0;
  for (const [agent, id] of here.ids.entries()) {
    const rows = await allOf<Row>(here.there, `/api/v1/agents/${id}/decisions`, 'decisions', 3);
    const own = lines.filter((line) => line.agent === agent).reverse();
    expect(rows).toHaveLength(own.length);
    for (const [place, { block_hash, entry, ...row }] of rows.entries()) {
      const {
        block,
        agent: _,
        group: __,
        voted_ms: ___,
        warmup: ____,
        ...line
      } = { ...(own[place] as Line & Record<string, unknown>) };
      expect(here.network.read.record('block_numbers', block)).toEqual({ block_hash });
      const { height, at, ...rest } = row as typeof row & { height: number; at: number };
      expect(rest).toEqual(line);
      const number = here.network.read.record('agents', id)!.ordinal;
      const vote = here.network.read.record('votes', [block, number])!;
      expect([entry, at, row.decision]).toEqual([vote.entry, vote.at, vote.decision]);
      expect(height).toBe(here.network.read.block(block_hash)!.height);
    }
    found += rows.length;
  }
  expect(found).toBe(lines.length);
  expect(new Set(lines.map(({ basis }) => basis))).toEqual(new Set(['judgement', 'neighbours']));
});

test('decisions: at an entry, serves the votes that the engine has then', async () => {
  const here = await served(run);
  const draw = drawnFrom(seed);
  for (let round = 0; round < 12; round += 1) {
    const entry = draw(here.history.end.seq + 1);
    const id = here.ids[draw(here.ids.length)]!;
    const { read } = await here.history.at(entry);
    const path = `/api/v1/agents/${id}/decisions?at=${entry}`;
    const rows = await allOf<Row>(here.there, path, 'decisions', 2);
    const number = read.record('agents', id)?.ordinal ?? -1;
    const then = [...read.records('votes')].filter(
      ({ key }) => (key as readonly number[])[1] === number,
    );
    const entries = then.map(({ value }) => value.entry).sort((a, b) => b - a);
    expect([seed, entry, id, rows.map((row) => row.entry)]).toEqual([seed, entry, id, entries]);
    expect(await here.there.read(`${path}&limit=1`)).toMatchObject({ recorded: entries.length });
  }
});

test('decisions: without records, the error names the option that records them', async () => {
  const folder = copyOf(run);
  rmSync(join(folder, 'decisions.ndjson'));
  const here = await served(folder);
  const answer = await here.there.get(`/api/v1/agents/${here.ids[0]}/decisions`);
  expectError(answer, 404, 'INVALID_REQUEST', 'NO_DECISIONS');
  expect(answer.error.message).toContain('--set measure.decisions=true --out');
  const live = await world();
  const { agentId } = await live.join('ada');
  const unrecorded = await live.get(`/api/v1/agents/${agentId}/decisions`);
  expectError(unrecorded, 404, 'INVALID_REQUEST', 'NO_DECISIONS');
  expect(unrecorded.error.message).toContain('folkmoot explore');
});

test('decisions: refuses unknown agents, parameters and cursors', async () => {
  const here = await served(run);
  for (const query of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'cursor=x',
    'cursor=-1',
    'at=x',
    'at=',
  ]) {
    const answer = await here.there.get(`/api/v1/agents/${here.ids[0]}/decisions?${query}`);
    expectError(answer, 400, 'INVALID_REQUEST', 'SCHEMA');
  }
  const unknownId = `agent_${'0'.repeat(32)}`;
  const answer = await here.there.get(`/api/v1/agents/${unknownId}/decisions`);
  expectError(answer, 404, 'INVALID_AGENT', 'UNKNOWN_AGENT');
  expectError(await here.there.get('/api/v1/agents/x/decisions'), 400, 'INVALID_REQUEST', 'SCHEMA');
  const beyond = await here.there.read(
    `/api/v1/agents/${here.ids[0]}/decisions?cursor=999999&at=999999`,
  );
  expect((beyond.decisions as Row[]).length).toBeGreaterThan(0);
  expect(await here.there.read(`/api/v1/agents/${here.ids[0]}/decisions?cursor=0`)).toMatchObject({
    decisions: [],
    next_cursor: null,
  });
});

const another = '{"block":0,"agent":0,"group":"town","decision":"approve"';
const damages: [what: string, damage: (file: string) => void, status: number, said: RegExp][] = [
  ['truncated', cut, 503, /invalid line;.*LOG_DAMAGED/],
  ['garbage', (file) => writeFileSync(file, Buffer.alloc(3_000_000, 7)), 503, /line 1/],
  ['empty lines', (file) => appendFileSync(file, '\n\n'), 503, /invalid line \d+;.*LOG_DAMAGED/],
  ['another line', (file) => writeFileSync(file, `${another}}\n`), 503, /in a line;.*LOG_DAMAGED/],
  ['a line that is too long', long, 503, /line 1/],
  ['a changed vote', turned, 503, /LOG_DAMAGED/],
  ['an unknown block', (file) => moved(file, 999_999_999), 503, /LOG_DAMAGED/],
  ['an unknown agent', (file) => writeFileSync(file, '{"block":0,"agent":7654321,'), 503, /1/],
  ['a symbolic link', link, 404, /decisions\.ndjson/],
  ['no content', (file) => writeFileSync(file, ''), 200, /./],
];

function cut(file: string): void {
  const text = readFileSync(file, 'utf8');
  truncateSync(file, text.indexOf('"agent":0,') + 200);
}
function long(file: string): void {
  writeFileSync(file, `{"block":0,"agent":0,"group":"${'x'.repeat(2_000_000)}"}\n`);
}
function turned(file: string): void {
  const text = readFileSync(file, 'utf8');
  const other = { approve: 'reject', reject: 'approve' } as Record<string, string>;
  const change = (_: string, decision: string) => `,"decision":"${other[decision]}",`;
  writeFileSync(file, text.replaceAll(/,"decision":"(\w+)",/g, change));
}
function moved(file: string, block: number): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/^\{"block":\d+/gm, `{"block":${block}`));
}
function link(file: string): void {
  renameSync(file, `${file}.other`);
  symlinkSync('/dev/zero', file);
}

test.each(damages)('decisions: damage affects no other request: %s', async (...given) => {
  const [, damage, status, said] = given;
  // Windows has no endless device, and lets only administrators create links.
  if (damage === link && process.platform === 'win32') return;
  const folder = copyOf(run);
  damage(join(folder, 'decisions.ndjson'));
  const here = await served(folder);
  const answer = await here.there.get(`/api/v1/agents/${here.ids[0]}/decisions`);
  expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(said)]);
  // All other requests are answered as before.
  expect((await here.there.get(`/api/v1/agents/${here.ids[0]}`)).status).toBe(200);
});

test('decisions: reports a missing file, and serves a file that returns', async () => {
  const folder = copyOf(run);
  const here = await served(folder);
  const file = join(folder, 'decisions.ndjson');
  renameSync(file, `${file}.away`);
  const gone = await here.there.get(`/api/v1/agents/${here.ids[0]}/decisions`);
  expectError(gone, 503, 'NETWORK_ERROR', 'LOG_DAMAGED');
  renameSync(`${file}.away`, file);
  expect((await here.there.get(`/api/v1/agents/${here.ids[0]}/decisions`)).status).toBe(200);
});
