/**
 * For every kind of request, a signature that is altered, replayed or made for a different kind
 * changes nothing.
 */
import { virtualClock } from 'folkmoot';
import { testsWith } from '../../support/fixture.js';
import { world } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  ally,
  debugSocket,
  discuss,
  meme,
  propose,
  type Request,
  register,
  stamp,
  status,
  transaction,
  verification,
  vote,
} from '../../support/service/signer.js';
import { type Answer, expectError, GENESIS_HASH, type World } from '../../support/service/world.js';

/** Agents and objects that the requests refer to. */
interface Scene {
  there: World;
  /** The server's time, which stands still. */
  nowMs: number;
  ada: Agent;
  bob: Agent;
  /** A block by Bob that is in voting. */
  block: string;
  /** Id of an invitation for Ada. */
  invitation: string;
  /** Id of an alliance that has Ada as a member. */
  alliance: string;
}

interface Kind {
  name: string;
  good(scene: Scene, by: Agent, at: string): Request;
  prefix: string;
  others: string[];
}

const ALL = ['vote', 'block', 'tx', 'meme', 'http', 'response'];
const kind = (name: string, of: string, good: Kind['good']): Kind => ({
  name,
  good,
  prefix: `agentnet-v1-${of}\n`,
  others: ALL.filter((other) => other !== of),
});

const kinds: Kind[] = [
  kind('register', 'http', (_, by, at) => register({ ...agentOf('New'), sign: by.sign }, {}, at)),
  kind('status', 'http', ({ ada }, by, at) => status(by, { status: 'active' }, ada.agentId, at)),
  kind('vote', 'vote', ({ block }, by, at) => vote(by, { block_hash: block }, at)),
  kind('propose', 'block', (_, by, at) => propose(by, { parent_hash: GENESIS_HASH }, at)),
  kind('meme', 'meme', (_, by, at) => meme(by, { file: 'Hi', caption: 'A' }, at)),
  kind('discuss', 'http', ({ block }, by, at) => discuss(by, { block_hash: block }, at)),
  kind('alliance_propose', 'http', ({ bob }, by, at) =>
    ally.propose(by, { target_ids: [bob.agentId] }, at),
  ),
  kind('alliance_respond', 'http', ({ invitation }, by, at) =>
    ally.respond(by, invitation, true, at),
  ),
  kind('alliance_leave', 'http', ({ alliance }, by, at) => ally.leave(by, alliance, at)),
];

/** Stops the clock, because a metrics report that falls due also changes the digest. */
async function begin(): Promise<Scene> {
  const nowMs = Date.now();
  const there = await world({ clock: virtualClock(nowMs) });
  const [ada, bob] = (await there.joinAll('Ada', 'Bob', 'Eve')) as [Agent, Agent];
  const block = await there.propose(bob);
  const invite = async () => {
    const data = await there.do(ally.propose(bob, { target_ids: [ada.agentId] }));
    return String(data.alliance_id);
  };
  const [invitation, alliance] = [await invite(), await invite()];
  await there.do(ally.respond(ada, alliance), 200);
  return { there, nowMs, ada, bob, block, invitation, alliance };
}

const check = testsWith(() => begin());

/** Signs with the right key, then changes one digit. */
const tampering = (by: Agent): Agent => ({
  ...by,
  sign: (text) => by.sign(text).replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
});

/** Signs the same bytes with a different kind's prefix. */
const mistaking = (by: Agent, prefix: string, other: string): Agent => ({
  ...by,
  sign: (text) => by.sign(text.replace(prefix, `agentnet-v1-${other}\n`)),
});

/** Returns a given signature instead of signing. */
const sending = (by: Agent, signature: string): Agent => ({ ...by, sign: () => signature });

/** The new agent signs its registration. */
const signerOf = (name: string, { ada }: Scene) => (name === 'register' ? agentOf('New') : ada);

const DETAILS = {
  request_id: expect.any(String),
  expected_input_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  body_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  server_time: expect.stringMatching(/Z$/),
  skew_ms: expect.any(Number),
};

async function expectUnchanged(scene: Scene, request: Request): Promise<Answer> {
  const before = await scene.there.digest();
  const answer = await scene.there.send(request);
  expect(await scene.there.digest()).toBe(before);
  return answer;
}

