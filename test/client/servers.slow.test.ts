/** Failover in a client with several servers. */
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startServer } from 'folkmoot/api';
import { ApiError, type Event, NetworkClient, UnreachableError } from 'folkmoot/client';
import { door } from '../support/service/connection.js';
import { agentOf, clientOf, failureOf, live, seqsOf, take } from './helpers.js';

const all = ['blocks', 'consensus', 'network', 'social', 'memes', 'outcomes'];

/** Starts one network with two servers, each behind a door. */
async function two() {
  const first = await live();
  const { network } = first;
  const second = await startServer({ network, limits: 'off', version: '0' });
  onTestFinished(() => second.close());
  const doors = [await door(first.url), await door(second.url)] as const;
  return { network, doors, urls: doors.map(({ url }) => url) };
}

/** Starts a server that sends the same response to all requests, and counts the requests. */
async function answering(status: number, body: string) {
  let asked = 0;
  const server = createHttpServer((request, response) => {
    asked += 1;
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: () => asked };
}

const error = (code: string, reason: string) =>
  JSON.stringify({ success: false, error: { code, message: 'no', details: { reason } } });

test.each(['shut', 'silent'] as const)('servers: uses the next if one is %s', async (how) => {
  const { doors, urls } = await two();
  const client = clientOf(urls, 1);
  expect(client.url).toBe(urls[0]);
  doors[0].set(how);
  await client.register({ name: 'Ada', personality: 'lawful', capabilities: ['validator'] });
  expect(client.url).toBe(urls[1]);
  // The client fails back when the second server fails.
  doors[0].set('open');
  doors[1].set(how);
  expect((await client.networkState()).active_validators).toBe(1);
  expect(client.url).toBe(urls[0]);
});

test('servers: repeats a request with a lost response at the next server', async () => {
  const { doors, urls } = await two();
  const client = await agentOf(urls);
  doors[0].set('mute');
  const { block_hash } = await client.propose({ transactions: ['once'] });
  const answer = await client.vote({ block_hash, decision: 'approve' });
  expect(answer).toMatchObject({ block_hash, block_status: 'finalized' });
  expect((await client.networkState()).block_height).toBe(1);
  expect((await client.votes(block_hash)).votes).toHaveLength(1);
});

test('servers: abandons a server that cannot answer, and trusts one that refuses', async () => {
  const { urls } = await two();
  const unable = await answering(503, error('NETWORK_ERROR', 'DEADLINE'));
  const refusing = await answering(404, error('INVALID_REQUEST', 'NOT_FOUND'));
  const able = new NetworkClient({ url: [unable.url, ...urls] });
  expect((await able.networkState()).active_validators).toBe(0);
  expect([unable.asked(), able.url]).toEqual([1, urls[0]]);
  const refused = await failureOf(new NetworkClient({ url: [refusing.url, ...urls] }).block('a'));
  expect(refused).toBeInstanceOf(ApiError);
  expect([(refused as ApiError).status, refusing.asked()]).toEqual([404, 1]);
  // The client asks each server once, and throws the last response.
  const again = await answering(503, error('NETWORK_ERROR', 'QUEUE_FULL'));
  const failed = await failureOf(new NetworkClient({ url: [unable.url, again.url] }).meta());
  expect([(failed as ApiError).reason, unable.asked(), again.asked()]).toEqual([
    ...['QUEUE_FULL', 2, 1],
  ]);
});

test('servers: names the last server if none answers; refuses other URL schemes', async () => {
  const { doors, urls } = await two();
  for (const one of doors) one.set('shut');
  const gone = await failureOf(new NetworkClient({ url: urls }).networkState());
  expect(gone).toBeInstanceOf(UnreachableError);
  expect((gone as Error).message).toContain(urls[1]);
  expect(() => new NetworkClient({ url: [] })).toThrow(
    expect.objectContaining({ problem: 'NO_URL' }),
  );
  expect(() => new NetworkClient({ url: [urls[0]!, 'ftp://127.0.0.1'] })).toThrow(
    expect.objectContaining({ problem: 'INVALID_URL' }),
  );
});

test('servers: continues a stream at the next server without a gap or repeat', async () => {
  const { network, doors, urls } = await two();
  const client = await agentOf(urls);
  const gaps: unknown[] = [];
  const stream = client.events(all, { since: 0, onGap: (...gap) => gaps.push(gap) });
  await stream.opened;
  const taken: Event[] = [];
  for (const [round, how] of (['shut', 'silent', 'shut', 'shut', 'silent'] as const).entries()) {
    const [now, next] = round % 2 === 0 ? doors : [doors[1], doors[0]];
    next.set('open');
    for (let times = 0; times < 5; times += 1) await client.setStatus('active');
    now.set(how);
    // While the stream is disconnected, write through the other server.
    for (let times = 0; times < 5; times += 1) await client.setStatus('active');
    taken.push(...(await take(stream, network.read.position.event_seq - taken.length)));
  }
  await stream.return();
  const { event_seq } = network.read.position;
  expect(seqsOf(taken)).toEqual(Array.from({ length: event_seq }, (_, index) => index + 1));
  expect(gaps).toEqual([]);
});
