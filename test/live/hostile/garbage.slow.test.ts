/** Garbage among valid requests: no crash, no leak, and responses to all valid requests. */
import { describe, expect, test } from 'vitest';
import { counts } from '../../support/counts.js';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { type Host, host, openFiles, residentBytes, stop } from '../../support/host.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { meme, meta, registration } from '../clients/actions.js';
import { Caller } from '../clients/caller.js';
import { bytesOf, HalfSent, Wire } from '../clients/wire.js';
import { garbage, textOf } from './garbage.js';

const draw = drawnFrom(seed);
/** Maximum memory that may remain. The garbage amounts to many times as much. */
const GROWTH_BYTES = 150 * 1024 * 1024;

/** Next unused agent number. */
let newcomers = 1_000;

/** Repeats work until time is up. Returns the number of repetitions. */
async function during(seconds: number, work: () => Promise<void>): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let times = 0;
  for (; performance.now() < end; times += 1) await work();
  return times;
}

/** Sends garbage on one connection. The server must respond or close the connection. */
async function soil(url: string): Promise<void> {
  const wire = await Wire.open(url);
  for (const bytes of garbage[draw(garbage.length)]!(draw)) wire.send(bytes);
  if (draw(2) === 0) wire.cut();
  else wire.end();
  await wire.over;
}

/** Expects normal service for a valid client. */
async function behave(caller: Caller): Promise<void> {
  newcomers += 1;
  const by = signatoryOf(newcomers);
  await caller.do(registration(by, 'Newcomer'));
  await caller.do(meme(by, `of ${newcomers}`));
  const refused = await caller.call('POST', '/api/v1/consensus/vote', {}, textOf(draw, 400));
  expect(Math.floor(refused.status / 100), refused.text).toBe(4);
}

/** Returns the server's memory once it has no connections. */
async function settled(server: Host, most: number): Promise<number> {
  let files = openFiles(server.pid);
  // Each poll is a round trip, so the server eventually releases closed connections.
  for (let look = 0; files > most && look < 300; look += 1) {
    const caller = new Caller(server.url, 1);
    await caller.call('GET', '/healthz');
    caller.close();
    files = openFiles(server.pid);
  }
  return files;
}

describe.each(['uws', 'node'])(`garbage: over %s, seed ${seed}`, (transport) => {
  const args = ['--transport', transport];
  const seconds = counts.garbageSeconds / 2;

  test('garbage: among valid requests does no harm and leaves nothing', async () => {
    const server = await host({ data: temporaryFolder(), args });
    const caller = new Caller(server.url);
    await during(0.3, () => behave(caller));
    caller.close();
    const files = await settled(server, 0);
    const bytes = residentBytes(server.pid);

    const valid = new Caller(server.url);
    const [dirty] = await Promise.all([
      during(seconds, () => soil(server.url)),
      during(seconds, () => soil(server.url)),
      during(seconds, () => soil(server.url)),
      during(seconds, () => behave(valid)),
      during(seconds, () => behave(valid)),
    ]).catch((error: Error) => {
      throw new Error(`${error.message}; the server said: ${server.stderr()}`, { cause: error });
    });
    expect(dirty).toBeGreaterThan(10);
    valid.close();
    expect(await settled(server, files)).toBeLessThanOrEqual(files);
    expect(residentBytes(server.pid) - bytes).toBeLessThan(GROWTH_BYTES);
    expect((await new Caller(server.url).call('GET', '/healthz')).status).toBe(200);
    expect(server.stderr()).not.toContain('request failed');
    await stop(server);
  });

  test('garbage: connections reset at any point do no harm', async () => {
    const server = await host({ data: temporaryFolder(), args });
    const caller = new Caller(server.url);
    for (const pieces of garbage) {
      for (let times = 0; times < 5; times += 1) {
        const wire = await Wire.open(server.url);
        for (const bytes of pieces(draw)) wire.send(bytes);
        // Reset once before the server has read the bytes, and otherwise after a response to a
        // different request.
        if (times > 0) await caller.call('GET', '/healthz');
        wire.reset();
      }
    }
    expect((await caller.call('GET', '/healthz')).status).toBe(200);
    await stop(server);
  });

  test('garbage: slow bodies and half-open requests do not block others', async () => {
    const server = await host({ data: temporaryFolder(), args });
    const slow = await Promise.all(
      Array.from({ length: 50 }, (_, number) =>
        HalfSent.send(server.url, registration(signatoryOf(number), 'Slow')),
      ),
    );
    const silent = await Promise.all(Array.from({ length: 50 }, () => Wire.open(server.url)));
    for (const wire of silent) wire.send('POST /api/v1/consensus/vote HTTP/1.1\r\nHost: local');
    const caller = new Caller(server.url);
    for (let times = 0; times < 20; times += 1) await behave(caller);
    for (const half of slow) expect((await half.finish())?.status).toBe(201);
    expect((await meta(caller)).seq).toBe(40 + 50);
    for (const wire of silent) wire.cut();
  });

  test('garbage: a second request before the response is also answered, or ends both', async () => {
    const server = await host({ data: temporaryFolder(), args });
    const [first, second] = [1, 2].map((number) => registration(signatoryOf(number), 'Both'));
    const wire = await Wire.open(server.url);
    wire.send(Buffer.concat([bytesOf(first!), bytesOf(second!)]));
    const statuses = (await wire.answers(2)).map(({ status }) => status);
    // uWebSockets.js handles one request at a time, and closes a connection that sends more.
    expect(statuses).toEqual(transport === 'uws' ? [] : [201, 201]);
    const caller = new Caller(server.url);
    expect([200, 201]).toContain((await caller.send(first!)).status);
    expect([200, 201]).toContain((await caller.send(second!)).status);
  });
});
