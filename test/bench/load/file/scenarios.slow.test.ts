/** Runs of load files against a server with a counter of its own. */
import { createServer } from 'node:http';
import { readLoadFile, shareOf } from '../../../../dist/bench/load/load-file.js';
import { mergeLoads } from '../../../../dist/bench/load/merge.js';
import type { LoadOptions } from '../../../../dist/bench/load/options.js';
import { runLoad } from '../../../../dist/bench/load/run.js';
import { document, fenced } from '../../../own-client/markdown.js';
import { runCommand } from '../../../support/command.js';
import { world } from '../../../support/service/server.js';
import { listen, written } from '../fixture.js';
import { expectSound, isWhole, type Operation, sum, until } from '../generator.js';
import { knownServer } from '../known/known-server.js';

const state = JSON.stringify({ success: true, data: { block_height: 1, server_time: null } });

interface Counter {
  url: string;
  /** Times of the scheduled requests, which read the state. */
  times: number[];
  /** Number of these requests that it answered. */
  answered(): number;
  /** Loses all connections, and listens again after a time. */
  restart(afterMs: number): void;
}

/** Starts a server that counts requests, and answers none while it stalls. */
async function counter(stall: { fromMs: number; toMs: number } | null = null): Promise<Counter> {
  const times: number[] = [];
  let answered = 0;
  const server = createServer((request, response) => {
    if (request.url === '/api/v1/meta') return void response.writeHead(404).end('{}');
    // A run reads the list of agents last, before its schedule starts.
    if (request.url!.includes('/agents')) {
      times.length = 0;
      answered = 0;
    }
    if (request.url !== '/api/v1/network/state') return void response.end(state);
    const nowMs = performance.now();
    times.push(nowMs);
    const sinceMs = nowMs - times[0]!;
    const waitMs = stall && sinceMs >= stall.fromMs ? Math.max(0, stall.toMs - sinceMs) : 0;
    response.once('finish', () => (answered += 1));
    setTimeout(() => response.end(state), waitMs);
  });
  const url = await listen(server);
  const restart = (afterMs: number) => {
    server.close();
    server.closeAllConnections();
    setTimeout(() => server.listen(Number(new URL(url).port), '127.0.0.1'), afterMs);
  };
  return { url, times, answered: () => answered, restart };
}

/** Adds up the delays of this process that are longer than 50 ms. */
function watchDelays(): () => number {
  let [sumMs, lastMs] = [0, performance.now()];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    sumMs += Math.max(0, nowMs - lastMs - 50);
    lastMs = nowMs;
  }, 10);
  return () => {
    clearInterval(timer);
    return sumMs;
  };
}

const fileOf = (file: object, others: Record<string, string> = {}): string =>
  written({ 'load.yaml': file, ...others });

const state1 = { state: 1 };

function optionsOf(file: object, change: Partial<LoadOptions> & { url: string }): LoadOptions {
  const { options } = readLoadFile(fileOf(file));
  return shareOf({ seed: 'file', keepAgents: false, ...options, ...change });
}

async function run(file: object, change: Partial<LoadOptions> & { url: string }) {
  const result = await runLoad(optionsOf(file, change));
  expectSound(result);
  return result;
}

