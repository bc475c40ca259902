/**
 * Three nodes over three etcd members under mixed load. Node and etcd processes are killed and
 * stopped at random from a seed. Every acknowledged request is in every log once, and a subscriber
 * that switches nodes every second misses nothing.
 */
import { join } from 'node:path';
import { faults } from '../support/cluster/faults.js';
import { expectKept } from '../support/cluster/history.js';
import { hopper } from '../support/cluster/hopper.js';
import { isDone, longestPause, mixedLoad } from '../support/cluster/load.js';
import {
  expectTogether,
  insist,
  nodeProcess,
  positionOf,
  type Told,
} from '../support/cluster/processes.js';
import { counts } from '../support/counts.js';
import { etcd, hasEtcd } from '../support/etcd.js';
import { temporaryFolder } from '../support/fixture.js';
import { drawnFrom, seed } from '../support/seeded.js';
import { agentOf, register } from '../support/service/signer.js';

const ada = agentOf('ada');
const agents = [ada, ...['bob', 'eve', 'kim', 'lee', 'max', 'zoe'].map(agentOf)] as const;

/** Valid refusals for agents that act on slightly stale state. */
const usual = new Set([
  ...['VOTING_CLOSED', 'STALE_PARENT', 'OPEN_BLOCK', 'TOO_MANY_OPEN', 'REPLAYED'],
  // An agent that has missed votes is dormant until it acts again.
  'NOT_IN_ELECTORATE',
]);

const names = Object.keys(faults);

/** Counts each outcome. */
function reasonsOf(told: readonly Told[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { status, reason } of told) {
    const name = reason || String(status);
    found[name] = (found[name] ?? 0) + 1;
  }
  return found;
}

test.skipIf(!hasEtcd)('faults: acknowledged requests survive faults of processes', async () => {
  const below = drawnFrom(seed);
  const order = await etcd({ members: 3, args: ['--pre-vote'] });
  const folder = temporaryFolder();
  const args = ['--voting-period-ms', '3000'];
  const start = (name: string) =>
    nodeProcess({ cluster: order.url, name, folder: join(folder, name), args });
  const nodes = [await start('n1'), await start('n2'), await start('n3')];
  const told = [];
  for (const [index, by] of agents.entries()) told.push(await insist(nodes, register(by), index));
  const { epoch } = (await positionOf(nodes[0]!))!;
  const hops = hopper(nodes, ada, epoch);
  const load = mixedLoad(nodes, agents, drawnFrom(seed + 1));
  const around = { nodes, order, below, more: load.more };
  const drawn: string[] = [];
  const pauses: Record<string, number> = {};
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1_000;
  while (drawn.length < counts.clusterFaults) {
    // Draws each fault once before any fault repeats.
    const name = names[drawn.length] ?? names[below(names.length)]!;
    drawn.push(name);
    const from = performance.now();
    await faults[name]!(around);
    await load.more(15);
    const pause = longestPause(load.doneAt, from, performance.now());
    pauses[name] = Math.max(pauses[name] ?? 0, Math.round(pause));
  }
  await load.stop();
  told.push(...load.told);
  const context = `FOLKMOOT_TEST_SEED=${seed}: ${drawn.join(', ')}`;
  const asked = `${load.reads} reads, ${hops.hops} hops, writes ${JSON.stringify(reasonsOf(told))}`;
  const found = `longest without a write done, ms: ${JSON.stringify(pauses)}`;
  process.stdout.write(`${drawn.length} faults, ${Math.round(seconds())} s: ${asked}; ${found}\n`);
  const refused = told.filter((one) => !isDone(one) && one.status !== null && one.status !== 503);
  expect(
    refused.filter(({ reason }) => !usual.has(reason)),
    context,
  ).toEqual([]);
  expect(told.filter(({ sent }) => sent > 1).length, context).toBeGreaterThan(0);
  const { event_seq } = await expectTogether(nodes);
  await expect
    .poll(() => hops.seqs.at(-1) ?? 0, { timeout: 120_000 })
    .toBeGreaterThanOrEqual(event_seq);
  await hops.stop();
  expect(hops.seqs, context).toEqual(hops.seqs.map((_, index) => index + 1));
  expect(hops.hops).toBeGreaterThan(3);
  await expectKept(nodes, told);
});
