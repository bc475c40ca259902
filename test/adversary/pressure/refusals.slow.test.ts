/**
 * Cost of refusals: each refusal counts against the sender's address, and six senders do not slow
 * down other clients.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { limitTable } from '../../../dist/api/contract/limit-table.js';
import { bundledChild } from '../../support/child.js';
import { full } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { type Host, host, stop } from '../../support/host.js';
import { Line } from '../../support/service/line.js';
import { agentOf, register } from '../../support/service/signer.js';
import { call } from '../../support/service/world.js';
import { type Costly, costliest } from './refusals.js';

const ada = agentOf('whose key is claimed');
const ANSWER_MS = 60_000;

async function begin(transport: string, limits: string): Promise<Host> {
  const server = await host({
    data: temporaryFolder(),
    args: ['--transport', transport, '--limits', limits],
  });
  await call(server.url, register(ada));
  return server;
}

/** Number of requests to stop at: a busy machine may send light requests too slowly for a 429. */
const MOST = 2_000;

/** Sends a request from an address until the response is 429. Returns the number of requests. */
async function untilTold(server: Host, { name, bytes }: Costly, address: string): Promise<number> {
  let line = await Line.open(server.url, address);
  let lost = 0;
  const began = performance.now();
  for (let times = 1; ; times += 1) {
    if (line.isOver) line = await Line.open(server.url, address);
    line.send(bytes);
    const came = await line.answer(ANSWER_MS);
    expect(came, name).not.toBe('silent');
    // The server does not read a request that it refuses by its head, so a reset may overtake the
    // response.
    lost = came === 'closed' ? lost + 1 : 0;
    if (lost > 2 || (typeof came !== 'string' && came.status === 429)) return times;
    if (typeof came === 'string') continue;
    // debug/verify responds with 200.
    expect(came.status, name).not.toBe(201);
    if (times === MOST) {
      // The lightest requests count only per second, and a busy machine sends fewer than allowed.
      const allowedMs = (MOST / limitTable.requests.quota - 1) * 1_000;
      expect(performance.now() - began, name).toBeGreaterThan(allowedMs);
      return times;
    }
    if (/close/i.test(came.headers.get('connection') ?? '')) line.cut();
  }
}

/**
 * Returns true for a request with a large weight. Light requests are allowed a thousand times per
 * minute.
 */
const heavy = ({ bytes }: Costly) => bytes.length > 64 * 1024;

describe.each(['uws', 'node'])('refusals: over %s', (transport) => {
  test('every kind gets 429 from its address quota, a heavy kind within 40 requests', async () => {
    const server = await begin(transport, 'spec');
    const found: string[] = [];
    for (const [index, one] of costliest(ada).entries()) {
      if (!full && !heavy(one)) continue;
      const start = onProcessorMs(server.pid);
      const times = await untilTold(server, one, `127.0.1.${index + 1}`);
      const spent = onProcessorMs(server.pid) - start;
      found.push(`${one.name}: told after ${times}, ${Math.round(spent)} ms of the main thread`);
      expect(times, one.name).toBeLessThanOrEqual(heavy(one) ? 40 : MOST);
    }
    process.stdout.write(`refusals: over ${transport}\n  ${found.join('\n  ')}\n`);
    await stop(server);
  });

  test.skipIf(!full)('six senders of the costliest requests do not slow down others', async () => {
    const server = await begin(transport, 'spec');
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const idle = await health(server, SECONDS);
      const senders = await flood(server, costliest(ada), round);
      const busy = await health(server, SECONDS);
      senders.send('report');
      const [statuses] = (await once(senders, 'message')) as [Record<string, number>];
      senders.kill();
      await once(senders, 'exit');
      rounds.push({ more: busy - idle, idle, busy, statuses });
    }
    process.stdout.write(`refusals: ${transport}, p99 of /healthz ${JSON.stringify(rounds)}\n`);
    const sent = rounds.flatMap(({ statuses }) => Object.values(statuses));
    expect(sent.reduce((sum, times) => sum + times, 0)).toBeGreaterThan(100);
    // Uses the median, because the machine may have been busy in one of the rounds.
    const more = rounds.map((round) => round.more).sort((a, b) => a - b);
    expect(more[Math.floor(ROUNDS / 2)]).toBeLessThan(MOST_MORE_MS);
    await stop(server);
  });
});

const ROUNDS = 3;
const SECONDS = 10;
/** Maximum additional latency of /healthz, compared with the same run without senders. */
const MOST_MORE_MS = 100;
const SENDERS = 6;

/** Starts six senders in a separate process, each from an unused address. */
async function flood(server: Host, requests: readonly Costly[], round: number) {
  const folder = join(temporaryFolder(), 'child');
  const program = await bundledChild('test/adversary/pressure/senders-child.ts', folder);
  const child = fork(program);
  onTestFinished(() => void child.kill());
  child.send({
    port: Number(new URL(server.url).port),
    addresses: Array.from({ length: SENDERS }, (_, index) => `127.0.${2 + round}.${index + 1}`),
    // Sends each kind in turn, because when one kind is limited, the next may still cost something.
    requests: requests.map(({ bytes }) => bytes.toString('base64')),
  });
  return child;
}

/** Returns the main thread's processor time, in milliseconds. */
const onProcessorMs = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/**
 * Returns the 99th percentile of a sequential request's wait for the event loop. The wait is in
 * milliseconds of the main thread's processor time, so that other processes do not count.
 */
async function health({ url, pid }: Host, seconds: number): Promise<number> {
  const line = await Line.open(url);
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const start = onProcessorMs(pid);
    line.send('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    expect(await line.answer(ANSWER_MS)).toMatchObject({ status: 200 });
    times.push(onProcessorMs(pid) - start);
    await sleep(5);
  }
  line.cut();
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}
