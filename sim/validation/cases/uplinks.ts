/** A queue in front of an uplink: how long messages wait that come by chance. */
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { meanInterval, meanOf } from '../interval.js';
import { measuresOf } from '../runs.js';

const UPLINK_KBPS = 1;
/** Of a text of 123 characters, and the quotes on either side. */
const SERVICE_MS = (8 * 125) / UPLINK_KBPS;
const SENDERS = 100;
/** After this many times of service nothing is left of the empty queues of the start. */
const WARMUP_MS = 300_000;

/**
 * Sends after times with an exponential distribution, by comparisons alone (von Neumann 1951), so
 * that they are the same on every machine.
 */
const script = `
const exponential = (rng) => {
  for (let whole = 0; ; whole += 1) {
    const first = rng.real();
    let accepted = true;
    let last = first;
    for (let next = rng.real(); next < last; next = rng.real()) {
      last = next;
      accepted = !accepted;
    }
    if (accepted) return whole + first;
  }
};

const next = ({ memory, nowMs, parameters }, rng) => {
  memory.at = (memory.at ?? nowMs) + parameters.meanMs * exponential(rng);
  return { do: 'wake', ms: Math.max(1, Math.ceil(memory.at) - nowMs) };
};

export const start = next;
export const hear = () => null;
export const mingle = () => null;
export const wake = (view, rng) => [
  { do: 'send', to: [view.neighbours[0]], content: 'x'.repeat(123) },
  next(view, rng),
];
`;

/** One makes blocks, so that the run goes on; the others only send. */
function senders(meanMs: number, lengthMs: number) {
  const module = 'sends.mjs';
  const strategy = { kind: 'script', module, parameters: { meanMs } };
  const agents = [
    { group: 'clerk', count: 1, producers: 1, strategy: { kind: 'honest' } },
    { group: 'senders', count: SENDERS, uplink_kbps: UPLINK_KBPS, strategy },
  ];
  const consensus = { policy: 'majority', participation: 0, dormant_after: 0 };
  return {
    files: { [module]: script },
    agents,
    links: { latency: { distribution: 'constant', mean_ms: 50, spread_ms: 0 } },
    consensus: { ...consensus, voting_period_ms: 10_000 },
    producers: { block_interval_ms: 10_000 },
    measure: { every_ms: 3_600_000, warmup_ms: WARMUP_MS },
    length: { virtual_ms: WARMUP_MS + lengthMs },
  };
}

async function row(size: Size, utilisation: number): Promise<Row> {
  const { files, ...raw } = senders(SERVICE_MS / utilisation, scaled(size, 100_000, 400_000));
  const seeds = Array.from({ length: scaled(size, 5, 15) }, (_, index) => `${index + 1}`);
  const waits: number[] = [];
  for (const seed of seeds) {
    const { uplink_wait_mean_ms } = await measuresOf(raw, files, seed);
    waits.push(uplink_wait_mean_ms!);
  }
  return {
    what: `utilisation ${utilisation}: mean wait, ms`,
    theory: (utilisation * SERVICE_MS) / (2 * (1 - utilisation)),
    measured: meanOf(waits),
    interval: meanInterval(waits),
    from: `${seeds.length} runs`,
  };
}

export const uplinks: ValidationCase = {
  name: 'uplinks',
  about:
    'Agents send messages of one size at instants of a Poisson process, and each leaves an ' +
    'uplink of 1 kbit/s in one second: a queue with one server and a constant time of service ' +
    '(M/D/1). With the utilisation r and the time of service s, a message waits ' +
    'r s / (2 (1 - r)) on the mean.',
  source: 'Pollaczek and Khinchine',
  rows: async (size) => [await row(size, 0.5), await row(size, 0.8)],
};
