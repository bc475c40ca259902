/** `folkmoot load --watch`: a load run's page, and the end of the command. */
import { once } from 'node:events';
import { readFileSync, truncateSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { LoadState } from '../../../dist/api/contract/load.js';
import type { LoadResult } from '../../../dist/bench/load/result.js';
import { live } from '../../client/helpers.js';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine } from '../../support/command.js';
import { freePort, temporaryFolder } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import { watchLoad } from './load-run.js';

const reads = ['--workload', 'reads', '--rate', '50', '--warmup', '1s'];
const rowsOf = ({ tables }: LoadState, wanted: string) =>
  tables.find(({ id }) => id === wanted)?.rows ?? [];
const requestsOf = (load: LoadState) => rowsOf(load, 'requests').map(([, sent]) => Number(sent));
const resultIn = (stdout: string) => JSON.parse(stdout) as LoadResult;
/** On a busy machine the verdict can be CLIENT_BOUND. */
const codeOf = ({ verdict }: LoadResult) =>
  verdict === 'INVALID' || verdict === 'CLIENT_BOUND' ? 14 : 0;

test('load --watch: starts without waiting, and ends with the run', async () => {
  const { url } = await live();
  const args = ['--url', url, ...reads, '--duration', '1s', '--json'];
  const { ended, stdout, stderr } = await watchLoad([...args, '--watch']);
  const { code, signal } = await ended;
  const result = resultIn(stdout());
  expect([code, signal]).toEqual([codeOf(result), null]);
  expect(result).toMatchObject({ ended: 'complete', arrivals: { intended: 50 } });
  expect(stderr()).toMatch(/ shows the load run; /);
});

