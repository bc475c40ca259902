/** `--keep-going`: servers that are killed and restarted with their data, and two nodes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeProcess } from '../../../support/cluster/processes.js';
import { etcd, hasEtcd } from '../../../support/etcd.js';
import { diskFolder, freePort } from '../../../support/fixture.js';
import { host } from '../../../support/host.js';
import {
  countFinalized,
  isWhole,
  type LoadResult,
  load,
  longEnough,
  operation,
  sum,
} from '../generator.js';

/** A busy machine notices the end of an outage late. */
const SLOW_MS = 3_000;

type Asked = Parameters<typeof load>[1];

/** Starts `fault` after `afterMs` of the measured time, and waits until it is over. */
async function loadWith(
  server: { url: string },
  asked: Asked,
  fault: () => Promise<void>,
  afterMs = 2_500,
): Promise<LoadResult> {
  let started: Promise<void> | null = null;
  const onSecond = ({ phase }: { phase: string }) => {
    if (phase === 'measured') started ??= sleep(afterMs).then(fault);
  };
  const common = { keepGoing: true, durationMs: 9_000, timeoutMs: 5_000 };
  const result = await load(server, { ...common, ...asked }, { onSecond });
  await started;
  return result;
}

/** Loads a server that is killed and, after a time, started again with its port and its data. */
const loadWithRestart = (asked: Asked) =>
  longEnough(
    (durationMs) => attemptRestart({ ...asked, durationMs }),
    ({ result }) => hasRecovered(result),
    9_000,
  );

/** A busy machine may need the whole run for a restart, or drop what it cannot send at the end. */
const hasRecovered = (result: LoadResult) =>
  isWhole(result) &&
  result.outages!.length > 0 &&
  result.outages!.every(({ recovery_ms }) => recovery_ms !== null);

async function attemptRestart(asked: Asked) {
  const args = ['--port', String(await freePort())];
  const data = diskFolder();
  const first = await host({ data, args });
  const times = { killed: 0, back: 0 };
  const result = await loadWith(first, asked, async () => {
    await first.kill('SIGKILL');
    times.killed = performance.now();
    await sleep(1_000);
    await host({ data, args });
    times.back = performance.now();
  });
  return { result, url: first.url, downMs: times.back - times.killed };
}

/** Checks the one outage of a result against the time in which the server was down. */
function expectOutage(result: LoadResult, downMs: number, name: string): void {
  expect(result.ended).toBe('complete');
  expect(result.outages).toHaveLength(1);
  const [outage] = result.outages!;
  expect(outage!.duration_ms).toBeGreaterThan(1_000);
  expect(outage!.duration_ms).toBeLessThan(downMs + SLOW_MS);
  expect(outage!.end_ms! - outage!.start_ms).toBe(outage!.duration_ms);
  const failed = outage!.failed.find((one) => one.operation === name)!;
  const { broken, timed_out } = operation(result, name);
  expect(failed.count).toBe(broken + timed_out);
  expect(failed.count).toBeGreaterThan(0);
  expect(outage!.rate_before).toBeGreaterThan(0);
  expect(outage!.recovery_ms).not.toBe(null);
  // Every arrival of the schedule has an outcome.
  expect(isWhole(result)).toBe(true);
  expect(result.reasons.join()).toContain('unreachable');
}

test('outage: transactions are counted once, and become final again after a restart', async () => {
  const rates = { workload: 'transactions', rate: 50, batch: 10 } as const;
  const { result, url, downMs } = await loadWithRestart({ ...rates, finalityTimeoutMs: 5_000 });
  expectOutage(result, downMs, 'propose');
  // Also those that became final while the event stream was down.
  expect(result.transactions.finalized).toBe(await countFinalized(url));
  const { second } = result.seconds.findLast((one) => one.finalized_transactions > 0)!;
  expect(second).toBeGreaterThan(result.outages![0]!.end_ms! / 1_000 - 1);
});

