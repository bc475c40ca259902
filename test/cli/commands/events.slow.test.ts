/** `folkmoot events`: exports all events, with the same content in three formats. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Event, Store } from 'folkmoot';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet/src/node.js';
import { buildColumns, selectEvents } from '../../../dist/cli/commands/events/columns.js';
import { eventTypes } from '../../../dist/engine/protocol/event-types.js';
import { eventData } from '../../../dist/engine/protocol/schema/event.js';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { host, stop } from '../../support/host.js';
import { main } from '../../support/paths.js';
import { copyOf, linesOf, openForReading, suiteFolder } from '../../support/runs.js';

const suite = suiteFolder();
const run = join(suite, 'run');
let lines: string[] = [];
let events: Event[] = [];
let count = 0;

const exported = async (folder: string, ...args: string[]): Promise<string[]> => {
  const { code, stdout, stderr } = await folkmoot(['events', folder, ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return linesOf(stdout);
};

const fileOf = async (name: string, ...args: string[]): Promise<string> => {
  const out = join(temporaryFolder(), name);
  const { code, stderr } = await folkmoot(['events', run, '--out', out, ...args]);
  expect(code, stderr).toBe(0);
  // No partial file remains.
  expect(readdirSync(dirname(out))).toEqual([name]);
  return out;
};

const rowsOf = async (file: string): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: await asyncBufferFromFile(file) });

beforeAll(async () => {
  const { json } = await simJson('--agents', '60', '--blocks', '12', '--out', run);
  count = json.events as number;
  lines = await exported(run);
  events = lines.map((line) => JSON.parse(line) as Event);
});

/** Independent implementation of the columns: joined names, lists as JSON. */
function flat(event: Event): Record<string, unknown> {
  const found: Record<string, unknown> = { seq: event.seq, type: event.type };
  const into = (value: object, above: string) => {
    for (const [key, inner] of Object.entries(value)) {
      if (Array.isArray(inner)) found[`${above}${key}_json`] = JSON.stringify(inner);
      else if (typeof inner === 'object') into(inner, `${above}${key}_`);
      else found[above + key] = inner;
    }
  };
  into(event.data, '');
  return found;
}

test('events: NDJSON contains all events as stored', async () => {
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: count }, (_, at) => at + 1));
  const store = openForReading(join(run, 'network'));
  expect(lines).toEqual([...store.events(1, count)].map(({ json }) => json));
  await store.close();
  expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(6);
});

test('events: a Parquet file contains the same events as NDJSON', async () => {
  const rows = await rowsOf(await fileOf('all.parquet'));
  expect(rows).toHaveLength(count);
  for (const [index, row] of rows.entries()) {
    const { agent, ...rest } = row;
    const told = Object.entries(rest).filter(([, value]) => value !== null);
    const plain = told.map(([name, value]) => {
      if (value instanceof Date) return [name, value.toISOString()];
      return [name, typeof value === 'bigint' ? Number(value) : value];
    });
    expect(Object.fromEntries(plain)).toEqual(flat(events[index]!));
    const { data } = events[index]!;
    if ('validator' in data) expect(agent).toBe(data.validator.id);
    if ('agent_id' in data) expect(agent).toBe(data.agent_id);
  }
});

test('events: CSV has the same columns and cells, one line per event', async () => {
  const text = readFileSync(await fileOf('all.csv'), 'utf8');
  expect(linesOf(text)).toHaveLength(count + 1);
  expect(await exported(run, '--format', 'csv')).toEqual(linesOf(text));
  const rows = parse(text, { columns: true }) as Record<string, string>[];
  expect(Object.keys(rows[0]!)).toEqual(buildColumns(eventTypes).map(({ name }) => name));
  for (const [index, { agent: _, ...row }] of rows.entries()) {
    const told = Object.entries(flat(events[index]!)).filter(([, value]) => value !== '');
    const cells = Object.entries(row).filter(([, cell]) => cell !== '');
    expect(Object.fromEntries(cells)).toEqual(
      Object.fromEntries(told.map(([name, value]) => [name, String(value)])),
    );
  }
});