test('load --watch=paused: starts on request and shows all states up to the verdict', async () => {
  const { url } = await live();
  const out = join(temporaryFolder(), 'run');
  const args = ['--url', url, ...reads, '--duration', '4s', '--json', '--out', out];
  const run = await watchLoad([...args, '--watch=paused']);
  const control = async () => (await (await fetch(`${run.url}/api/v1/control`)).json()).data;
  expect(await control()).toMatchObject({
    ...{ kind: 'load', can: ['resume', 'stop'] },
    clock: { holds: 'run', paused: true },
  });
  const first = await run.shown();
  expect(first.load).toMatchObject({
    ...{ phase: 'waiting', verdict: null, series: null, search: null },
    ...{ title: 'reads, 50/s', url, page: `${url}/ui/`, planned_s: 4 },
  });
  // Open a client that never reads, and a connection that stays open.
  const idle = connect(Number(new URL(run.url).port), '127.0.0.1');
  await once(idle, 'connect');
  const following = run.follow();
  expect(await run.ask('resume')).toBe(200);
  expect(await control()).toMatchObject({ can: ['stop'], clock: { paused: false } });
  const all = await following;
  const { code } = await run.ended;
  const result = resultIn(run.stdout());
  expect(code).toBe(codeOf(result));
  const story = ['waiting', 'preparing', 'warm-up', 'measured', 'draining', 'over'];
  const places = all.map(({ phase }) => story.indexOf(phase));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(new Set(all.map(({ phase }) => phase))).toContain('measured');
  const last = all.at(-1)!;
  expect(last.verdict).toEqual({
    ...{ verdict: result.verdict, reasons: result.reasons, ended: 'complete' },
  });
  expect(requestsOf(last)).toEqual(result.operations.map(({ sent }) => sent));
  // During the run no verdict is final, and no count decreases.
  const counted = all.map((one) => requestsOf(one)[0] ?? 0);
  expect(counted).toEqual([...counted].sort((a, b) => a - b));
  for (const { verdict } of all.slice(0, -1)) expect(verdict?.ended ?? null).toBeNull();
  idle.destroy();

  const explored = begin(['explore', out, '--json']);
  const [line] = await explored.printed(/^\{.*\}\n/);
  const shown = JSON.parse(line!) as { url: string };
  expect(shown).toEqual({
    ...{ event: 'listening', url: expect.any(String), page: `${shown.url}/ui/load` },
    ...{ folder: out, verdict: result.verdict },
  });
  const { data } = await (await fetch(`${shown.url}/api/v1/load`)).json();
  expect([data.load, (await explored.stop()).code]).toEqual([{ ...last, page: null }, 0]);
  for (const [option, why] of [
    ['--verify', '--verify'],
    ['--export', 'report.html'],
  ] as const) {
    const { code, stderr } = await folkmoot(['explore', out, option]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  }
  truncateSync(join(out, 'result.json'), 500);
  const damaged = await folkmoot(['explore', out, '--json']);
  expect([damaged.code, damaged.stdout]).toEqual([2, '']);
  expectOneLine(damaged);
});

test('load --watch: the page stops a run, which reports its figures so far', async () => {
  const { url } = await live();
  const run = await watchLoad(['--url', url, ...reads, '--duration', '10m', '--json', '--watch']);
  const following = run.follow();
  await expect.poll(async () => requestsOf((await run.shown()).load)[0]).toBeTruthy();
  expect(await run.ask('stop')).toBe(200);
  const last = (await following).at(-1)!;
  // The page stops a run as Ctrl+C does.
  expect(await run.ended).toEqual({ code: null, signal: 'SIGINT' });
  expect(resultIn(run.stdout())).toMatchObject({ verdict: 'INCOMPLETE', ended: 'interrupted' });
  const verdict = { verdict: 'INCOMPLETE', ended: 'interrupted' };
  expect(last).toMatchObject({ phase: 'over', verdict });
});

test('load --watch: a search shows its probes and brackets', async () => {
  const { url } = await live();
  const args = ['--url', url, '--workload', 'reads', '--rate', '20', '--saturate'];
  const short = ['--duration', '300ms', '--warmup', '0s', '--slo', 'p99=30s', '--json'];
  const run = await watchLoad([...args, ...short, '--watch']);
  const following = run.follow();
  await expect
    .poll(async () => rowsOf((await run.shown()).load, 'probes').length)
    .toBeGreaterThan(1);
  const { load } = await run.shown();
  expect(load.search).toMatchObject({ repeat: 3 });
  expect(load.facts[0]!.rows[0]!.note).toContain('p99<=30s');
  expect(rowsOf(load, 'brackets').length).toBeGreaterThan(0);
  expect([rowsOf(load, 'probes')[0]!.slice(0, 2), await run.ask('stop')]).toEqual([[1, 20], 200]);
  const all = await following;
  await run.ended;
  expect(all.flatMap((one) => one.search?.rate ?? [])).toContain(20);
  const result = resultIn(run.stdout());
  expect(result).toMatchObject({ verdict: 'INCOMPLETE', ended: 'interrupted' });
  expect(rowsOf(all.at(-1)!, 'brackets').map(([, holds, fails]) => [holds, fails])).toEqual(
    result.saturation!.brackets.map(({ holds, fails }) => [holds, fails ?? 'no rate']),
  );
});

test('load --watch: reports an unreachable server on the page and by exit code', async () => {
  const gone = `http://127.0.0.1:${await freePort()}`;
  const run = await watchLoad(['--url', gone, ...reads, '--watch=paused']);
  expect((await run.shown()).load.page).toBeNull();
  const following = run.follow();
  expect(await run.ask('resume')).toBe(200);
  const last = (await following).at(-1)!;
  expect(last).toMatchObject({ phase: 'failed', series: null, verdict: null });
  expect(last.said).toContain('no response');
  expect((await run.ended).code).toBe(1);
  expect(run.stderr()).toContain('no response');
});

test.each(['SIGINT', 'SIGTERM'] as const)('load --watch: %s ends a waiting run', async (by) => {
  const { url } = await live();
  const run = await watchLoad(['--url', url, ...reads, '--watch=paused']);
  const following = run.follow();
  await run.shown();
  expect(await run.stop(by)).toEqual({ code: null, signal: by });
  expect((await following).at(-1)!.said).toContain('interrupted');
});

test.each([
  'SIGINT',
  'SIGTERM',
] as const)('load: %s: INCOMPLETE, no threshold passes, and the exit of the signal', async (by) => {
  const { url } = await live();
  const junit = join(temporaryFolder(), 'junit.xml');
  const limits = ['--fail-on', 'errors>99%', '--junit', junit];
  const run = begin(['load', '--url', url, ...reads, '--duration', '10m', ...limits, '--json']);
  await run.printed(/^measuring /m);
  expect(await run.stop(by)).toEqual({ code: null, signal: by });
  expect(resultIn(run.stdout())).toMatchObject({ verdict: 'INCOMPLETE', ended: 'interrupted' });
  const xml = readFileSync(junit, 'utf8');
  expect(xml).toMatch(/tests="2" failures="0" errors="2"/);
  expect(xml).toMatch(/<property name="generator_commit"/);
});

test('load --watch: a port in use is an error before the run', async () => {
  const { url } = await live();
  const taken = new URL(url).port;
  const ended = await folkmoot(['load', '--url', url, ...reads, '--watch', '--port', taken]);
  expect([ended.code, ended.stdout]).toEqual([1, '']);
  expectOneLine(ended);
});