test.each(['votes', 'mixed', 'reads'] as const)('outage: %s recover', async (workload) => {
  const counts = { rate: 50, ...(workload === 'reads' ? {} : { agents: 20, batch: 5 }) };
  const { result, downMs } = await loadWithRestart({
    workload,
    ...counts,
    finalityTimeoutMs: 4_000,
  });
  expectOutage(result, downMs, workload === 'reads' ? 'read' : 'vote');
});

test('outage: subscribers resume, and receive each update once', async () => {
  const { result, downMs } = await loadWithRestart({
    ...{ workload: 'subscribers', agents: 5, rate: 40 },
  });
  expectOutage(result, downMs, 'status');
  const { expected, delivered, holes, disconnects } = result.delivery;
  expect({ delivered, holes, disconnects }).toEqual({
    ...{ delivered: expected, holes: 0, disconnects: 0 },
  });
  expect(expected).toBeGreaterThan(0);
});

test('outage: a server that does not come back makes the run INVALID', async () => {
  const server = await host({ data: diskFolder() });
  const asked = { workload: 'reads', rate: 50, durationMs: 6_000 } as const;
  const result = await loadWith(server, asked, async () => void (await server.kill('SIGKILL')));
  expect(result.ended).toBe('complete');
  expect(['INVALID', 'CLIENT_BOUND']).toContain(result.verdict);
  expect(result.outages).toMatchObject([{ end_ms: null, recovery_ms: null }]);
});

test('outage: a server that answers nothing for the timeout is down until it answers', async () => {
  const server = await host({ data: diskFolder() });
  const asked = { workload: 'reads', rate: 50, timeoutMs: 1_000 } as const;
  const result = await loadWith(server, asked, async () => {
    process.kill(server.pid, 'SIGSTOP');
    await sleep(3_000);
    process.kill(server.pid, 'SIGCONT');
  });
  expectOutage(result, 3_000, 'read');
});

describe.skipIf(!hasEtcd)('outage: two nodes (needs etcd-server)', () => {
  const twoNodes = async () => {
    const { url: cluster } = await etcd();
    const start = (name: string) => nodeProcess({ cluster, name, folder: diskFolder() });
    return [await start('a'), await start('b')] as const;
  };

  test('agents of a killed node move to the other node', async () => {
    const nodes = await twoNodes();
    const urls = nodes.map(({ url }) => url);
    const asked = { workload: 'transactions', rate: 100, batch: 10, agents: 4, urls } as const;
    const result = await loadWith(
      { url: nodes[0].url },
      { ...asked, finalityTimeoutMs: 5_000 },
      async () => {
        await nodes[0].signal('SIGKILL');
        await sleep(2_000);
        await nodes[0].restart();
      },
    );
    expect([result.outages, result.nodes!.map(({ url }) => url)]).toEqual([[], urls]);
    const [first, second] = result.nodes!;
    expect(first!.down_ms).toBeGreaterThan(1_000);
    expect(second!.down_ms).toBe(0);
    for (const { accepted } of result.nodes!) expect(accepted).toBeGreaterThan(0);
    expect(sum(result.nodes!.map((n) => n.sent))).toBe(sum(result.operations.map((n) => n.sent)));
    const { finalized } = result.transactions;
    expect(finalized).toBe(await countFinalized(nodes[1].url));
    // The other node carries on: every second has finalized transactions, except during failover.
    expect(result.seconds.filter((s) => s.finalized_transactions > 0).length).toBeGreaterThan(4);
  });

  test('both nodes killed: one outage', async () => {
    const nodes = await twoNodes();
    const urls = nodes.map(({ url }) => url);
    const asked = { workload: 'reads', rate: 100, urls, durationMs: 20_000 } as const;
    let downMs = 0;
    const result = await loadWith({ url: nodes[0].url }, asked, async () => {
      await Promise.all(nodes.map((node) => node.signal('SIGKILL')));
      const killedMs = performance.now();
      await sleep(1_000);
      await nodes[1].restart();
      downMs = performance.now() - killedMs;
    });
    expectOutage(result, downMs, 'read');
    expect(result.nodes![0]!.down_ms).toBeGreaterThan(result.nodes![1]!.down_ms);
  });
});
