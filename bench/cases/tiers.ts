/**
 * The tiers: signed votes and proposals pass through progressively more of the server, to show the
 * cost of each part. In this process, requests are first applied, encoded and digested, then also
 * admitted and verified by the pool, then also written to disk. The last tiers use a separate
 * server, first over HTTP and then with subscribers.
 */

import type { Network } from '../../engine/node/network.js';
import { composeRegister, type Signatory } from '../../engine/protocol/compose.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import { defineCase, type Round, type Row } from '../case.js';
import {
  CONNECTIONS_PER_AGENT,
  createGreetings,
  type Subscribers,
  subscribe,
} from '../clients/clients.js';
import { chain, registerAll, signatories, takeRequests } from '../fixtures/chain.js';
import { type Setting, withNetwork } from '../fixtures/network.js';
import { expectAccepted, passAll } from '../fixtures/population.js';
import { measureRawThreads, measureTime } from '../raw/raw.js';
import { type LoadMeasurement, load } from '../servers/load.js';
import { type FolkmootServer, withFolkmoot } from '../servers/processes.js';

const VALIDATORS = 1_000;
const THREADS = 2;

interface Configuration {
  blocks: number;
  /** Blocks with 10,000 validators. */
  largeBlocks: number;
  /** Duration of each load run. */
  seconds: number;
}

async function run(asked: Configuration, round: Round): Promise<Row[]> {
  const { r, seed } = round;
  const limit = await measureRawThreads(THREADS, seed);
  const engine = await engineOnly(VALIDATORS, asked.blocks, seed);
  const large = await engineOnly(10_000, asked.largeBlocks, seed);
  const verifying = await signed('memory', VALIDATORS, asked.blocks, seed);
  const storing = await signed('lmdb', VALIDATORS, asked.blocks, seed);
  const { plain, published } = await overHttp(asked.seconds, round);
  const http = measured(plain);
  const both = measured(published);
  return [
    { name: 'libsodium alone, 1 core: R', per_s: r, of_r: 1, cpu_us: 1e6 / r },
    { name: `libsodium alone, ${THREADS} threads: the limit`, per_s: limit, of_r: limit / r },
    { name: 'engine', ...figures(engine, r) },
    { name: 'engine+verify', ...figures(verifying, r, engine) },
    { name: 'engine+verify+store', ...figures(storing, r, verifying) },
    { name: 'http', ...figures(http, r, storing), ...http.more },
    { name: 'http+ws', ...figures(both, r, http), ...both.more },
    {
      name: 'http, gate and answer: http less engine+verify+store',
      cpu_us: http.cpu_us - storing.cpu_us,
    },
    { name: `publish to ${SUBSCRIBERS}: http+ws less http`, cpu_us: both.cpu_us - http.cpu_us },
    ...storing.batches,
    ...plain.batches,
    {
      name: 'engine, 1,000 validators: votes/s, relative to R',
      ratio: engine.rate / r,
      wanted: 1.7,
    },
    {
      name: 'engine, 10,000 validators, relative to 1,000',
      ratio: large.rate / engine.rate,
      wanted: 0.75,
    },
    { name: 'engine+verify+store: votes/s, relative to R', ratio: storing.rate / r, wanted: 0.8 },
    { name: 'http, with the generator: votes/s, relative to R', ratio: http.rate / r, wanted: 0.5 },
  ];
}

function measured({ loaded }: OverHttp) {
  const { result, cpuUs, idle, note } = loaded;
  const more = { ...(idle === null ? {} : { idle }), ...(note === '' ? {} : { note }) };
  return { rate: result.arrivals.accepted_per_s, cpu_us: cpuUs, more };
}

type Rate = Pick<Measured, 'rate' | 'cpu_us'>;

function figures({ rate, cpu_us }: Rate, r: number, previous?: Rate) {
  const share = previous ? { of_previous: rate / previous.rate } : {};
  return { per_s: rate, of_r: rate / r, ...share, cpu_us };
}

