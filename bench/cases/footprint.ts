/** Cases for memory and disk use per agent, vote and idle subscriber. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineCase, type Round, type Row } from '../case.js';
import { CONNECTIONS_PER_AGENT, createGreetings, subscribe } from '../clients/clients.js';
import { chain, registerAll, signatories, takeRequests } from '../fixtures/chain.js';
import { withNetwork } from '../fixtures/network.js';
import { passAll } from '../fixtures/population.js';
import type { MeasuredServer } from '../servers/child-server.js';
import { registerAt, withFolkmoot } from '../servers/processes.js';

interface FootprintOptions {
  agents: number;
  blocks: number;
}

const VALIDATORS = 1_000;

async function measureFootprint(
  { agents, blocks }: FootprintOptions,
  { seed }: Round,
): Promise<Row[]> {
  const perAgent = await agentBytes(agents, seed);
  const perVote = await voteBytes(blocks, seed);
  const name = `heap and buffers, an agent of ${agents.toLocaleString('en-US')}`;
  return [
    { name, value: perAgent, unit: 'bytes' },
    { name: 'disk, a vote', value: perVote, unit: 'bytes' },
  ];
}

/** Memory use per idle agent in a network on disk. */
function agentBytes(agents: number, seed: string): Promise<number> {
  const { gc } = globalThis;
  if (!gc) throw new Error('case footprint needs node --expose-gc; use npm run bench');
  const used = () => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  return withNetwork({ verifier: 'off', store: 'lmdb' }, async (network) => {
    const before = used();
    await registerAll(network, signatories(seed, agents, false));
    return (used() - before) / agents;
  });
}

/** Growth of the data file per vote, with commits in batches as under load. */
function voteBytes(blocks: number, seed: string): Promise<number> {
  return withNetwork({ verifier: 'inline', store: 'lmdb' }, async (network, path) => {
    const by = signatories(seed, VALIDATORS, true);
    await registerAll(network, by);
    const size = () => statSync(join(path, 'data.mdb')).size;
    const requests = takeRequests(chain(by), blocks);
    const before = size();
    await passAll(network, requests);
    return (size() - before) / requests.length;
  });
}

export const footprintCase = defineCase<FootprintOptions>({
  name: 'footprint',
  about: 'memory per agent, disk space per vote',
  sizes: { small: { agents: 10_000, blocks: 5 }, large: { agents: 100_000, blocks: 60 } },
  run: measureFootprint,
});

interface IdleOptions {
  subscribers: number;
}

async function measureIdle({ subscribers }: IdleOptions, { seed }: Round): Promise<Row[]> {
  const bytes = await withFolkmoot(async (server) => {
    const by = signatories(seed, Math.ceil(subscribers / CONNECTIONS_PER_AGENT), true);
    await registerAt(server, by);
    // Connects a hundred subscribers first, so that one-time allocations are complete.
    await (await subscribe(server, createGreetings(by, 100, 'outcomes'))).close();
    return grown(server, subscribers, createGreetings(by, subscribers, 'outcomes'));
  });
  const count = subscribers.toLocaleString('en-US');
  const kilobytes = bytes / 1024;
  const name = `${count} idle subscribers: memory of each`;
  return [{ name, value: kilobytes, unit: 'KiB', allowed: 20 }];
}

/** Long enough for a server to respond and collect garbage. */
const SETTLED_MS = 1_500;

async function grown(
  server: MeasuredServer,
  count: number,
  greetings: string[][],
): Promise<number> {
  await sleep(SETTLED_MS);
  const before = await server.residentBytes();
  const subscribers = await subscribe(server, greetings);
  await sleep(SETTLED_MS);
  const after = await server.residentBytes();
  await subscribers.close();
  return (after - before) / count;
}

export const idleCase = defineCase<IdleOptions>({
  name: 'idle',
  about: 'resident memory per subscriber, with 1,000 idle subscribers',
  sizes: { small: { subscribers: 1_000 }, large: { subscribers: 10_000 } },
  run: measureIdle,
});
