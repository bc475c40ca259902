/**
 * Eight WebSockets per kind of flood: memory is bounded, other clients are served, and all
 * resources are released.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundledChild } from '../../support/child.js';
import { counts, full } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { type Host, heldBytes, host, openFiles, privateBytes, stop } from '../../support/host.js';
import { agentOf, meme, register } from '../../support/service/signer.js';
import { call, get } from '../../support/service/world.js';
import { floods } from './floods.js';

const EIGHT = 8;
const names = Array.from({ length: 8 }, (_, number) => `flooder ${number}`);
const kinds = floods([agentOf('x')], '').map(({ name }) => name);
/** Maximum bytes for one connection: its queue (256 KiB) and kernel buffers. */
const MOST_BYTES_EACH = 2 * 1024 * 1024;
/** Maximum bytes for a busy server, independent of connections. */
const BUSY_BYTES = 64 * 1024 * 1024;

const nodeArgs = [
  '--expose-gc',
  '--import',
  fileURLToPath(new URL('./probe.mjs', import.meta.url)),
];

/** Starts a server with some history. */
async function begin(transport: string): Promise<[Host, string]> {
  // Without limits, nothing bounds the messages of a connection.
  const args = ['--transport', transport, '--limits', 'bench'];
  const server = await host({ data: temporaryFolder(), args, nodeArgs });
  for (const name of names) await call(server.url, register(agentOf(name)));
  const by = agentOf(names[0]!);
  for (let number = 0; number < counts.floodHistory; number += 1) {
    const sent = await call(server.url, meme(by, { file: `${number}`, caption: 'x'.repeat(250) }));
    expect(sent.status).toBe(201);
  }
  return [server, String((await get(server.url, '/api/v1/meta')).data.epoch)];
}

/** Reads and writes as an ordinary client, and samples the server's memory, until time is up. */
async function served(server: Host, seconds: number): Promise<{ most: number; times: number }> {
  const { url, pid } = server;
  const end = performance.now() + seconds * 1_000;
  let [most, times] = [0, 0];
  const by = agentOf(names[1]!);
  for (; performance.now() < end; times += 1) {
    expect((await get(url, '/api/v1/network/state')).status).toBe(200);
    expect((await call(url, meme(by, { file: `${pid} ${times}` }))).status).toBe(201);
    most = Math.max(most, privateBytes(server));
    await sleep(20);
  }
  return { most, times };
}

/** Rounds with eight connections per kind. A short run uses all kinds at once. */
const rounds: [string, readonly string[]][] = full
  ? kinds.map((kind) => [kind, new Array<string>(EIGHT).fill(kind)])
  : [['one of each kind', kinds]];

describe.each(['uws', 'node'])('floods: over %s', (transport) => {
  test.each(rounds)('%s: bounds memory and serves other clients', async (name, chosen) => {
    const [server, epoch] = await begin(transport);
    await served(server, 0.5);
    const [before, files, kept] = [
      privateBytes(server),
      openFiles(server.pid),
      await heldBytes(server),
    ];
    const program = await bundledChild(
      'test/adversary/pressure/floods-child.ts',
      join(temporaryFolder(), 'c'),
    );
    const child = fork(program);
    onTestFinished(() => void child.kill());
    const port = Number(new URL(server.url).port);
    child.send({ port, names, epoch, kinds: chosen });
    await once(child, 'message');
    const { most, times } = await served(server, counts.floodSeconds);
    child.send('leave');
    const [sent] = (await once(child, 'message')) as [{ sentBytes: number; opened: number }];
    await settled(server, files);
    const left = (await heldBytes(server)) - kept;
    const told = { transport, name, grown: most - before, left, times, ...sent };
    process.stdout.write(`floods: ${JSON.stringify(told)}\n`);
    expect(times).toBeGreaterThan(0);
    expect(most - before).toBeLessThan(chosen.length * MOST_BYTES_EACH + BUSY_BYTES);
    expect(left).toBeLessThan(chosen.length * MOST_BYTES_EACH);
    await stop(server);
  });
});

/** Waits until the server has released the sockets of closed connections. */
async function settled(server: Host, files: number): Promise<void> {
  while (openFiles(server.pid) > files + 4) await sleep(50);
}