test('scenarios: the executors of k6 give the planned arrivals of each second', async () => {
  const scenarios = {
    rate: { executor: 'constant-arrival-rate', rate: 40, duration: '4s' },
    ramp: {
      ...{ executor: 'ramping-arrival-rate', startTime: '5s', startRate: 0 },
      stages: [
        { duration: '2s', target: 80 },
        { duration: '2s', target: 80 },
      ],
    },
    users: { executor: 'constant-vus', startTime: '10s', vus: 4, duration: '1s', think: '100ms' },
    stairs: {
      ...{ executor: 'ramping-vus', startTime: '12s', startVUs: 0, think: '50ms' },
      stages: [{ duration: '2s', target: 8 }],
    },
    shared: { executor: 'shared-iterations', startTime: '15s', vus: 3, iterations: 50 },
    each: { executor: 'per-vu-iterations', startTime: '16s', vus: 3, iterations: 20 },
  };
  for (const one of [scenarios.shared, scenarios.each]) Object.assign(one, { maxDuration: '1s' });
  const file = {
    scenarios: Object.fromEntries(
      Object.entries(scenarios).map(([name, one]) => [name, { ...one, mix: state1 }]),
    ),
  };
  const attempt = async () => {
    const started = await counter();
    return { server: started, result: await run(file, started) };
  };
  const { result, server } = await until(attempt, (found) => isWhole(found.result));
  // Requests only arrive late, so the least late of the first scenario shows when it began.
  const begin = Math.min(...server.times.slice(0, 160).map((ms, index) => ms - 25 * index));
  expect(server.times).toHaveLength(sum(result.scenarios!.map(({ sent }) => sent)));
  // A late generator moves arrivals into the next second, at 80 per second at most.
  const lateMs = result.generator.lag.max!;
  const slack = 1 + 0.08 * lateMs;
  const planned = [40, 40, 40, 40, 0, 20, 60, 80, 80];
  for (const [second, wanted] of planned.entries()) {
    const { length } = server.times.filter((ms) => Math.floor((ms - begin) / 1_000) === second);
    expect(Math.abs(length - wanted), `second ${second}`).toBeLessThanOrEqual(slack);
    expect(Math.abs(result.seconds[second]!.intended - wanted)).toBeLessThanOrEqual(1);
  }
  const sent = Object.fromEntries(result.scenarios!.map((one) => [one.name, one.sent]));
  expect(sent).toMatchObject({ rate: 160, shared: 50, each: 60 });
  expect(Math.abs(sent.ramp! - 240)).toBeLessThanOrEqual(1);
  // Lag makes each iteration of a user longer.
  expect(sent.users).toBeLessThanOrEqual(46);
  expect(sent.users).toBeGreaterThanOrEqual(40 / (1 + lateMs / 100) - 6);
  expect(sent.stairs).toBeGreaterThan(100 / (1 + lateMs / 50));
  expect(result.scenarios!.map(({ dropped }) => dropped)).toEqual([0, 0, 0, 0, 0, 0]);
});

test('scenarios: a stall of 2 s is counted exactly, and maxVUs drops arrivals', async () => {
  const steady = { executor: 'constant-arrival-rate', rate: 50, duration: '5s', mix: state1 };
  const file = { scenarios: { queued: steady, limited: { ...steady, maxVUs: 25 } } };
  const attempt = async () => {
    const started = await counter({ fromMs: 1_000, toMs: 3_000 });
    const lateMs = watchDelays();
    return { server: started, result: await run(file, started), lateMs: lateMs() };
  };
  // A late generator drops what it has not sent at the end.
  const { server, result, lateMs } = await until(attempt, (found) => {
    return found.result.scenarios![0]!.dropped === 0;
  });
  const [queued, limited] = result.scenarios!;
  expect(sum([queued!.sent, limited!.sent])).toBe(server.times.length);
  expect(queued).toMatchObject({ intended: 250, sent: 250, accepted: 250, dropped: 0 });
  // In the stall of 2 s, 25 arrivals are under way, those of half a second, and 75 are dropped.
  expect(limited!.intended).toBe(250);
  expect(limited!.dropped).toBeGreaterThanOrEqual(70);
  // While this process does not run, no arrival ends.
  expect(limited!.dropped).toBeLessThanOrEqual(80 + 0.05 * lateMs);
  expect(limited!.accepted).toBe(limited!.sent);
  // Arrivals that waited are measured from their scheduled time.
  expect(queued!.response.max).toBeGreaterThan(1_900);
  expect(result.verdict).not.toBe('VALID');
});

test('scenarios: the merged counts of two generators are those of the server', async () => {
  const scenarios = {
    steady: { executor: 'constant-arrival-rate', rate: 60, duration: '3s', mix: state1 },
    random: {
      ...{ executor: 'constant-arrival-rate', rate: 60, duration: '3s', mix: state1 },
      arrivals: 'poisson',
    },
  };
  let leadMs = 750;
  const attempt = async () => {
    leadMs = Math.min(2 * leadMs, 24_000);
    const started = await counter();
    const startAtMs = Date.now() + leadMs;
    const all = [0, 1].map((index) =>
      run({ scenarios }, { ...started, shard: { index, count: 2, startAtMs } }).catch((error) => {
        // A busy machine may need more time to prepare.
        if (error.problem === 'START_MISSED') return null;
        throw error;
      }),
    );
    return { server: started, parts: (await Promise.all(all)).filter((one) => one !== null) };
  };
  const { server, parts } = await until(attempt, (found) => {
    return found.parts.length === 2 && found.parts.every(isWhole);
  });
  const merged = mergeLoads(
    parts.map((result, index) => ({ folder: `part-${index}`, result })),
    { clockBoundMs: 60_000 },
  );
  const sent = sum(merged.operations.map((one) => one.sent));
  expect(parts.map(({ scenarios: [first] = [] }) => first!.intended)).toEqual([90, 90]);
  // Each generator also reads the clock of the server before and after the run.
  expect(server.times).toHaveLength(sent + 4);
  expect(merged.arrivals.accepted).toBe(sent);
  expect(sum(merged.scenarios!.map((one) => one.sent))).toBe(sent);
  expect(merged.scenarios![0]).toMatchObject({ intended: 180, response: { count: 180 } });
});

