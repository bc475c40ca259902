/** What a network takes: memory for each agent, disk for each vote. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { defineCase, type Round } from '../../case.js';
import { chain, registerAll, requestsOf, signatories } from '../../fixtures/chain.js';
import { withNetwork } from '../../fixtures/network.js';
import { passAll } from '../../fixtures/pass.js';
import type { Row } from '../../result.js';

interface Configuration {
  agents: number;
  blocks: number;
}

const VALIDATORS = 1_000;

async function run({ agents, blocks }: Configuration, { seed }: Round): Promise<Row[]> {
  const perAgent = await agentBytes(agents, seed);
  const perVote = await voteBytes(blocks, seed);
  const name = `heap and buffers, an agent of ${agents.toLocaleString('en-US')}`;
  return [
    { name, value: perAgent, unit: 'bytes' },
    { name: 'disk, a vote', value: perVote, unit: 'bytes' },
  ];
}

/** Of an idle agent in a network that is kept on disk. */
function agentBytes(agents: number, seed: string): Promise<number> {
  const { gc } = globalThis;
  if (!gc) throw new Error('the case footprint needs node --expose-gc, as npm run bench has it');
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

/** Growth of the data file, committed in batches as under load. */
function voteBytes(blocks: number, seed: string): Promise<number> {
  return withNetwork({ verifier: 'inline', store: 'lmdb' }, async (network, path) => {
    const by = signatories(seed, VALIDATORS, true);
    await registerAll(network, by);
    const size = () => statSync(join(path, 'data.mdb')).size;
    const requests = requestsOf(chain(by), blocks);
    const before = size();
    await passAll(network, requests);
    return (size() - before) / requests.length;
  });
}

export const footprintCase = defineCase<Configuration>({
  name: 'footprint',
  about: 'memory of an agent, disk of a vote',
  sizes: { small: { agents: 10_000, blocks: 5 }, large: { agents: 100_000, blocks: 60 } },
  run,
});