test('events: selects by type, agent and number; a type has only its columns', async () => {
  const votes = events.filter(({ type }) => type === 'block_validation');
  const rows = await rowsOf(await fileOf('votes.parquet', '--type', 'block_validation'));
  expect(rows).toHaveLength(votes.length);
  expect(Object.keys(rows[0]!)).toEqual([
    ...['seq', 'type', 'timestamp', 'agent', 'block_hash', 'validator_id'],
    ...['validator_personality', 'decision', 'reason', 'ballot'],
  ]);
  const { agent } = rows[7]! as { agent: string };
  const own = await exported(run, '--agent', agent, '--type', 'block_validation');
  expect(own).toEqual(lines.filter((line) => line.includes(`"validator":{"id":"${agent}"`)));
  expect(own.length).toBeGreaterThan(3);
  expect(await exported(run, '--from', '10', '--to', '12')).toEqual(lines.slice(9, 12));
  const two = ['--type', 'block_status', '--type', 'meme_posted'];
  const kinds = (await exported(run, ...two)).map((line) => (JSON.parse(line) as Event).type);
  expect(new Set(kinds)).toEqual(new Set(['block_status', 'meme_posted']));
});

test('events: a range beyond the end names the last event and writes an empty table', async () => {
  const { code, stdout, stderr } = await folkmoot(['events', run, '--from', String(count + 5)]);
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toMatch(new RegExp(`\\b${count}\\b`));
  expect(await rowsOf(await fileOf('none.parquet', '--from', String(count + 5)))).toEqual([]);
});

test('events: an archived folder gives the same lines', async () => {
  const copy = copyOf(run);
  const { code } = await folkmoot(['archive', copy, '--before', '600']);
  expect(code).toBe(0);
  expect(readdirSync(join(copy, 'network', 'archive')).length).toBeGreaterThan(0);
  expect(await exported(copy)).toEqual(lines);
});

test('events: exports a consistent prefix of a folder in use', async () => {
  const data = join(suite, 'served');
  const scenario = join(suite, 'town.json');
  const town = { title: 'a town', agents: [{ group: 'town', count: 20, producers: 2 }] };
  writeFileSync(scenario, JSON.stringify(town));
  const server = await host({ data, args: ['--scenario', scenario, '--speed', '20'] });
  await server.said('20 of 20 agents joined');
  const during: string[][] = [];
  for (let look = 0; look < 3; look += 1) during.push(await exported(data));
  await stop(server);
  const all = await exported(data);
  for (const some of during) expect(some).toEqual(all.slice(0, some.length));
  expect(during[0]!.length).toBeGreaterThanOrEqual(20);
});

test('events: reports a damaged folder and leaves no file', async () => {
  const copy = copyOf(run);
  truncateSync(join(copy, 'network', 'data.mdb'), 40_000);
  const out = join(temporaryFolder(), 'x.csv');
  const ended = await folkmoot(['events', copy, '--out', out]);
  expect(ended.code).toBe(13);
  expectOneLine(ended);
  expect(ended.stderr).toContain(copy);
  expect(readdirSync(dirname(out))).toEqual([]);
});

const storeOf = (rows: { seq: number; json: string }[]) =>
  ({ events: (from: number) => rows.filter(({ seq }) => seq >= from) }) as unknown as Store;
const everything = { from: 1, to: 3, types: new Set<never>(), agents: new Set<string>() };

test.each([
  [[1, 3], 2],
  [[1, 2], 3],
  [[], 1],
])('events: reports the first missing event of %j', (seqs, missing) => {
  const rows = seqs.map((seq) => ({ seq, json: JSON.stringify({ ...events[seq - 1], seq }) }));
  const expected = { problem: 'EVENT_MISSING', message: expect.stringContaining(`: ${missing};`) };
  expect(() => [...selectEvents(storeOf(rows), everything)]).toThrow(
    expect.objectContaining(expected),
  );
});

test.each([
  ...['no json', 'null', '{"seq":1,"type":"block_status"}'],
  '{"data":{"timestamp":"2025-01-01T00:00:00.000Z"},"seq":2,"type":"x"}',
])('events: refuses a damaged event: %s', (json) => {
  const read = () => [...selectEvents(storeOf([{ seq: 1, json }]), everything)];
  expect(read).toThrow(expect.objectContaining({ problem: 'EVENT_DAMAGED' }));
});

test('events: ends silently when the reader closes the pipe', async () => {
  const child = spawn(process.execPath, [main, 'events', run], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code] = await once(child, 'close');
  expect([code, said]).toEqual([0, '']);
});

test('events: no column has two kinds, and every type is known', () => {
  expect([...eventTypes].sort()).toEqual(Object.keys(eventData).sort());
  const kinds = new Map<string, string>();
  for (const type of eventTypes) {
    for (const { name, kind } of buildColumns([type])) {
      expect(kinds.get(name) ?? kind, name).toBe(kind);
      kinds.set(name, kind);
    }
  }
});
