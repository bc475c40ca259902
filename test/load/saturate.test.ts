/** `--saturate` finds the capacity of a server whose capacity is known. */
import { expect, test } from 'vitest';
import { folkmoot } from '../cli/helpers.js';
import { full } from '../counts.js';
import { expectSound, type LoadResult } from './generator.js';
import { type Behaviour, knownServer, reads } from './known-server.js';

/** Where the capacity is, and what probes take: seconds, or less where little time is to be had. */
const CAPACITY = 400;
const [repeat, duration] = full ? ['3', '4s'] : ['1', '1s'];

const limited: [string, Behaviour, string[]][] = [
  ['refuses more than it can', { on: reads, does: 'limit', perSecond: CAPACITY }, []],
  [
    'serves one after the other',
    { on: reads, does: 'queue', eachMs: 1_000 / CAPACITY },
    ['--slo', 'p99=300ms'],
  ],
];

test.each(
  full ? limited : limited.slice(0, 1),
)('saturate: the bracket of a server that %s holds its capacity', async (_, behaviour, slo) => {
  const server = await knownServer({ behaviours: [behaviour] });
  const probes = ['--duration', duration, '--warmup', '0s', '--rate', '300'];
  const ended = await folkmoot(
    ['load', '--url', server.url, '--workload', 'reads', '--saturate', '--json']
      .concat(['--repeat', repeat, ...slo])
      .concat(probes),
    { mostMs: 400_000 },
  );
  expect([0, 14], ended.stderr).toContain(ended.code);
  const result = JSON.parse(ended.stdout) as LoadResult;
  expectSound(result);
  const { brackets } = result.saturation!;
  expect(brackets).toHaveLength(Number(repeat));
  for (const { holds, fails, probes: tried } of brackets) {
    // What holds gets 99 % of its rate; the first twentieth of a second is a burst.
    const most = (CAPACITY * (1 + 0.05 / Number.parseInt(duration, 10))) / 0.99;
    expect(holds, JSON.stringify(tried)).toBeLessThanOrEqual(most);
    expect(holds).toBeGreaterThan(0);
    expect(fails).toBeGreaterThan(holds);
    for (const { accepted_per_s } of tried) expect(accepted_per_s).toBeLessThan(1.1 * CAPACITY);
  }
  expect(ended.code).toBe(['VALID', 'UNSTABLE'].includes(result.verdict) ? 0 : 14);
});
