/**
 * Event streams against live servers: disconnects, restarts, changed histories, and the end of a
 * stream.
 */
import { type Event, type Position, StreamError } from 'folkmoot/client';
import { WebSocket } from 'ws';
import { heavy } from '../support/counts.js';
import { freePort, temporaryFolder } from '../support/fixture.js';
import { agentOf, clientOf, failureOf, live, seqsOf, take } from './helpers.js';

const transports = ['node', 'uws'] as const;
const all = ['blocks', 'consensus', 'network', 'social', 'memes', 'outcomes'];
const from1 = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test.each(transports)('events: yields each of its topics once (%s)', async (transport) => {
  const { url } = await live({ transport });
  const client = await agentOf(url);
  const stream = client.events(['proposals', 'outcomes', 'blocks']);
  expect(await stream.opened).toMatchObject({ seq: 1 });
  const { block_hash } = await client.propose({ transactions: ['one'] });
  await client.vote({ block_hash, decision: 'approve' });
  const events = await take(stream, 3);
  expect(events.map(({ type }) => type)).toEqual([
    ...['block_proposal', 'block_validation', 'block_status'],
  ]);
  expect([seqsOf(events), stream.position?.seq]).toEqual([[2, 3, 4], 4]);
  await stream.return();
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('events: since replays missed events; a number refers to the current history', async () => {
  const { url } = await live();
  const client = await agentOf(url);
  const first = client.events(['network']);
  await first.opened;
  await client.setStatus('maintenance');
  await client.setStatus('active');
  await take(first, 1);
  const since = first.position!;
  await first.return();
  await client.setStatus('inactive');
  const resumed = client.events(['network'], { since });
  expect(seqsOf(await take(resumed, 2))).toEqual([3, 4]);
  const whole = client.events(['network'], { since: 0 });
  expect(seqsOf(await take(whole, 4))).toEqual(from1(4));
  await resumed.return();
  await whole.return();
});

test.each(transports)('events: a restart causes no gap (%s)', async (transport) => {
  const path = temporaryFolder();
  const port = await freePort();
  let server = await live({ transport, path, port });
  const client = await agentOf(server.url);
  const stream = client.events(all, { since: 0 });
  const taken: Event[] = await take(stream, 1);
  let sent = 1;
  for (let restarts = 0; restarts < 3; restarts += 1) {
    for (let index = 0; index < 5; index += 1) await client.setStatus('active');
    await server.stop();
    server = await live({ transport, path, port });
    // These updates precede the reconnect, so the server replays them.
    for (let index = 0; index < 5; index += 1) await client.setStatus('active');
    sent += 10;
    taken.push(...(await take(stream, sent - taken.length)));
  }
  expect(seqsOf(taken)).toEqual(from1(sent));
  await stream.return();
});

test('events: a changed history is reported as a gap and read over HTTP', heavy, async () => {
  const port = await freePort();
  const old = await live({ port });
  const client = await agentOf(old.url);
  const gaps: [Position, Position][] = [];
  const stream = client.events(['network', 'social'], {
    since: 0,
    onGap: (from, to) => gaps.push([from, to]),
  });
  for (let index = 0; index < 9; index += 1) await client.setStatus('active');
  expect(seqsOf(await take(stream, 10))).toEqual(from1(10));
  const { epoch } = stream.position!;
  await old.stop();

  const { network, url } = await live({ port });
  const again = await agentOf(url);
  // Create more than one page of history, some of it outside the stream's topics.
  for (let index = 0; index < 1_100; index += 1) {
    if (index % 100 === 0) await again.propose({ transactions: [`${index}`] }).catch(() => {});
    else await again.setStatus('active');
  }
  const head = network.read.position.event_seq;
  const expected = [];
  for (const { seq, type } of network.read.events(1, head)) {
    if (type === 'agent_status' || type === 'network_metrics') expected.push(seq);
  }
  expect(expected.length).toBeGreaterThan(1_000);
  expect(seqsOf(await take(stream, expected.length))).toEqual(expected);
  expect(gaps).toEqual([
    [
      { epoch, seq: 10 },
      { epoch: network.epoch, seq: 0 },
    ],
  ]);
  await again.setStatus('inactive');
  expect(await take(stream, 1)).toMatchObject([{ seq: head + 1, data: { status: 'inactive' } }]);
  expect(stream.position).toEqual({ epoch: network.epoch, seq: head + 1 });
  await stream.return();
});

/** Returns a WebSocket class that counts connections. */
function counted() {
  const sockets: WebSocket[] = [];
  class Counted extends WebSocket {
    constructor(url: string) {
      super(url);
      sockets.push(this);
    }
  }
  const closed = () =>
    Promise.all(
      sockets.map((socket) =>
        socket.readyState === WebSocket.CLOSED
          ? null
          : new Promise((resolve) => socket.once('close', resolve)),
      ),
    );
  return { WebSocket: Counted, sockets, closed };
}

test('events: a consumer slower than its buffer misses nothing', async () => {
  const { url } = await live();
  const { WebSocket, sockets } = counted();
  const client = await agentOf(url, 1, { WebSocket });
  const stream = client.events(['network'], { bufferSize: 5 });
  await stream.opened;
  for (let index = 0; index < 20; index += 1) await client.setStatus('active');
  expect([sockets.length, seqsOf(await take(stream, 20))]).toEqual([1, from1(21).slice(1)]);
  expect(sockets.length).toBeGreaterThan(1);
  await stream.return();
});

test('events: an abort ends a wait without an error, and closes the connection', async () => {
  const { url } = await live();
  const { WebSocket, closed } = counted();
  const client = await agentOf(url, 1, { WebSocket });
  const abort = new AbortController();
  const seen: Event[] = [];
  const stream = client.events(['network'], { signal: abort.signal });
  const loop = (async () => {
    for await (const event of stream) seen.push(event);
  })();
  await stream.opened;
  abort.abort();
  await loop;
  await closed();
  expect(seen).toEqual([]);
  const late = client.events(['network'], { signal: abort.signal });
  expect((await late.next()).done).toBe(true);
});

test('events: break ends the stream; return ends a pending next', async () => {
  const { url } = await live();
  const { WebSocket, closed } = counted();
  const client = await agentOf(url, 1, { WebSocket });
  for await (const { seq } of client.events(['network'], { since: 0 })) {
    expect(seq).toBe(1);
    break;
  }
  const stream = client.events(['network']);
  await stream.opened;
  const pending = stream.next();
  await stream.return();
  expect((await pending).done).toBe(true);
  await closed();
});

test('events: return does not wait for a server that is gone', async () => {
  const { url, stop } = await live();
  const client = await agentOf(url);
  const stream = client.events(['network']);
  await stream.opened;
  await stop();
  const pending = stream.next();
  await stream.return();
  expect((await pending).done).toBe(true);
});

test.each(transports)('events: an unknown agent gets an error (%s)', async (transport) => {
  const { url } = await live({ transport });
  const stream = clientOf(url).events(['network']);
  const error = await failureOf(stream.next());
  expect(error).toBeInstanceOf(StreamError);
  expect(error).toMatchObject({ closeCode: 4403, code: 'INVALID_AGENT', reason: 'UNKNOWN_KEY' });
  expect(await failureOf(stream.opened)).toBe(error);
  expect((await stream.next()).done).toBe(true);
});

test('events: an unknown topic is refused without a retry', async () => {
  const { url } = await live();
  const client = await agentOf(url);
  const error = await failureOf(client.events(['blocks', 'gossip']).next());
  expect(error).toMatchObject({ closeCode: null, reason: 'UNKNOWN_TOPIC' });
});

test("events: a wrong clock is corrected by the server's time", async () => {
  let ahead = 0;
  const { url } = await live({ now: () => Date.now() + ahead });
  await agentOf(url);
  ahead = 3_600_000;
  const client = clientOf(url);
  const stream = client.events(['network']);
  await stream.opened;
  await client.setStatus('inactive');
  expect(await take(stream, 1)).toMatchObject([{ data: { status: 'inactive' } }]);
  await stream.return();
});