export const tiersCase = defineCase<Configuration>({
  name: 'tiers',
  about:
    'the same signed votes through an increasing part of the server, relative to libsodium alone',
  everyRound: true,
  sizes: {
    small: { blocks: 12, largeBlocks: 1, seconds: 2.5 },
    large: { blocks: 60, largeBlocks: 6, seconds: 15 },
  },
  run,
});

interface Measured {
  rate: number;
  /** CPU time per request, across all threads. */
  cpu_us: number;
  /** Sizes of verification batches and commits. */
  batches: Row[];
}

/**
 * Requests are applied, encoded, digested and kept in memory. Admission and verification precede
 * the measurement.
 */
function engineOnly(validators: number, blocks: number, seed: string): Promise<Measured> {
  const setting = { verifier: 'off', store: 'memory' } as const;
  return prepared(setting, signatories(seed, validators, false), blocks, async (network, all) => {
    const verified = await Promise.all(all.map((request) => network.verify(request)));
    return async () => {
      for (const one of verified) {
        if ('refusal' in one) throw new Error(one.refusal.message);
        if (network.backlog >= 8_192) await network.durable;
        expectAccepted(network.apply(one).outcome);
      }
      await network.durable;
    };
  });
}

/** Requests go from bytes to disk: admitted, verified by the pool, applied and committed. */
export function signed(
  store: Setting['store'],
  validators: number,
  blocks: number,
  seed: string,
): Promise<Measured> {
  const by = signatories(seed, validators, true);
  return prepared({ verifier: 'pool', store }, by, blocks, async (network, all) => {
    return () => passAll(network, all);
  });
}

/** Registers agents and signs requests ahead, and measures only `work`. */
function prepared(
  setting: Setting,
  by: readonly Signatory[],
  blocks: number,
  work: (network: Network, requests: SignedRequest[]) => Promise<() => Promise<void>>,
): Promise<Measured> {
  return withNetwork(setting, async (network) => {
    await registerAll(network, by);
    const requests = takeRequests(chain(by), blocks);
    const measured = await work(network, requests);
    const before = network.stats;
    const sizesBefore = { verify: [...before.batchSizes], commit: [...before.commitSizes] };
    const { wall, cpu } = await measureTime(measured);
    const { batchSizes, commitSizes } = network.stats;
    const batches = [
      {
        name: 'in process: signatures in a verification batch',
        batch_sizes: since(batchSizes, sizesBefore.verify),
      },
      {
        name: 'in process: entries in a commit',
        batch_sizes: since(commitSizes, sizesBefore.commit),
      },
    ];
    return { rate: requests.length / wall, cpu_us: (cpu * 1e6) / requests.length, batches };
  });
}

const since = (sizes: readonly number[], before: readonly number[]): number[] =>
  sizes.map((count, slot) => count - (before[slot] ?? 0));

/*
 * The last tiers: signed votes over HTTP, then with subscribers. The load tester runs on the same
 * machine and uses part of its CPU time.
 */

/** Number of subscribers. Each vote is published to all of them. */
const SUBSCRIBERS = 10;
/** With fewer requests in flight, the server would spend most of the time waiting for the disk. */
const CONCURRENCY = 512;
/** With fewer agents, blocks would end too often. */
const AGENTS = 4_000;

interface OverHttp {
  loaded: LoadMeasurement;
  batches: Row[];
}

/**
 * A new server spends most of its time compiling, so both tiers are measured on one warmed-up
 * server.
 */
const WARM_UP_MS = { plain: 3_000, published: 500 };

function overHttp(
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
  return subscribe(server, createGreetings(by, SUBSCRIBERS, 'blocks'));
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
      batch_sizes: sizesOf('verify_batch_sizes_total'),
    },
    { name: 'http: entries in a commit', batch_sizes: sizesOf('commit_sizes_total') },
  ];
  return { loaded, batches };
}
