/**
 * The last tiers: signed votes over HTTP, then with subscribers beside. The load tester runs on the
 * same machine and takes its share of it, as it would for anybody who tries.
 */
import { composeRegister } from '../../../engine/internal.js';
import type { Round } from '../../case.js';
import {
  CONNECTIONS_PER_AGENT,
  greetingsOf,
  type Subscribers,
  subscribe,
} from '../../clients/subscribers.js';
import { signatories } from '../../fixtures/chain.js';
import type { Row } from '../../result.js';
import { type FolkmootServer, withFolkmoot } from '../../servers/folkmoot.js';
import { type Loaded, load } from '../../servers/load.js';

/** Of every vote: each vote is published to all of them. */
export const SUBSCRIBERS = 10;
/** With fewer, most of the time is spent waiting for the disk. */
const CONCURRENCY = 512;
/** With fewer, blocks end too often. */
const AGENTS = 4_000;

export interface OverHttp {
  loaded: Loaded;
  batches: Row[];
}

/**
 * A server that has just begun spends most of its time on compiling: both tiers are measured on one
 * that has worked for a while.
 */
const WARM_UP_MS = { plain: 3_000, published: 500 };

/** Without and with subscribers, on one server. */
export function overHttp(
  seconds: number,
  { seed }: Round,
): Promise<{ plain: OverHttp; published: OverHttp }> {
  return withFolkmoot(async (server) => {
    const plain = await votes(server, seconds, seed, WARM_UP_MS.plain);
    const subscribers = await subscribed(server, seed);
    try {
      return { plain, published: await votes(server, seconds, seed, WARM_UP_MS.published) };
    } finally {
      await subscribers.close();
    }
  });
}

async function subscribed(server: FolkmootServer, seed: string): Promise<Subscribers> {
  const by = signatories(`${seed} listens`, Math.ceil(SUBSCRIBERS / CONNECTIONS_PER_AGENT), true);
  const timestamp = new Date().toISOString();
  const listener = {
    personality: 'neutral',
    name: 'listener',
    capabilities: ['producer'],
  } as const;
  for (const one of by) await server.send(composeRegister(one, timestamp, listener));
  return subscribe(server, greetingsOf(by, SUBSCRIBERS, 'blocks'));
}

async function votes(
  server: FolkmootServer,
  seconds: number,
  seed: string,
  warmupMs: number,
): Promise<OverHttp> {
  const loaded = await load(server, {
    workload: 'votes',
    agents: AGENTS,
    concurrency: CONCURRENCY,
    connections: CONCURRENCY,
    durationMs: 1000 * seconds,
    warmupMs,
    seed,
  });
  const metrics = await server.metrics();
  const sizesOf = (name: string): number[] => {
    const sizes: number[] = [];
    for (;;) {
      const count = metrics.get(`folkmoot_${name}{from="${2 ** sizes.length}"}`);
      if (count === undefined) return sizes;
      sizes.push(count);
    }
  };
  const batches = [
    {
      name: 'http: signatures in a verification batch',
      batch_sizes: sizesOf('verify_batch_sizes'),
    },
    { name: 'http: entries in a commit', batch_sizes: sizesOf('commit_sizes') },
  ];
  return { loaded, batches };
}