describe.each(kinds)('$name', ({ name, good, prefix, others }) => {
  test('tampered: answers 401 MISMATCH with an explanation, and changes nothing', async () => {
    const scene = await begin();
    const request = good(scene, tampering(signerOf(name, scene)), stamp());
    const answer = await expectUnchanged(scene, request);
    expectError(answer, 401, 'INVALID_SIGNATURE', 'MISMATCH');
    expect(answer.headers.get('www-authenticate')).toBe('AgentSig realm="agentnet"');
    const shown = await scene.there.do(verification(request), 200);
    expect(answer.error.details).toEqual({
      ...DETAILS,
      reason: 'MISMATCH',
      kind: name,
      expected_input_sha256: shown.expected_input_sha256,
      body_sha256: shown.body_sha256,
      request_target: request.path,
    });
    expect(shown).toMatchObject({ valid: false, kind: name, request_target: request.path });
    expect(shown.signing_input).toMatch(new RegExp(`^${prefix}`));
  });

  test.each(others)('signed as %s over the same bytes: answers 401 MISMATCH', async (other) => {
    const scene = await begin();
    const by = mistaking(signerOf(name, scene), prefix, other);
    const answer = await expectUnchanged(scene, good(scene, by, stamp()));
    expectError(answer, 401, 'INVALID_SIGNATURE', 'MISMATCH');
  });

  test.each([
    ['', 'MISSING'],
    ['g'.repeat(128), 'MALFORMED'],
    ['0'.repeat(128), 'MISMATCH'],
  ])('signature %j: 401 %s', async (signature, reason) => {
    const scene = await begin();
    const by = sending(signerOf(name, scene), signature);
    const answer = await expectUnchanged(scene, good(scene, by, stamp()));
    expectError(answer, 401, 'INVALID_SIGNATURE', reason);
    expect(answer.error.details).toMatchObject({ kind: name });
  });

  test.each([-301_000, 301_000])('signed %i ms off: answers 401 TIMESTAMP_SKEW', async (off) => {
    const scene = await begin();
    const at = new Date(scene.nowMs + off).toISOString();
    const request = good(scene, signerOf(name, scene), at);
    const answer = await expectUnchanged(scene, request);
    expectError(answer, 401, 'INVALID_SIGNATURE', 'TIMESTAMP_SKEW');
    const expected = {
      ...DETAILS,
      reason: 'TIMESTAMP_SKEW',
      kind: name,
      request_target: request.path,
    };
    // A form is refused before it is read, so its signing input is unknown.
    const of = name === 'meme' ? { expected_input_sha256: null } : {};
    expect(answer.error.details).toEqual({ ...expected, ...of });
    expect(Math.sign(Number(answer.error.details.skew_ms))).toBe(Math.sign(off));
  });

  check('replayed: answers 200 with duplicate, and changes nothing', async (scene) => {
    const request = good(scene, signerOf(name, scene), stamp());
    const first = await scene.there.send(request);
    expect([200, 201], first.text).toContain(first.status);
    const answer = await expectUnchanged(scene, request);
    expect([answer.status, answer.data]).toEqual([200, { ...first.data, duplicate: true }]);
  });

  check('debug/verify: shows the signing input, and changes nothing', async (scene) => {
    const texts: string[] = [];
    const by = signerOf(name, scene);
    const noting: Agent = { ...by, sign: (text) => noted(texts, by, text) };
    const answer = await expectUnchanged(scene, verification(good(scene, noting, stamp())));
    expect(answer.data).toMatchObject({ valid: true, kind: name, signing_input: texts[0] });
  });
});

const proposalOf = async ({ there, ada }: Scene, by: Agent) => {
  const inner = transaction(by, await there.networkId(), 'pay', true);
  return propose(ada, { parent_hash: GENESIS_HASH, transactions: [inner] });
};

test.each(ALL.filter((other) => other !== 'tx'))('signed as %s: answers 401', async (other) => {
  const scene = await begin();
  const by = mistaking(scene.bob, 'agentnet-v1-tx\n', other);
  const answer = await expectUnchanged(scene, await proposalOf(scene, by));
  expectError(answer, 401, 'INVALID_SIGNATURE', 'MISMATCH');
  expect(answer.error.details.pointer).toBe('/transactions/0/signature');
});

check('transaction: tampered, or for another network: answers 401', async (scene) => {
  const elsewhere = transaction(scene.bob, 'elsewhere', 'pay', true);
  const fields = { parent_hash: GENESIS_HASH, transactions: [elsewhere] };
  const requests = [await proposalOf(scene, tampering(scene.bob)), propose(scene.ada, fields)];
  for (const request of requests) {
    expectError(await expectUnchanged(scene, request), 401, 'INVALID_SIGNATURE', 'MISMATCH');
  }
});

test('transaction: replayed in a later block once final: answers 409 DUPLICATE_TX', async () => {
  const scene = await begin();
  const { there, ada, bob } = scene;
  const eve = agentOf('Eve');
  const request = await proposalOf(scene, bob);
  const { block_hash } = await there.do(request);
  for (const by of [ada, bob, eve]) await there.vote(by, String(block_hash));
  const { transactions } = JSON.parse(String(request.body));
  const again = propose(eve, { parent_hash: block_hash, transactions });
  expectError(await expectUnchanged(scene, again), 409, 'INVALID_REQUEST', 'DUPLICATE_TX');
});

check('debug/ws: hides a connection from a request signed as another kind', async (scene) => {
  const id = String((await scene.there.listen(scene.ada)).received[0]!.data.connection_id);
  await scene.there.do(debugSocket(scene.ada, id), 200);
  for (const other of ALL.filter((name) => name !== 'http')) {
    const by = mistaking(scene.ada, 'agentnet-v1-http\n', other);
    const answer = await expectUnchanged(scene, debugSocket(by, id));
    expectError(answer, 401, 'INVALID_SIGNATURE', 'MISMATCH');
  }
});

function noted(texts: string[], by: Agent, text: string): string {
  texts.push(text);
  return by.sign(text);
}
