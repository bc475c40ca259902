/**
 * /metrics: labels come from the route table, totals are counters, and blocks are counted by
 * status.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createVerifier, virtualClock } from 'folkmoot';
import { runInSlices, type SlicedWork } from '../../dist/api/time-slices.js';
import { temporaryFolder } from '../support/fixture.js';
import { raw, statusOf } from '../support/service/raw.js';
import { oneTransport, world } from '../support/service/server.js';

const typeOf = (text: string, name: string) =>
  new RegExp(`^# TYPE folkmoot_${name} (\\w+)$`, 'm').exec(text)?.[1];

test.each(oneTransport)('metrics over %s: count by route, method and status', async (transport) => {
  const there = await world({ transport });
  const ada = await there.join('Ada');
  const path = `/api/v1/agents/${ada.agentId}`;
  await there.read(path);
  await there.read(path);
  await there.get('/nowhere/of/this/name');
  await there.send({ method: 'DELETE', path, headers: {}, body: '' });
  const { text } = await there.get('/metrics');
  const counted = text.match(/^folkmoot_http_requests_total\{.*$/gm);
  const line = (route: string, method: string, status: number, count: number) =>
    `folkmoot_http_requests_total{route="${route}",method="${method}",status="${status}"} ${count}`;
  expect(counted?.sort()).toEqual(
    [
      line('/api/v1/agents/register', 'POST', 201, 1),
      line('/api/v1/agents/{id}', 'GET', 200, 2),
      line('unknown', 'other', 404, 1),
      line('unknown', 'other', 405, 1),
    ].sort(),
  );
});

test('metrics: count a block by its final status', async () => {
  const there = await world();
  const agents = await there.joinAll('Ada', 'Bob', 'Cyd');
  const hash = await there.propose(agents[0]!);
  for (const agent of agents) await there.vote(agent, hash);
  const { text } = await there.get('/metrics');
  expect(text).toMatch(/^folkmoot_blocks_total\{status="finalized"\} 1$/m);
});

test('metrics: expose totals as counters, and other values as gauges', async () => {
  const verifier = createVerifier('pool', { threads: 3 });
  onTestFinished(() => verifier.close());
  const there = await world({ verifier });
  await there.join('Ada');
  const { text } = await there.get('/metrics');
  const counters = [
    ...['verified_total', 'rejected_total', 'verify_batches_total', 'verify_batch_sizes_total'],
    ...['commits_total', 'committed_entries_total', 'commit_seconds_total', 'commit_sizes_total'],
    ...['ws_dropped_total', 'ws_resumed_total'],
  ];
  const threads = ['verify_threads', 'verify_threads_limit', 'verify_threads_busy'];
  const gauges = ['commit_backlog', 'ws_connections', 'ws_subscribers', ...threads];
  const types = (names: string[]) => names.map((name) => [name, typeOf(text, name)]);
  expect(types(counters)).toEqual(counters.map((name) => [name, 'counter']));
  expect(types(gauges)).toEqual(gauges.map((name) => [name, 'gauge']));
  const values = threads.map(
    (name) => new RegExp(`^folkmoot_${name} (\\d+)$`, 'm').exec(text)?.[1],
  );
  expect(values).toEqual(['1', '3', '0']);
  // The values are computed on each read, never accumulated.
  const again = (await there.get('/metrics')).text;
  const verified = /^folkmoot_verified_total (\d+)$/m;
  expect([verified.exec(text)?.[1], verified.exec(again)?.[1]]).toEqual(['1', '1']);
});

/** Returns a histogram's cumulative buckets, and its sum and count. */
function histogram(text: string, name: string, labels = '') {
  const lines = text.split('\n').filter((line) => line.startsWith(`folkmoot_${name}_`));
  const here = lines.filter((line) => line.includes(labels));
  const value = (line: string | undefined) => Number(line?.split(' ').at(-1));
  const buckets = here.filter((line) => line.includes('_bucket{')).map(value);
  const of = (part: string) => value(here.find((line) => line.includes(`${name}_${part}`)));
  return { buckets, sum: of('sum'), count: of('count') };
}