test('scenarios: a restart of the server loses no count', async () => {
  const server = await counter();
  const steady = { executor: 'constant-arrival-rate', rate: 50, duration: '6s', mix: state1 };
  const restart = setTimeout(() => server.restart(1_000), 2_500);
  onTestFinished(() => clearTimeout(restart));
  const result = await run({ scenarios: { steady } }, { ...server, keepGoing: true });
  const [{ sent, accepted, broken, timed_out }] = result.operations as [Operation];
  expect([sent, result.outages!.length]).toEqual([300, 1]);
  // Probes after the outage are no requests of the run, and an answer can be lost on its way.
  const lost = server.answered() - accepted;
  expect([lost >= 0, lost <= broken + 20]).toEqual([true, true]);
  expect(accepted + broken + timed_out).toBe(sent);
  expect(broken).toBeGreaterThan(30);
});

test('connections: each one that the run counts is on the server', async () => {
  const server = await knownServer();
  const rate = { executor: 'constant-arrival-rate', rate: 20, duration: '2s' };
  const scenarios = {
    ...{ fresh: { ...rate, mix: { connect: 1 } }, again: { ...rate, mix: { reconnect: 1 } } },
    slow: { ...rate, rate: 5, mix: { slowread: 1 } },
  };
  const result = await run({ agents: 10, scenarios }, server);
  const { sockets } = await server.record();
  const [{ accepted, sent }] = result.operations as [Operation];
  expect([result.operations.length, accepted]).toEqual([1, sent]);
  expect(sent).toBeGreaterThan(60);
  // Ten agents are connected before the run, so that they can lose a connection.
  expect(sockets.authenticated).toBe(sent + 10);
  expect(result.delivery).toMatchObject({ subscribers: 10, disconnects: 0 });
  expect(result.reasons.join()).toContain('connections that read nothing');
});

test('seed: a run starts again at once after one that was cut', async () => {
  const server = await world({ limits: 'off' });
  const rate = { executor: 'constant-arrival-rate', rate: 20, duration: '2s' };
  const file = { agents: 4, scenarios: { a: { ...rate, mix: { status: 1 } } } };
  const options = { url: server.url, seed: 'named', seedNamed: true };
  // The agents stay active, and their last changes are signed for later.
  await runLoad(optionsOf(file, { ...options, keepAgents: true }));
  const { ended, operations } = await run(file, options);
  expect([ended, operations[0]!.accepted > 0]).toEqual(['complete', true]);
  const { ended: again } = await run(file, options);
  expect(again).toBe('complete');
});

