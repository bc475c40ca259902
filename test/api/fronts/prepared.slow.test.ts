/** Requests prepared in fronts. Responses equal those from a single process. */
import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  createVerifier,
  openLmdbStore,
  replay,
  SCHEMA_VERSION,
  storedLines,
  tables,
  virtualClock,
} from 'folkmoot';
import { Preparer } from '../../../dist/api/fronts/front-application.js';
import { START_MS } from '../../support/citizens.js';
import { temporaryFolder } from '../../support/fixture.js';
import { fronts, insist } from '../../support/service/fronts.js';
import { serve } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  ally,
  discuss,
  propose,
  type Request,
  register,
  status,
  vote,
} from '../../support/service/signer.js';
import { call, GENESIS_HASH, get } from '../../support/service/world.js';

const at = (ms: number) => new Date(START_MS + ms).toISOString();
const changed = (request: Request, headers: Record<string, string>, body = request.body) => ({
  ...request,
  headers: { ...request.headers, ...headers },
  body,
});

/** Returns a response without its random parts. */
async function answer(url: string, request: Request): Promise<unknown[]> {
  const { status, headers, text } = await call(url, request);
  const id = headers.get('x-request-id')!;
  const kept = [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date');
  return [status, kept, text.replaceAll(id, 'ID')];
}

/** Sends a request on a new connection, which any front may accept. */
function alone(url: string, { method, path, headers, body }: Request): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${path}`, { method, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    });
    sent.on('error', reject).end(body);
  });
}

/** Returns the signature counters of /metrics. */
async function counted(url: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const of = (name: string) => Number(new RegExp(`^folkmoot_${name} (\\d+)$`, 'm').exec(text)?.[1]);
  return Object.fromEntries(
    ['verified_total', 'rejected_total', 'verify_batches_total'].map((name) => [name, of(name)]),
  );
}

type Case = (by: Agent, ms: number) => Request;
const forged = (by: Agent): Agent => ({ ...by, sign: () => 'ab'.repeat(64) });
const move = (by: Agent, ms: number, fields = {}) =>
  status(by, { status: 'active', ...fields }, by.agentId, at(ms));

const cases: Record<string, Case> = {
  good: (by, ms) => move(by, ms),
  'an older one, replayed': (by) => move(by, 0),
  'no JSON': (by, ms) => changed(move(by, ms), {}, '{"status":'),
  'no UTF-8': (by, ms) => changed(move(by, ms), {}, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])),
  'no object': (by, ms) => changed(move(by, ms), {}, '[]'),
  'a name twice': (by, ms) => changed(move(by, ms), {}, '{"status":"active","status":"inactive"}'),
  'an unknown status': (by, ms) => move(by, ms, { status: 'asleep' }),
  'another body than was signed': (by, ms) => changed(move(by, ms), {}, '{"status":"inactive"}'),
  'a forged signature': (by, ms) => move(forged(by), ms),
  'the signature of another': (by, ms) => move({ ...agentOf('eve'), agentId: by.agentId }, ms),
  'the key of another': (by, ms) =>
    changed(move(agentOf('eve'), ms), { 'X-Agent-Public-Key': by.publicKey }),
  'an unregistered key': (_, ms) => move(agentOf('stranger'), ms),
  'a key in capitals': (by, ms) =>
    changed(move(by, ms), { 'X-Agent-Public-Key': by.publicKey.toUpperCase() }),
  'half a key': (by, ms) => changed(move(by, ms), { 'X-Agent-Public-Key': by.publicKey.slice(32) }),
  'signed an hour ago': (by) => move(by, -3_600_000),
  'signed in an hour': (by) => move(by, 3_600_000),
  'no time': (by, ms) => changed(move(by, ms), { 'X-Timestamp': 'now' }),
  'half a signature': (by, ms) => changed(move(by, ms), { 'X-Agent-Signature': 'ab'.repeat(32) }),
  'no JSON by its type': (by, ms) => changed(move(by, ms), { 'Content-Type': 'text/plain' }),
  'the path of another': (by, ms) =>
    status(by, { status: 'active' }, agentOf('eve').agentId, at(ms)),
  'unknown members': (by, ms) => move(by, ms, { more: 'x'.repeat(6_000) }),
  'many values': (by, ms) => move(by, ms, { more: Array(4_000).fill(0) }),
  'a large body': (by, ms) => move(by, ms, { reason: 'x'.repeat(20_000) }),
  'a vote on nothing': (by, ms) => vote(by, { block_hash: GENESIS_HASH }, at(ms)),
  'a forged vote': (by, ms) => vote(forged(by), { block_hash: GENESIS_HASH }, at(ms)),
  'a stale vote': (by) => vote(by, { block_hash: GENESIS_HASH }, at(-3_600_000)),
  'a proposal': (by, ms) => propose(by, { parent_hash: GENESIS_HASH }, at(ms)),
  'a forged proposal': (by, ms) => propose(forged(by), { parent_hash: GENESIS_HASH }, at(ms)),
  'a discussion of nothing': (by, ms) => discuss(by, { block_hash: GENESIS_HASH }, at(ms)),
  'an alliance': (by, ms) => ally.propose(by, { target_ids: [agentOf('eve').agentId] }, at(ms)),
  'to leave no alliance': (by, ms) => ally.leave(by, 'alliance_0', at(ms)),
};

/** Sends each case twice. After the first failure, fronts no longer verify the key. */
async function told(count: number): Promise<{ answers: unknown; counts: Record<string, number> }> {
  const clock = virtualClock(START_MS);
  const around = { transport: 'uws', clock, limits: 'spec', server: { fronts: count } } as const;
  const figures = { status: 1_000, refused: 1_000, read: 1_000, explained: 1_000 };
  const there = await serve({ ...around, server: { fronts: count, figures } });
  const [ada, eve] = [agentOf('ada'), agentOf('eve')];
  const answers: unknown[] = [];
  for (const one of [ada, eve]) {
    answers.push(await answer(there.url, register(one, { name: 'n' }, at(0))));
  }
  let ms = 0;
  for (const [name, make] of Object.entries(cases)) {
    ms += 2;
    const known = await answer(there.url, move(ada, ms - 1));
    expect(known[0], name).toBe(200);
    const request = make(ada, ms);
    for (let time = 0; time < 2; time += 1) answers.push([name, await answer(there.url, request)]);
  }
  const { position } = there.network.read;
  const counts = await counted(there.url);
  await there.close();
  return { answers: [...answers, position.seq, position.digest, position.log_digest], counts };
}

test('fronts: answer valid and invalid requests byte for byte like a single process', async () => {
  const { answers, counts: alone } = await told(0);
  const { verify_batches_total: all, ...without } = alone;
  for (const count of [1, 2]) {
    const there = await told(count);
    expect(there.answers).toEqual(answers);
    const { verify_batches_total: batches, ...counts } = there.counts;
    expect(counts).toEqual(without);
    // The engine's process did not verify signatures that the fronts verified.
    expect(all! - batches!).toBeGreaterThan(Object.keys(cases).length / 2);
  }
});

test('fronts: stop verifying after the quota of failures; count operations exactly', async () => {
  const quotas = async (count: number) => {
    const clock = virtualClock(START_MS);
    const figures = { failed_signature: 3, status: 6 };
    const server = { fronts: count, figures };
    const there = await serve({ transport: 'uws', clock, limits: 'spec', server });
    const ada = agentOf('ada');
    const answers = [await answer(there.url, register(ada, { name: 'n' }, at(0)))];
    const requests = [1, 2].map((ms) => move(ada, ms));
    requests.push(...[3, 4, 5, 6].map((ms) => move(forged(ada), ms)), move(ada, 7));
    for (const request of requests) answers.push(await answer(there.url, request));
    clock.set(START_MS + 61_000);
    for (let ms = 0; ms < 8; ms += 1) {
      answers.push(await answer(there.url, move(ada, 61_001 + ms)));
    }
    const { verified_total, rejected_total } = await counted(there.url);
    await there.close();
    return { answers, verified_total, rejected_total };
  };
  const without = await quotas(0);
  expect(without.answers.map(([code]) => code)).toContain(429);
  expect(await quotas(1)).toEqual(without);
});

test('fronts: accept an agent that registered through another front a moment ago', async () => {
  const there = await serve({ transport: 'uws', limits: 'off', server: { fronts: 2 } });
  for (let number = 0; number < 8; number += 1) {
    const agent = agentOf(`agent ${number}`);
    expect(await alone(there.url, register(agent, { name: 'n' }))).toBe(201);
    for (let time = 0; time < 4; time += 1) {
      const moved = status(agent, { status: 'active' });
      expect(await alone(there.url, moved)).toBe(200);
    }
  }
  await there.close();
});

test('prepared: accepts only keys whose last request was accepted', () => {
  const ada = agentOf('ada');
  const ahead = new Preparer({ networkId: 'testnet', unread: [] });
  const route = { name: 'status', command: 'status', method: 'PUT' } as never;
  const tried = (by: Agent) => {
    const { method, path: target, headers, body } = move(by, 1);
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const head = { method, target, path: target, headers: new Map(lower as never), fault: null };
    return { head: { ...head, address: '127.0.0.1' } as never, body: Buffer.from(body as string) };
  };
  const good = tried(ada);
  const holds = ({ head, body }: typeof good) => ahead.prepare(route, head, body) !== null;
  const answered = (code: number) => ahead.conclude(route, good.head, code);
  expect(holds(good)).toBe(false);
  answered(400);
  expect(holds(good)).toBe(false);
  for (const code of [401, 429]) {
    answered(200);
    expect([holds(good), holds(good)]).toEqual([true, true]);
    answered(code);
    expect(holds(good)).toBe(false);
  }
  answered(200);
  expect(holds(tried(forged(ada)))).toBe(false);
  expect(holds(good)).toBe(false);
  // Without signature verification, there is nothing to verify ahead.
  const off = new Preparer(null);
  off.conclude(route, good.head, 200);
  expect(off.prepare(route, good.head, good.body)).toBeNull();
});

test('fronts: keep acknowledged writes and valid signatures when killed under load', async () => {
  const path = temporaryFolder();
  const there = await serve({ path, transport: 'uws', limits: 'off', server: { fronts: 2 } });
  const agents = Array.from({ length: 40 }, (_, number) => agentOf(`agent ${number}`));
  for (const agent of agents) await call(there.url, register(agent, { name: 'n' }));
  let kills = 0;
  let over = false;
  const killing = (async () => {
    while (!over) {
      const [victim] = fronts();
      if (victim !== undefined && kills < 5) {
        process.kill(victim, 'SIGKILL');
        kills += 1;
      }
      await pause(250);
    }
  })();
  const last = new Map<string, string>();
  const worker = async (agent: Agent) => {
    for (let turn = 0; turn < 40; turn += 1) {
      const reason = `turn ${turn}`;
      const request = status(agent, { status: turn % 2 ? 'active' : 'inactive', reason });
      expect(await insist(there.url, request)).toBe(200);
      last.set(agent.agentId, turn % 2 ? 'active' : 'inactive');
    }
  };
  await Promise.all(agents.map(worker));
  over = true;
  await killing;
  expect(kills).toBeGreaterThan(0);
  for (const { agentId } of agents) {
    const { data } = await get(there.url, `/api/v1/agents/${agentId}`);
    expect(data.status).toBe(last.get(agentId));
  }
  const { verified_total, verify_batches_total } = await counted(there.url);
  expect(verified_total! - verify_batches_total!).toBeGreaterThan(100);
  await there.close();
  const stored = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const lines = storedLines(stored, 0, stored.meta()!.seq);
  const verifier = createVerifier('inline');
  expect(await replay({ lines, stored, verifier })).toMatchObject({ match: true });
  await verifier.close();
  await stored.close();
});

test('fronts: a front that hangs is killed and replaced', async () => {
  const ended: string[] = [];
  const server = { fronts: 1, onFrontEnded: (error: Error) => ended.push(error.message) };
  const there = await serve({ transport: 'uws', limits: 'off', server });
  const [before] = fronts();
  process.kill(before!, 'SIGSTOP');
  // The kernel accepts the connection, so the client waits until the front is killed.
  expect(await insist(there.url, register(agentOf('Ada'), { name: 'n' }))).toBe(201);
  const [after] = fronts();
  expect(after).not.toBe(before);
  expect(ended).toEqual([expect.stringContaining('SIGKILL')]);
  await there.close();
});
