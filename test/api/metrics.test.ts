/**
 * /metrics: labels come from the route table, totals are counters, and blocks are counted by
 * status.
 */
import { expect, test } from 'vitest';
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
  const there = await world();
  await there.join('Ada');
  const { text } = await there.get('/metrics');
  const counters = [
    'verified_total',
    'rejected_total',
    'verify_batches_total',
    'verify_batch_sizes',
    'commits_total',
    'committed_entries_total',
    'commit_seconds_total',
    'commit_sizes',
    'ws_dropped_total',
    'ws_resumed_total',
  ];
  const gauges = ['commit_backlog', 'ws_connections', 'ws_subscribers'];
  const types = (names: string[]) => names.map((name) => [name, typeOf(text, name)]);
  expect(types(counters)).toEqual(counters.map((name) => [name, 'counter']));
  expect(types(gauges)).toEqual(gauges.map((name) => [name, 'gauge']));
  // The values are computed on each read, never accumulated.
  const again = (await there.get('/metrics')).text;
  const verified = /^folkmoot_verified_total (\d+)$/m;
  expect(verified.exec(text)?.[1]).toBe('1');
  expect(verified.exec(again)?.[1]).toBe('1');
});