test('module: own requests with data; failures are counted with their reasons', async () => {
  const source = `export default {
    setup: ({ agents }) => ({ agents }),
    iterate(agent, { iteration, data, setup }) {
      if (iteration % 10 === 1) throw new Error('one');
      if (iteration % 10 === 2) for (;;) {}
      if (iteration % 10 === 3) return { do: 'get', path: '/state' };
      if (iteration % 10 === 4) return { do: 'status', reason: data.name };
      if (iteration % 2 === 0) return { do: 'meme', text: data.name + iteration + setup.agents };
      return { do: 'vote' };
    },
    respond(agent, { accepted, status, data }, { iteration }) {
      if (data.meme_id === undefined || iteration % 4 === 0) return null;
      return { do: 'get', path: '/api/v1/network/state' };
    },
    teardown() { throw new Error('last'); },
  };`;
  const own = { executor: 'constant-arrival-rate', rate: 25, duration: '4s' };
  const path = fileOf(
    {
      agents: 8,
      scenarios: {
        own: { ...own, ...{ module: 'm.js', data: 'd.ndjson' } },
        // The changes of an agent must arrive in order, also those of two scenarios.
        other: { ...own, rate: 10, mix: { status: 1 } },
      },
    },
    { 'm.js': source, 'd.ndjson': '{"name":"a"}\n{"name":"b"}\n' },
  );
  const { options } = readLoadFile(path);
  // The counts are exact in any run that sends everything, also on a busy machine.
  const lines: string[] = [];
  const result = await until(async () => {
    const { url } = await world({ limits: 'off' });
    const onPreparing = (line: string) => void lines.push(line);
    return runLoad({ ...options, url, seed: 's', keepAgents: false }, { onPreparing });
  }, isWhole);
  expectSound(result);
  expect(lines.filter((line) => line.includes('last'))).not.toEqual([]);
  const of = (name: string) => result.operations.find(({ operation }) => operation === name);
  expect([of('script')!.sent, of('meme')!.sent, of('vote')!.sent]).toEqual([30, 30, 30]);
  expect(of('meme')!.accepted).toBe(30);
  expect(of('status')).toMatchObject({ sent: 50, accepted: 50, refused: [] });
  // Requests that follow a response are sent beside the schedule.
  const { accepted: following, sent: followed } = of('read (beside)')!;
  expect([following > 0, following <= 20, followed === following]).toEqual([true, true, true]);
  const { refused } = of('script')!;
  expect(refused.map(({ code, count }) => [code, count])).toEqual([
    ['SCRIPT_FAILED', 10],
    ['SCRIPT_FAILED', 10],
    ['SCRIPT_FAILED', 10],
  ]);
  const reasons = refused.map(({ reason }) => reason).join();
  expect(reasons).toMatch(/one \(line \d\)/);
  expect(reasons).toContain('expected path: ');
  expect(result.verdict).not.toBe('VALID');
});

test('module: that of the guide runs', async () => {
  const [source] = fenced(document('docs/load-testing.md'), 'js');
  const own = { executor: 'constant-arrival-rate', rate: 20, duration: '2s' };
  const path = fileOf(
    { agents: 4, scenarios: { own: { ...own, module: 'm.js', data: 'd.csv' } } },
    { 'm.js': source!, 'd.csv': 'name\nAda\nBob\n' },
  );
  const { options } = readLoadFile(path);
  const result = await until(async () => {
    const { url } = await world({ limits: 'off' });
    return runLoad({ ...options, url, seed: 's', keepAgents: false });
  }, isWhole);
  for (const operation of ['status', 'meme', 'vote']) {
    const found = result.operations.find((one) => one.operation === operation);
    expect(found, operation).toMatchObject({ refused: [] });
    expect(found!.accepted).toBeGreaterThan(0);
  }
  expect(result.operations.some(({ operation }) => operation === 'script')).toBe(false);
});

test('module: a wrong one is refused before agents are registered', async () => {
  const own = { executor: 'constant-arrival-rate', rate: 5, duration: '1s', module: 'm.js' };
  const path = fileOf(
    { agents: 3, scenarios: { own } },
    { 'm.js': 'export default { iterate: 1 };' },
  );
  const { url, network } = await world({ limits: 'off' });
  const { options } = readLoadFile(path);
  const refused = runLoad({ ...options, url, seed: 's', keepAgents: false });
  await expect(refused).rejects.toMatchObject({ problem: 'SCRIPT_INVALID' });
  expect(network.read.networkState().active_producers).toBe(0);
});

test('thresholds: are listed with their values, and one can end the run', async () => {
  const server = await counter({ fromMs: 500, toMs: 60_000 });
  const path = fileOf({
    timeout: '500ms',
    scenarios: { a: { executor: 'constant-arrival-rate', rate: 50, duration: '60s', mix: state1 } },
    thresholds: ['p50<10m', { threshold: 'errors<10%', abortOnFail: true, delayAbortEval: '2s' }],
  });
  const beginMs = Date.now();
  const { code, stdout } = await runCommand(['load', path, '--url', server.url]);
  expect(Date.now() - beginMs).toBeLessThan(30_000);
  expect(code).toBe(14);
  expect(stdout).toMatch(/ended by a threshold after [23]\.\d s/);
  expect(stdout).toMatch(/errors<10% +\d.* % +missed/);
  expect(stdout).toMatch(/p50<10m +\S+ ms +undecided/);
});
