/**
 * Signed votes over HTTP: `folkmoot serve` beside the plain server that one would write without it
 * (`bench/plain-server.ts`), the same bytes from the same client, one server after the other.
 */
import { defineCase, type Round } from '../../case.js';
import { postRate } from '../../clients/posts.js';
import { NETWORK_ID } from '../../fixtures/chain.js';
import { postedBlocks, roundsOf } from '../../fixtures/posted.js';
import type { Row } from '../../result.js';
import { withFolkmoot } from '../../servers/folkmoot.js';
import { withPlain } from '../../servers/plain.js';

interface Configuration {
  agents: number;
  /** So many blocks before anything is measured: servers that have just begun still compile. */
  warmUp: number;
  blocks: number;
}

/** With fewer under way, most of the time is spent waiting for the disk. */
const CONNECTIONS = 512;
async function run({ agents, warmUp, blocks }: Configuration, round: Round): Promise<Row[]> {
  const { r, seed } = round;
  // Both servers get the same bytes.
  const posted = postedBlocks(seed, agents, warmUp + blocks);
  const load = { connections: CONNECTIONS, warmUp: roundsOf(warmUp) };
  const network = ['--network-id', NETWORK_ID];
  const folkmoot = await withFolkmoot((server) => postRate([server], posted, load), network);
  const plain = await withPlain(NETWORK_ID, (server) => postRate([server], posted, load));
  const row = (name: string, { perSecond, cpuUs }: typeof plain): Row => ({
    name,
    per_s: perSecond,
    of_r: perSecond / r,
    cpu_us: cpuUs,
  });
  return [
    row('signed votes, folkmoot serve', folkmoot),
    row('the same votes, fastify + node:crypto + LMDB', plain),
    { name: 'the same for the CPU time that it takes', ratio: plain.cpuUs / folkmoot.cpuUs },
    {
      name: 'signed votes/s of fastify + node:crypto + LMDB, same client',
      ratio: folkmoot.perSecond / plain.perSecond,
      wanted: 1.5,
    },
  ];
}

export const plainCase = defineCase<Configuration>({
  name: 'plain',
  about: 'signed votes over HTTP, beside a plain server of fastify, node:crypto and LMDB',
  everyRound: true,
  sizes: {
    small: { agents: 2_000, warmUp: 6, blocks: 12 },
    large: { agents: 4_000, warmUp: 12, blocks: 36 },
  },
  run,
});
