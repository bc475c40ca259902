/** Checks before a run: rate limits of the server, the servers of --url, and conditions. */
import { expect, test } from 'vitest';
import { type LoadOptions, loadDefaults, workloads } from '../../../../dist/bench/load/options.js';
import { assertQuotas } from '../../../../dist/bench/load/run.js';
import type { Target } from '../../../../dist/bench/load/server.js';
import { expectOneLine, runCommand } from '../../../support/command.js';

const asked: LoadOptions = {
  ...loadDefaults,
  ...workloads.votes,
  ...{ url: 'http://127.0.0.1', workload: 'votes', concurrency: null, rate: 100, agents: 1_000 },
  ...{ durationMs: 10_000, warmupMs: 0, seed: 'x', keepAgents: false },
};

const limited = (limits_profile: string | null): Target => ({
  server: {
    ...{ url: asked.url, version: null, limits_profile },
    ...{ durable: null, network_id: null, epoch: null },
  },
  perMinute: { register: 1, vote: 10, propose: 5, read: 600 },
});

const check = (profile: string | null, change: Partial<LoadOptions>) => () =>
  assertQuotas(limited(profile), { ...asked, ...change });

test.each<[string | null, Partial<LoadOptions>]>([
  ['off', { rate: 1_000_000 }],
  [null, { rate: 1_000_000 }],
  ['bench', {}],
  ['spec', { workload: 'reads', rate: 10, durationMs: 60_000 }],
  // A short run uses less than one minute's quota.
  ['spec', { workload: 'reads', rate: 200, durationMs: 3_000 }],
])('limits: with profile %s, a run with %o may start', (profile, change) => {
  expect(check(profile, change)).not.toThrow();
});

test('limits: names every limit that a run would exceed, and what to do', () => {
  expect(check('spec', { rate: 2_000 })).toThrow(
    expect.objectContaining({
      problem: 'RATE_LIMITED',
      message: expect.stringMatching(
        /register: 1,000 .*\b1 a minute \(0\.02.*vote: 20 .*\b10 a minute \(0\.17.*bench/,
      ),
    }),
  );
});

test.each<[string, Partial<LoadOptions>]>([
  ['register', { agents: 20_000 }],
  ['vote', { agents: 10, rate: 200_000, durationMs: 60_000 }],
  ['read', { workload: 'reads', rate: 200_000, durationMs: 60_000 }],
])('limits: refuses a run for which the limit %s of profile bench is too low', (limit, change) => {
  const message = expect.stringMatching(new RegExp(`${limit}: .*--limits off`));
  expect(check('bench', change)).toThrow(
    expect.objectContaining({ problem: 'RATE_LIMITED', message }),
  );
});

const many = Array.from({ length: 65 }, (_, port) => `http://127.0.0.1:${port + 1}`).join(',');

test.each([
  ['the same twice', ['--url', 'http://127.0.0.1:1,http://127.0.0.1:1/'], 'repeated'],
  ['the same in two options', ['--url', 'http://a', '--url', 'http://b,http://A/'], 'repeated'],
  ['65', ['--url', many], 'too many'],
  ['an invalid one', ['--url', 'http://127.0.0.1:1,localhost'], 'invalid'],
  ['--keep-going in a closed loop', ['--keep-going', '--concurrency', '2'], '--concurrency'],
  ['--keep-going in a search', ['--keep-going', '--saturate'], '--saturate'],
])('servers: refuses %s', async (_, args, problem) => {
  const { code, stderr } = await runCommand(['load', '--workload', 'reads', ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
});

test.each([
  ['--fail-on', 'tps<1'],
  ['--fail-on', 'p99>1s,finality.p99>1s'],
  ['--fail-on', 'p999>1s', '--rate', '10'],
  ['--saturate', '--slo', 'tps=800'],
])('conditions: %s %s is unmeasured: exit code 17, without a request', async (...flags) => {
  // No server runs at this address, so a run that starts exits with 1.
  const ended = await runCommand(['load', '--url', 'http://127.0.0.1:1', ...flags]);
  expectOneLine(ended);
  expect(ended.code).toBe(17);
});
