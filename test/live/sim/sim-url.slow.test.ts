/** `sim --url`: a scenario on a served network yields the same measures as the simulation. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NetworkClient } from 'folkmoot/client';
import { type Measures, RemoteError, type SimResult, simulate, simulateRemote } from 'folkmoot/sim';
import { failureOf, live } from '../../client/helpers.js';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine } from '../../support/command.js';
import { freePort } from '../../support/fixture.js';
import { host } from '../../support/host.js';
import { main } from '../../support/paths.js';
import { csvRows, suiteFolder } from '../../support/runs.js';
import { hurriedScenario, scenarioFile } from '../clients/scenarios.js';

const folder = suiteFolder();
const SPEED = 5;
const PERIOD_MS = 10_000;
const shares = ['finalized_share', 'rejected_share', 'expired_share'] as const;

test('sim --url: outcomes agree with the same scenario in virtual time', async () => {
  const agents = [{ group: 'town', count: 30, producers: 1, traits: { think_ms: 300, care: 0.6 } }];
  const consensus = { voting_period_ms: PERIOD_MS };
  const scenario = hurriedScenario({ agents, consensus });
  const simulated = await simulate(scenario, { store: 'memory' });
  const { url } = await live({ genesis: { voting_period_ms: PERIOD_MS / SPEED } });
  const out = join(folder, 'kept');
  const remote = await simulateRemote(scenario, { url, speed: SPEED, out });
  expect(remote).toMatchObject({ url, speed: SPEED, digest: '', log_digest: '', verdict: 'pass' });
  expect(remote.scenario.consensus.voting_period_ms).toBe(PERIOD_MS / SPEED);
  for (const share of shares) {
    const [here, there] = [simulated.measures[share]!, remote.measures[share]!];
    expect(Math.abs(here - there), `${share}: ${here} and ${there}`).toBeLessThanOrEqual(0.1);
  }
  expect(remote.measures.rejected).toBeGreaterThan(0);
  const kept = JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8')) as SimResult;
  expect([kept.measures, existsSync(join(out, 'network'))]).toEqual([remote.measures, false]);
  expectWhole(out, remote.measures);
});

/** Checks that every table agrees with the totals. */
function expectWhole(out: string, measures: Measures): void {
  const blocks = csvRows(join(out, 'blocks.csv'));
  expect(blocks).toHaveLength(measures.proposed!);
  expect(blocks.every((b) => b.electors === '30' && b.producer_name)).toBe(true);
  const votes = csvRows(join(out, 'agents.csv')).map((row) => Number(row.votes));
  expect(votes).toHaveLength(30);
  expect(votes.reduce((sum, count) => sum + count, 0)).toBe(measures.votes);
}

test('sim --url: links and faults of the scenario apply; a second run continues', async () => {
  const { url, network } = await live({ genesis: { voting_period_ms: 2_000 } });
  const scenario = hurriedScenario({
    agents: [{ group: 'town', count: 10, producers: 1, traits: { think_ms: 100 } }],
    links: { latency: { mean_ms: 60, spread_ms: 30 }, loss: 0.05, duplication: 0.2 },
    faults: [
      { kind: 'clock_skew', whom: [{ count: 1 }], start_ms: 0, length_ms: 1e9, skew_ms: 400_000 },
    ],
    length: { blocks: 4 },
  });
  const first = await simulateRemote(scenario, { url, speed: 20 });
  expect(first.verdict).toBe('pass');
  expect(first.refused.TIMESTAMP_SKEW).toBeGreaterThan(0);
  expect(first.refused.duplicate).toBeGreaterThan(0);
  expect(first.measures.messages_lost).toBeGreaterThan(0);
  const height = network.read.networkState().block_height;
  const second = await simulateRemote(scenario, { url, speed: 20 });
  expect(second.verdict).toBe('pass');
  expect(network.read.networkState().block_height).toBe(height + second.measures.finalized!);
});

test('sim --url --out: the summary and the report name the server, not a log', async () => {
  const { url } = await live({ genesis: { voting_period_ms: 20_000 } });
  const out = join(folder, 'reported');
  const town = scenarioFile(folder, { length: { blocks: 2 }, measure: { votes: true } });
  const args = ['--url', url, '--speed', '10', '--out', out];
  const { code, stdout, stderr } = await folkmoot(['sim', town, ...args]);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`server        ${url} `)]);
  expect(stderr).not.toContain('digest');
  const report = readFileSync(join(out, 'report.html'), 'utf8');
  expect(report).toContain(`--url ${url}`);
  expect(report).not.toMatch(/<dt>run digest|folkmoot replay/);
});

test('sim --url: a killed server ends the run with one line and exit code 1', async () => {
  const server = await host({ data: join(folder, 'killed') });
  const town = scenarioFile(folder, { length: { blocks: 1_000 } });
  const running = folkmoot(['sim', town, '--url', server.url, '--speed', '5']);
  const client = new NetworkClient({ url: server.url });
  await expect.poll(async () => (await client.networkState()).block_height).toBeGreaterThan(0);
  await server.kill('SIGKILL');
  const ended = await running;
  expect([ended.code, ended.stdout]).toEqual([1, '']);
  expect(ended.stderr).toMatch(/\nfolkmoot: [^\n]+\n$/);
  expect(ended.stderr).toContain(server.url);
});

