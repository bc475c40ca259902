/**
 * Signed votes over HTTP: `folkmoot serve` beside the plain server that one would write without it
 * (`bench/plain-server.ts`), the same bytes from the same client, one server after the other.
 */
import { defineCase, type Round } from '../../case.js';
import { postRate } from '../../clients/posts.js';
import { chain, NETWORK_ID, registration, signatories } from '../../fixtures/chain.js';
import { bytesOf } from '../../fixtures/http.js';
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
/** The registrations, and for each block a proposal and its votes. */
const roundsOf = (blocks: number) => 1 + 2 * blocks;

async function run({ agents, warmUp, blocks }: Configuration, round: Round): Promise<Row[]> {
  const { r, seed } = round;
  const posted = signed(seed, agents, warmUp + blocks);
  const load = { connections: CONNECTIONS, warmUp: roundsOf(warmUp) };
  const network = ['--network-id', NETWORK_ID];
  const folkmoot = await withFolkmoot((server) => postRate(server, posted, load), network);
  const plain = await withPlain(NETWORK_ID, (server) => postRate(server, posted, load));
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

/** Everything that is posted, signed ahead: both servers get the same bytes. */
function signed(seed: string, agents: number, blocks: number): Uint8Array[][] {
  const by = signatories(seed, agents, true);
  const timestamp = new Date().toISOString();
  const rounds = [by.map((one, ordinal) => bytesOf(registration(one, ordinal, timestamp)))];
  const all = chain(by, timestamp);
  for (let block = 0; block < blocks; block += 1) {
    const { proposal, votes } = all.next().value;
    rounds.push([bytesOf(proposal)], votes.map(bytesOf));
  }
  return rounds;
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
