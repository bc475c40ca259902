/** Failing servers: the run ends in time, with the figures so far and the right verdict. */
import type { LoadResult } from '../../../../bench/load/result.js';
import { folkmoot } from '../../../support/cli.js';
import { expectOneLine } from '../../../support/command.js';
import { freePort } from '../../../support/fixture.js';
import { expectSound, load, operation } from '../generator.js';
import { reads } from '../known/behaviour.js';
import { knownServer, treated } from '../known/known-server.js';

const short = ['--workload', 'reads', '--warmup', '0s', '--rate', '100'];

test.concurrent('ends: no server, or a silent one: exit 1 with one line', async () => {
  const silent = await knownServer({ behaviours: [{ on: ['meta'], does: 'keepSilent' }] });
  const gone = `http://127.0.0.1:${await freePort()}`;
  const runs = [gone, silent.url].map((url) =>
    folkmoot(['load', '--url', url, ...short, '--json']),
  );
  for (const ended of await Promise.all(runs)) {
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expectOneLine(ended);
    expect(ended.stderr).toContain('no response');
  }
});

test.concurrent('ends: a server dies during a run: exit 14, with figures so far', async () => {
  const behaviours = [{ on: reads, after: 5, does: 'die', startMs: 800 }] as const;
  const server = await knownServer({ behaviours });
  const args = ['load', '--url', server.url, ...short, '--duration', '60s', '--json'];
  const { code, stdout, stderr } = await folkmoot(args);
  expect(code, stderr).toBe(14);
  const result = JSON.parse(stdout) as LoadResult;
  expectSound(result);
  expect(result).toMatchObject({ verdict: 'INVALID', ended: 'failed' });
  expect(result.reasons.join()).toContain('server unreachable');
  // Only --keep-going measures outages.
  expect(result.outages).toBeUndefined();
  const { accepted, broken } = operation(result, 'read');
  const answered = treated(await server.record(), 'answer', reads).length;
  expect(accepted).toBeGreaterThan(0);
  expect(accepted).toBeLessThanOrEqual(answered);
  expect(broken).toBeGreaterThan(0);
  expect(result.measured_s).toBeLessThan(30);
});

test.concurrent('ends: fails if the epoch changed during the run', async () => {
  const behaviours = [{ on: reads, after: 5, does: 'newEpoch', startMs: 300 }] as const;
  const result = await load(await knownServer({ behaviours }), { rate: 100, durationMs: 800 });
  expect(result).toMatchObject({ verdict: 'INVALID', ended: 'failed' });
  expect(result.reasons.join()).toMatch(/epoch.*epoch-1.*epoch-2/);
});

test.concurrent('ends: the event stream is closed: nothing is counted afterwards', async () => {
  const behaviours = [{ on: ['propose'], after: 1, does: 'closeSockets', startMs: 400 }] as const;
  const server = await knownServer({ behaviours });
  const asked = { workload: 'transactions', rate: 100, batch: 5, durationMs: 60_000 } as const;
  const result = await load(server, asked);
  expect(result).toMatchObject({ verdict: 'INVALID', ended: 'failed' });
  expect(result.reasons.join()).toContain('1001');
  expect(result.measured_s).toBeLessThan(30);
  const { finalized } = await server.record();
  const final = finalized.reduce((sum, { transactions }) => sum + transactions, 0);
  expect(result.transactions.finalized).toBeGreaterThan(0);
  expect(result.transactions.finalized).toBeLessThanOrEqual(final);
});

test.concurrent('ends: fails if the server restarts with new data', async () => {
  const behaviours = [{ on: ['vote'], after: 20, does: 'newEpoch', startMs: 300 }] as const;
  const server = await knownServer({ behaviours });
  const result = await load(server, {
    ...{ workload: 'votes', agents: 6, rate: 100, durationMs: 60_000 },
  });
  expect(result).toMatchObject({ verdict: 'INVALID', ended: 'failed' });
  expect(result.measured_s).toBeLessThan(30);
  expect(result.reasons.join()).toContain('load cleanup --seed known --url');
  expect(operation(result, 'vote').accepted).toBe(
    treated(await server.record(), 'answer', ['vote']).filter(({ status }) => status === 201)
      .length,
  );
});

test.concurrent('ends: reports why agents were refused', async () => {
  const quota = { status: 429, code: 'RATE_LIMITED', reason: 'QUOTA_USED' } as const;
  const behaviours = [{ ...quota, on: ['register'], after: 3, does: 'refuse' }] as const;
  const server = await knownServer({ behaviours });
  const run = load(server, { workload: 'votes', agents: 6 });
  await expect(run).rejects.toMatchObject({ problem: 'REGISTRATION_LIMITED' });
});
