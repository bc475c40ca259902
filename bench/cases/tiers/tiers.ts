/**
 * The tiers: signed votes and proposals through ever more of the server, so that one sees where the
 * time goes. In this process: applied, encoded and digested; with admission and verification by
 * the pool; on disk. Then a server of its own, over HTTP, and with subscribers beside.
 */
import { defineCase, type Round } from '../../case.js';
import { rawVerificationsOf } from '../../raw/raw.js';
import type { Row } from '../../result.js';
import { type OverHttp, overHttp, SUBSCRIBERS } from './tiers-http.js';
import { engineOnly, type Measured, signed } from './tiers-local.js';

const VALIDATORS = 1_000;
/** The pool's default. */
const THREADS = 2;

interface Configuration {
  blocks: number;
  /** Of 10,000 validators. */
  largeBlocks: number;
  /** Of load, each. */
  seconds: number;
}

async function run(asked: Configuration, round: Round): Promise<Row[]> {
  const { r, seed } = round;
  const limit = await rawVerificationsOf(THREADS, seed);
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
    { name: 'engine, 1,000 validators: votes/s of R', ratio: engine.rate / r, wanted: 1.7 },
    { name: 'engine, 10,000 validators of 1,000', ratio: large.rate / engine.rate, wanted: 0.75 },
    { name: 'engine+verify+store: votes/s of R', ratio: storing.rate / r, wanted: 0.8 },
    { name: 'http, generator beside: votes/s of R', ratio: http.rate / r, wanted: 0.5 },
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
  about: 'the same signed votes through ever more of the server, beside libsodium alone',
  everyRound: true,
  sizes: {
    small: { blocks: 12, largeBlocks: 1, seconds: 2.5 },
    large: { blocks: 60, largeBlocks: 6, seconds: 15 },
  },
  run,
});
