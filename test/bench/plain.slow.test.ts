/** Tests that the plain server, with which folkmoot is compared, works as described. */
import { open } from 'lmdb';
import { postRate } from '../../dist/bench/clients/clients.js';
import {
  chain,
  countRounds,
  formatHead,
  NETWORK_ID,
  postedBlocks,
  registration,
  signatories,
  toHttpBytes,
} from '../../dist/bench/fixtures/chain.js';
import { withChildServer } from '../../dist/bench/servers/child-server.js';
import { withFolkmoot, withPlain } from '../../dist/bench/servers/processes.js';
import { composeVote } from '../../dist/engine/protocol/compose.js';
import type { SignedRequest } from '../../dist/engine/protocol/schema/entry.js';
import { temporaryFolder } from '../support/fixture.js';

const now = () => new Date().toISOString();

async function post(url: string, request: SignedRequest) {
  const { method, path, headers } = formatHead(request);
  const response = await fetch(url + path, { method, headers, body: Buffer.from(request.body) });
  return { status: response.status, ...((await response.json()) as { data: object }) };
}

/** Changes one digit in the signature. */
function forged(vote: SignedRequest): SignedRequest {
  const text = Buffer.from(vote.body).toString();
  const body = text.replace(/(?<="signature":")./, (digit) => (digit === '0' ? '1' : '0'));
  return { ...vote, body: Buffer.from(body) };
}

test('plain server: checks votes, counts each once, and responds when it is on disk', async () => {
  const path = temporaryFolder();
  const by = signatories('plain', 4, true);
  const timestamp = now();
  const { proposal, votes } = chain(by, timestamp).next().value;
  await withChildServer('plain-server', [path, NETWORK_ID], async ({ url }) => {
    for (const [ordinal, one] of by.entries()) {
      expect(await post(url, registration(one, ordinal, timestamp))).toMatchObject({ status: 200 });
    }
    const proposed = await post(url, proposal);
    expect(proposed).toMatchObject({ status: 200, data: { height: 0 } });
    const [first, second, third] = votes as [SignedRequest, SignedRequest, SignedRequest];
    for (const [wrong, status] of [
      [forged(first), 401],
      [{ ...first, public_key: 'a'.repeat(64) }, 401],
      [{ ...first, body: Buffer.from('{"decision":"yes"}') }, 400],
    ] as const) {
      expect(await post(url, wrong)).toMatchObject({ status });
    }
    const answer = await post(url, first);
    expect(answer).toMatchObject({ status: 200, data: { approvals: 1, block_status: 'voting' } });
    expect(await post(url, first)).toEqual(answer);
    const { block_hash } = proposed.data as { block_hash: string };
    const other = composeVote(by[0]!, timestamp, { block_hash, decision: 'reject' });
    expect(await post(url, other)).toMatchObject({ status: 409 });
    const old = composeVote(by[1]!, '2025-01-01T00:00:00Z', { block_hash, decision: 'approve' });
    expect(await post(url, old)).toMatchObject({ status: 401 });
    await post(url, second);
    expect(await post(url, third)).toMatchObject({ data: { block_status: 'finalized' } });
    const late = composeVote(by[3]!, timestamp, { block_hash, decision: 'approve' });
    expect(await post(url, late)).toMatchObject({ status: 409 });
  });
  const kept = open<string, number>({ path, noSubdir: false, encoding: 'string', pageSize: 8192 });
  // The rows are four registrations, the proposal and three votes.
  expect([...kept.getKeys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  await kept.close();
});

test('posts: both servers accept the same bytes', async () => {
  const by = signatories('posts', 20, true);
  const timestamp = now();
  const blocks = chain(by, timestamp);
  const rounds = [by.map((one, ordinal) => toHttpBytes(registration(one, ordinal, timestamp)))];
  for (let block = 0; block < 12; block += 1) {
    const { proposal, votes } = blocks.next().value;
    rounds.push([toHttpBytes(proposal)], votes.map(toHttpBytes));
  }
  const load = { connections: 8, warmUp: 5 };
  const network = ['--network-id', NETWORK_ID];
  for (const taken of [
    await withPlain(NETWORK_ID, (server) => postRate(server, rounds, load)),
    await withFolkmoot((server) => postRate(server, rounds, load), network),
  ]) {
    expect(taken.perSecond).toBeGreaterThan(0);
    expect(taken.cpuUs).toBeGreaterThan(0);
  }
});

test('posts: an error response ends the measurement', async () => {
  const by = signatories('refused', 4, true);
  const timestamp = now();
  const { votes } = chain(by, timestamp).next().value;
  const rounds = [votes.map(toHttpBytes)];
  const measured = withPlain(NETWORK_ID, (server) =>
    postRate(server, rounds, { connections: 2, warmUp: 0 }),
  );
  await expect(measured).rejects.toThrow('expected a success');
});

test('plain server: several processes agree on votes', async () => {
  const by = signatories('shared', 4, true);
  const timestamp = new Date().toISOString();
  const { proposal, votes } = chain(by, timestamp).next().value;
  const work = async ({ url }: { url: string }) => {
    for (const [ordinal, one] of by.entries()) {
      expect(await post(url, registration(one, ordinal, timestamp))).toMatchObject({ status: 200 });
    }
    const proposed = await post(url, proposal);
    const { block_hash } = proposed.data as { block_hash: string };
    expect(await post(url, proposal)).toMatchObject({ status: 200 });
    const [first, second, third] = votes as [SignedRequest, SignedRequest, SignedRequest];
    // New connections, which the processes share.
    const same = await Promise.all(Array.from({ length: 12 }, () => post(url, first)));
    expect(new Set(same.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(same[0]).toMatchObject({ status: 200, data: { approvals: 1, block_status: 'voting' } });
    const other = composeVote(by[0]!, timestamp, { block_hash, decision: 'reject' });
    expect(await post(url, other)).toMatchObject({ status: 409 });
    await post(url, second);
    expect(await post(url, third)).toMatchObject({ data: { block_status: 'finalized' } });
  };
  await withPlain(NETWORK_ID, work, 3);
});

test('plain server: several processes take many votes at once', async () => {
  const posted = postedBlocks('many', 60, 4);
  const load = { connections: 24, warmUp: countRounds(1) };
  const { perSecond } = await withPlain(NETWORK_ID, (one) => postRate(one, posted, load), 2);
  expect(perSecond).toBeGreaterThan(0);
});