test('sim --url: the run continues when the server returns', async () => {
  const port = await freePort();
  // The voting period is long enough for a busy machine. A block in voting at the restart stays
  // open for this long.
  const where = { port, path: join(folder, 'comes-back'), genesis: { voting_period_ms: 8_000 } };
  const before = await live(where);
  // Orphans are not a failure. Producers on a busy machine learn about blocks late.
  const until = { measure: 'finalized', at_least: 24 };
  const scenario = hurriedScenario({ length: { until } });
  const running = simulateRemote(scenario, { url: before.url, speed: 5 });
  const { read } = before.network;
  await expect.poll(() => read.networkState().block_height).toBeGreaterThan(2);
  await before.stop();
  const height = before.network.read.networkState().block_height;
  const after = await live(where);
  const { verdict, ended_by, measures, events } = await running;
  expect([verdict, ended_by]).toEqual(['pass', 'until finalized at_least 24']);
  // The run counted blocks before and after the restart, each block once.
  expect(measures.finalized).toBeGreaterThanOrEqual(24);
  expect(measures.finalized).toBeGreaterThan(height);
  expect(measures.finalized).toBeLessThanOrEqual(after.network.read.networkState().block_height);
  expect(events).toBeGreaterThan(100);
});

test('sim --url: another network at the same address ends the run', async () => {
  const port = await freePort();
  const before = await live({ port });
  const running = failureOf(
    simulateRemote(hurriedScenario({ length: { blocks: 1_000 } }), { url: before.url, speed: 5 }),
  );
  const client = new NetworkClient({ url: before.url });
  await expect.poll(async () => (await client.networkState()).active_validators).toBeGreaterThan(0);
  await before.stop();
  await live({ port });
  const error = await running;
  expect(error).toBeInstanceOf(RemoteError);
  expect((error as RemoteError).code).toMatch(/^(RESTARTED|REPLACED)$/);
});

test('sim --url: scenarios that cannot run on a server are refused at startup', async () => {
  const { url } = await live({ limits: 'spec' });
  const limited = await folkmoot(['sim', scenarioFile(folder), '--url', url]);
  expect(limited.code).toBe(2);
  expectOneLine(limited, 1);
  expect(limited.stderr).toContain('--limits bench or off');

  const unsigned = scenarioFile(folder, { signatures: 'unverified' });
  const refused = await folkmoot(['sim', unsigned, '--url', url]);
  expect(refused.code).toBe(2);
  expectOneLine(refused, 1);

  const closed = `http://127.0.0.1:${await freePort()}`;
  const alone = await folkmoot(['sim', scenarioFile(folder), '--url', closed]);
  expect([alone.code, alone.stdout]).toEqual([1, '']);
  expectOneLine(alone, 1);
});

const statuses = async (url: string) => {
  const { validators, producers } = await new NetworkClient({ url }).agents();
  return [...validators, ...producers].length;
};

test('sim --url: agents leave at the end, and rejoin with a warning', async () => {
  const { url } = await live({ genesis: { voting_period_ms: 60_000 } });
  const town = scenarioFile(folder, { length: { blocks: 2 } });
  const run = (...more: string[]) =>
    folkmoot(['sim', town, '--url', url, '--speed', '10', ...more]);
  const first = await run();
  expect([first.code, await statuses(url)], first.stderr).toEqual([0, 0]);
  expect(first.stderr).not.toContain('note:');
  const again = await run();
  expect([again.code, await statuses(url)], again.stderr).toEqual([0, 0]);
  expect(again.stderr).toMatch(/^folkmoot: note: .*--seed/m);
  const others = await run('--seed', 'others');
  expect([others.code, await statuses(url)]).toEqual([0, 0]);
  expect(others.stderr).not.toContain('note:');
});

test.each(['SIGINT', 'SIGTERM'] as const)('sim --url: agents leave on %s', async (signal) => {
  const { url } = await live({ genesis: { voting_period_ms: 2_000 } });
  const town = scenarioFile(folder, { length: { blocks: 1_000 } });
  const child = spawn(process.execPath, [main, 'sim', town, '--url', url, '--speed', '5'], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await expect.poll(() => statuses(url)).toBeGreaterThan(5);
  child.kill(signal);
  expect([await ended, await statuses(url)]).toEqual([[null, signal], 0]);
});

test('sim --url: agents with a wrong clock also leave', async () => {
  const { url } = await live({ genesis: { voting_period_ms: 2_000 } });
  const skew = { kind: 'clock_skew', whom: [{ count: 2 }], start_ms: 0, length_ms: 1e9 };
  const social = { breaks: { rate: 1 } };
  const town = hurriedScenario({
    ...{ social, faults: [{ ...skew, skew_ms: 200_000 }], length: { blocks: 3 } },
  });
  await simulateRemote(town, { url, speed: 20 });
  expect(await statuses(url)).toBe(0);
});