test('metrics: histograms have cumulative buckets, a sum and a count', async () => {
  const verifier = createVerifier('pool', { threads: 1 });
  onTestFinished(() => verifier.close());
  const there = await world({ verifier, path: temporaryFolder() });
  const agents = await there.joinAll('Ada', 'Bob', 'Cyd');
  const hash = await there.propose(agents[0]!);
  for (const agent of agents) await there.vote(agent, hash);
  const { text } = await there.get('/metrics');
  const vote = 'route="/api/v1/consensus/vote",method="POST"';
  const counts = { http_request_duration_seconds: 3, verify_wait_seconds: 7 };
  for (const [name, count] of Object.entries(counts)) {
    expect(typeOf(text, name)).toBe('histogram');
    const found = histogram(text, name, name.startsWith('http') ? vote : '');
    expect(found.count, name).toBe(count);
    expect(found.buckets).toEqual([...found.buckets].sort((a, b) => a - b));
    expect(found.buckets.length).toBe(17);
    expect(found.buckets.at(-1)).toBe(count);
    expect(found.sum).toBeGreaterThan(0);
    expect(found.sum).toBeLessThan(60);
  }
  const commits = histogram(text, 'commit_duration_seconds');
  const total = Number(/^folkmoot_commit_seconds_total (\S+)$/m.exec(text)?.[1]);
  expect(commits.count).toBeGreaterThan(3);
  expect(commits.sum).toBeCloseTo(total, 9);
  expect(Number(/^folkmoot_disk_free_bytes (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(2 ** 20);
  const entries = Number(/^folkmoot_log_entries (\S+)$/m.exec(text)?.[1]);
  expect(entries).toBe(there.network.read.position.seq);
});

test('metrics: finality counts network time from proposal to close, by status', async () => {
  const clock = virtualClock(Date.now());
  const there = await world({ clock });
  const agents = await there.joinAll('Ada', 'Bob', 'Cyd');
  const hash = await there.propose(agents[0]!);
  clock.set(clock.now() + 400);
  for (const agent of agents) await there.vote(agent, hash);
  const { text } = await there.get('/metrics');
  const { sum, count } = histogram(text, 'finality_seconds', 'status="finalized"');
  expect([sum, count]).toEqual([0.4, 1]);
  expect(text).toContain('folkmoot_finality_seconds_bucket{le="0.25",status="finalized"} 0');
  expect(text).toContain('folkmoot_finality_seconds_bucket{le="0.5",status="finalized"} 1');
});

test('metrics: an incomplete request adds no duration', async () => {
  const there = await world({ server: { exchange: { requestMs: 50 } } });
  const head = 'POST /api/v1/consensus/vote HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10';
  expect(statusOf(await raw(there.url, `${head}\r\n\r\n{`))).toBe(503);
  const { text } = await there.get('/metrics');
  const vote = 'route="/api/v1/consensus/vote"';
  expect(histogram(text, 'http_request_duration_seconds', vote).count).toBe(0);
});

test('metrics: count requests that node:http refuses by itself', async () => {
  const there = await world({ transport: 'node' });
  const refused = {
    400: 'GET /healthz HTTP/1.1\r\nno colon\r\n\r\n',
    431: `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(9_000)}\r\n\r\n`,
    505: 'GET /healthz\r\n\r\n',
  };
  for (const [status, bytes] of Object.entries(refused)) {
    expect(statusOf(await raw(there.url, bytes))).toBe(Number(status));
  }
  const { text } = await there.get('/metrics');
  for (const status of Object.keys(refused)) {
    const labels = `route="unknown",method="other",status="${status}"`;
    expect(text).toContain(`folkmoot_http_requests_total{${labels}} 1\n`);
  }
});

// ---- Long reads in slices. Event-loop turns pass in between, and all reads share one slice per
// turn.

/** Keeps the processor busy for `ms` milliseconds, in steps of 0.1 ms. */
function* work(ms: number, steps: string[], name: string): SlicedWork<string> {
  for (let step = 0; step < 10 * ms; step += 1) {
    const until = performance.now() + 0.1;
    while (performance.now() < until);
    steps.push(name);
    yield;
  }
  return name;
}

test('slices: answer a short read synchronously', () => {
  expect(runInSlices(work(0, [], 'short'))).toBe('short');
});

test('slices: yield to the event loop in a long read, without delaying a short one', async () => {
  const steps: string[] = [];
  const long = runInSlices(work(60, steps, 'long'));
  expect(long).toBeInstanceOf(Promise);
  let turns = 0;
  let isOver = false;
  const counted = (async () => {
    for (; !isOver; turns += 1) await nextTurn();
  })();
  const short = await runInSlices(work(4, steps, 'short'));
  const before = steps.filter((name) => name === 'long').length;
  expect([[short, before < 300], await long]).toEqual([['short', true], 'long']);
  isOver = true;
  await counted;
  expect(turns).toBeGreaterThan(10);
});

test('slices: pass an exception to its read, and continue others', async () => {
  function* failing(): SlicedWork<never> {
    yield* work(5, [], 'failing');
    throw new RangeError('no such entry');
  }
  const [failed, long] = await Promise.allSettled([
    runInSlices(failing()),
    runInSlices(work(10, [], 'long')),
  ]);
  expect([failed.status, long]).toEqual(['rejected', { status: 'fulfilled', value: 'long' }]);
  expect(await runInSlices(work(5, [], 'next'))).toBe('next');
});
