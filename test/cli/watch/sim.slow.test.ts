/** `folkmoot sim --watch`: a running simulation's page, and the end of the command. */
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { folkmoot } from '../../support/cli.js';
import { simJson } from '../../support/command.js';
import { begin } from '../../support/running-command.js';
import { csvRows, suiteFolder } from '../../support/runs.js';
import { Watching } from '../../support/service/watching.js';
import { pageOf } from './page.js';

const folder = suiteFolder();
const size = ['--agents', '40', '--blocks', '6', '--seed', '7'];
const fast = [...size, '--speed', 'max'];
let alone = '';
beforeAll(async () => {
  alone = (await simJson(...size)).json.digest;
});

const result = (stdout: string) => JSON.parse(stdout) as { digest: string; entries: number };

test('sim --watch: gives the digest of a run without --watch, and ends with the run', async () => {
  const { ended, stdout, stderr } = begin(['sim', ...fast, '--watch', '--json']);
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(result(stdout()).digest).toBe(alone);
  expect(stderr()).toMatch(/folkmoot: http:\S+\/ui\/#token=\S{32} shows the run, /);
});

test('sim --watch: the default speed is ten times wall time', async () => {
  const begun = begin(['sim', ...size, '--watch=paused', '--json']);
  const page = await pageOf(begun);
  expect((await page.control()).clock).toMatchObject({ paused: true, speed: 10 });
  expect(await page.ask({ do: 'speed', speed: null })).toBe(200);
  expect([await page.ask({ do: 'resume' }), (await begun.ended).code]).toEqual([200, 0]);
  expect(result(begun.stdout()).digest).toBe(alone);
});

test('sim --watch=paused: pauses, steps and resumes without changing the digest', async () => {
  const out = join(folder, 'paused');
  const begun = begin(['sim', ...fast, '--watch=paused', '--json', '--out', out]);
  const page = await pageOf(begun);
  expect(await page.control()).toMatchObject({
    kind: 'sim',
    clock: { holds: 'run', paused: true, speed: null },
    can: ['pause', 'resume', 'step', 'until', 'speed', 'run', 'cancel'],
  });
  expect(await page.read('/api/v1/meta')).toMatchObject({ seq: 0 });
  const { groups } = await page.read<{ groups: { agents: string[] }[] }>('/api/v1/scenario');
  expect(groups.flatMap(({ agents }) => agents)).toHaveLength(40);
  for (let step = 0; step < 5; step += 1) expect(await page.ask({ do: 'step' })).toBe(200);
  const { seq } = await page.read<{ seq: number }>('/api/v1/meta');
  expect(seq).toBeGreaterThan(0);
  expect(await page.read('/api/v1/meta')).toMatchObject({ seq });
  expect(await page.ask({ do: 'until', until: { what: 'outcome' } })).toBe(200);
  await expect.poll(async () => (await page.control()).clock.paused).toBe(true);
  const { blocks } = await page.read<{ blocks: { status: string }[] }>('/api/v1/blocks');
  expect(blocks.filter(({ status }) => status !== 'voting')).toHaveLength(1);
  // An open page does not delay the end.
  const open = new WebSocket(`${page.url.replace('http', 'ws')}/ws/v1`);
  const closed = new Promise((resolve) => open.on('close', resolve));
  await new Promise((resolve) => open.on('open', resolve));
  expect(await page.ask({ do: 'resume' })).toBe(200);
  expect([await begun.ended, await closed]).toEqual([{ code: 0, signal: null }, 1001]);
  expect(result(begun.stdout()).digest).toBe(alone);
  expect((await folkmoot(['replay', out])).code).toBe(0);
});

test('sim --watch: the run waits while the server builds a view', async () => {
  const size = ['--agents', '5000', '--blocks', '6', '--seed', '7', '--unsigned'];
  const begun = begin(['sim', ...size, '--speed', 'max', '--watch', '--json']);
  const page = await pageOf(begun);
  const seq = async () => (await page.read<{ seq: number }>('/api/v1/meta')).seq;
  await expect.poll(seq, { interval: 20 }).toBeGreaterThan(10_000);
  let isShown = false;
  const shown = async () => {
    // On a busy machine the response is BEING_MADE until the view is built.
    for (;;) {
      const view = await page.read<{ entry: number } | undefined>('/api/v1/view');
      if (view) return view;
    }
  };
  const view = shown().finally(() => {
    isShown = true;
  });
  // Positions before the page receives its first view, even if this test is slow.
  const seqs: number[] = [];
  while (!isShown) {
    const told = await seq();
    if (!isShown) seqs.push(told);
  }
  // Without the wait, the run would be far ahead.
  expect(Math.max(0, ...seqs)).toBeLessThan(1.2 * (await view).entry);
  expect((await begun.ended).code).toBe(0);
});

test('sim --watch: thirty watchers do not change the digest', async () => {
  const begun = begin(['sim', ...fast, '--watch=paused', '--json']);
  const page = await pageOf(begun);
  const socket = `${page.url.replace('http', 'ws')}/ws/v1`;
  const all = await Promise.all(Array.from({ length: 30 }, () => Watching.begin(socket)));
  for (const watching of all) await watching.text('watching');
  expect(await page.ask({ do: 'until', until: { what: 'outcome' } })).toBe(200);
  await expect.poll(async () => (await page.control()).clock.paused).toBe(true);
  const { seq } = await page.read<{ seq: number }>('/api/v1/meta');
  // Each watcher receives all events, and the digest does not change.
  for (const watching of all) await watching.reaches(seq);
  expect([await page.ask({ do: 'resume' }), (await begun.ended).code]).toEqual([200, 0]);
  expect(result(begun.stdout()).digest).toBe(alone);
});

test('sim --watch: serves the neighbours of the run and earlier entries', async () => {
  const out = join(folder, 'neighbours');
  const begun = begin(['sim', ...fast, '--watch=paused', '--json', '--out', out]);
  const page = await pageOf(begun);
  await page.ask({ do: 'until', until: { what: 'outcome', status: 'orphaned' } });
  await begun.printed(/paused at its end/);
  const { clock, knows } = await page.control();
  expect([clock.over, knows]).toEqual([true, ['history', 'scenario', 'neighbours']]);
  const { groups } = await page.read<{ groups: { agents: string[] }[] }>('/api/v1/scenario');
  const ids = groups.flatMap(({ agents }) => agents);
  const links = new Set<string>();
  for (const [place, id] of ids.entries()) {
    type Page = { neighbours: { agent_id: string; hears: boolean }[] };
    const { neighbours } = await page.read<Page>(`/api/v1/agents/${id}/neighbours`);
    for (const { agent_id, hears } of neighbours) {
      expect(hears).toBe(true);
      const other = ids.indexOf(agent_id);
      links.add(`${Math.min(place, other)} ${Math.max(place, other)}`);
    }
  }
  const early = await page.read<{ block_height: number }>('/api/v1/network/state?at=45');
  expect(early.block_height).toBe(0);
  await page.ask({ do: 'resume' });
  expect((await begun.ended).code).toBe(0);
  expect(result(begun.stdout()).digest).toBe(alone);
  const edges = csvRows(join(out, 'edges.csv')).map(({ a, b }) => `${a} ${b}`);
  expect([...links].sort()).toEqual(edges.sort());
});

test('sim --watch: a run with a pending pause waits at its end', async () => {
  const begun = begin(['sim', ...fast, '--watch=paused', '--json']);
  const page = await pageOf(begun);
  await page.ask({ do: 'until', until: { what: 'outcome', status: 'orphaned' } });
  await begun.printed(/paused at its end/);
  expect([(await page.control()).clock.paused, begun.stdout()]).toEqual([true, '']);
  expect([await page.ask({ do: 'resume' }), (await begun.ended).code]).toEqual([200, 0]);
  expect(result(begun.stdout()).digest).toBe(alone);
});

test.each(['SIGINT', 'SIGTERM'] as const)('sim --watch: %s ends a waiting run', async (by) => {
  const begun = begin(['sim', ...fast, '--watch=paused']);
  await pageOf(begun);
  expect(await begun.stop(by)).toEqual({ code: null, signal: by });
  expect(begun.stderr()).toMatch(/interrupted: entries 0 to 0 are durable/);
});

test('sim --watch: a port in use is an error', async () => {
  const { url } = await pageOf(begin(['sim', ...fast, '--watch=paused']));
  const { port } = new URL(url);
  const second = await folkmoot(['sim', ...size, '--watch', '--port', port]);
  expect([second.code, second.stdout]).toEqual([1, '']);
});
