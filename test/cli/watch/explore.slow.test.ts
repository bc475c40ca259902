/** `folkmoot explore`: serves, follows and refuses folders. */
import { openSync, readdirSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import { copyOf, suiteFolder } from '../../support/runs.js';
import { agentOf, register } from '../../support/service/signer.js';
import { expectError, World } from '../../support/service/world.js';

const run = join(suiteFolder(), 'run');
let digest = '';
beforeAll(async () => {
  const { json } = await simJson('--agents', '40', '--blocks', '4', '--seed', '7', '--out', run);
  digest = json.digest;
});

/** Starts the command on a folder. */
async function explored(folder: string, ...more: string[]) {
  const begun = begin(['explore', folder, '--json', ...more]);
  const [line] = await begun.printed(/^\{.*\}\n/);
  const first = JSON.parse(line!) as { event: string; url: string; page: string; entries: number };
  const wsUrl = `${first.url.replace('http', 'ws')}/ws/v1`;
  return { ...begun, first, there: new World({ url: first.url, wsUrl }) };
}

test('explore: serves a run read-only until a signal', async () => {
  const { first, there, stop } = await explored(run);
  expect(first).toEqual({
    ...{ event: 'listening', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) },
    ...{ page: `${first.url}/ui/`, folder: run, network_id: 'folkmoot-sim' },
    entries: expect.any(Number),
  });
  expect(await there.read('/api/v1/control')).toMatchObject({ kind: 'folder', can: [] });
  expect(await there.read('/api/v1/meta')).toMatchObject({ digest, seq: first.entries - 1 });
  const answer = await there.send(register(agentOf('Ada'), { name: 'Ada' }));
  expectError(answer, 403, 'INVALID_REQUEST', 'READ_ONLY');
  const before = readdirSync(join(run, 'network')).sort();
  expect(await stop()).toEqual({ code: 0, signal: null });
  expect(readdirSync(join(run, 'network')).sort()).toEqual(before);
});

test('explore: serves the groups of the scenario with agent ids', async () => {
  const { there } = await explored(run);
  const { groups } = (await there.read('/api/v1/scenario')) as { groups: { agents: string[] }[] };
  const { validators, producers } = (await there.read('/api/v1/network/agents')) as Record<
    string,
    { id: string }[]
  >;
  const shown = new Set(groups.flatMap(({ agents }) => agents));
  expect(shown.size).toBe(40);
  for (const { id } of [...validators!, ...producers!]) expect(shown.has(id)).toBe(true);
});

test('explore: serves a run with a damaged summary without its scenario', async () => {
  const copy = copyOf(run);
  truncateSync(join(copy, 'summary.json'), 100);
  const { there, printed } = await explored(copy);
  await printed(/no scenario: /);
  expect((await there.get('/api/v1/scenario')).status).toBe(404);
  expect(await there.read('/api/v1/meta')).toMatchObject({ digest });
});

test('explore: prints its address as text', async () => {
  const begun = begin(['explore', run, '--open', 'no']);
  const [, url] = await begun.printed(
    /^(http:\S+)\/ui\/ shows .*: folkmoot-sim, entries 0 to \d+; /,
  );
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await begun.stop('SIGINT')).code).toBe(0);
});

test('explore: --verify opens the view that recomputes the log and begins', async () => {
  const { first, stop } = await explored(run, '--verify');
  expect(first.page).toBe(`${first.url}/ui/explore?verify=1`);
  expect([(await fetch(first.page)).status, (await stop()).code]).toEqual([200, 0]);
});

test('explore: an open connection does not delay the end', async () => {
  const { first, stop } = await explored(run);
  const kept = await fetch(`${first.url}/api/v1/meta`, { headers: { Connection: 'keep-alive' } });
  await kept.text();
  expect((await stop()).code).toBe(0);
});

test('explore: reads archived entries', async () => {
  const copy = copyOf(run);
  expect((await folkmoot(['archive', copy, '--before', '100'])).code).toBe(0);
  const { there } = await explored(copy);
  const { events } = await there.read('/api/v1/events?since=0&limit=5');
  expect((events as unknown[]).length).toBe(5);
  expect(await there.read('/api/v1/meta')).toMatchObject({ digest });
});

test('explore: follows a server that is writing to the folder', async () => {
  const folder = join(temporaryFolder(), 'live');
  const address = ['--port', '0', '--data', folder, '--limits', 'bench'];
  const server = begin(['serve', ...address, '--network-id', 'followed']);
  const [line] = await server.printed(/^\{.*\}\n/);
  const { url, ws_url: wsUrl } = JSON.parse(line!) as { url: string; ws_url: string };
  const live = new World({ url, wsUrl });
  const { there } = await explored(folder);
  expect(await there.read('/api/v1/network/state')).toMatchObject({ active_validators: 0 });
  await live.joinAll('Ada', 'Bob', 'Cy');
  await expect
    .poll(async () => (await there.read('/api/v1/network/state')).active_validators)
    .toBe(3);
  const digestOf = async (world: World) => (await world.read('/api/v1/meta')).digest;
  await expect.poll(async () => (await digestOf(there)) === (await digestOf(live))).toBe(true);
  expect(await there.read('/api/v1/network/agents')).toEqual(
    await live.read('/api/v1/network/agents'),
  );
});

test('explore: reports a deleted folder and still serves the entries read', async () => {
  const copy = copyOf(run);
  const { there, printed, stop } = await explored(copy);
  expect(await there.read('/api/v1/control')).not.toHaveProperty('lost');
  rmSync(copy, { recursive: true });
  const [lost] = await printed(/\S+ was deleted.*/);
  expect(await there.read('/api/v1/control')).toMatchObject({ kind: 'folder', lost });
  expect(await there.read('/api/v1/meta')).toMatchObject({ digest });
  expect((await there.read('/api/v1/blocks')).blocks).toHaveLength(4);
  expect((await stop()).code).toBe(0);
});

test.each([
  // Cuts off half of the file, because the last pages can be free.
  ['cut off', (data: string) => truncateSync(data, 4096 * (statSync(data).size >> 13))],
  [
    'overwritten',
    (data: string) => {
      // Overwrites everything except the header, because the used pages differ between runs.
      const rest = Buffer.alloc(statSync(data).size - 2 * 8192, 7);
      writeSync(openSync(data, 'r+'), rest, 0, rest.length, 2 * 8192);
    },
  ],
  ['deleted', (data: string) => rmSync(data)],
])('explore: refuses data that was %s', async (_, damage) => {
  const copy = copyOf(run);
  damage(join(copy, 'network', 'data.mdb'));
  const ended = await folkmoot(['explore', copy]);
  expectOneLine(ended);
  expect([ended.code, ended.stdout]).toEqual([13, '']);
});

test('explore: refuses an archive with a missing file', async () => {
  const copy = copyOf(run);
  expect((await folkmoot(['archive', copy, '--before', '100'])).code).toBe(0);
  const archive = join(copy, 'network', 'archive');
  rmSync(join(archive, readdirSync(archive)[0]!));
  const ended = await folkmoot(['explore', copy]);
  expectOneLine(ended);
  expect([ended.code, ended.stdout]).toEqual([13, '']);
});

test('explore: an address of another machine is an error', async () => {
  const ended = await folkmoot(['explore', run, '--host', '203.0.113.1']);
  expect([ended.code, ended.stdout]).toEqual([1, '']);
});
