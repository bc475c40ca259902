/** Refused fields, request ids, and what a signature covers. */
import {
  type Agent,
  agentOf,
  ally,
  discuss,
  meme,
  propose,
  type Request,
  register,
  signed,
  status,
  vote,
} from '../support/service/signer.js';
import { expectError, GENESIS_HASH, type Start, testsOn } from '../support/service/world.js';

const onGenesis = { parent_hash: GENESIS_HASH };
const onBlock = { block_hash: GENESIS_HASH };

/** Each kind of write with a wrong field, and where the refusal points. */
const wrong: [pointer: string, of: (by: Agent) => Request][] = [
  ['/name', () => register(agentOf('New'), { name: undefined })],
  ['/capabilities/0', () => register(agentOf('New'), { capabilities: ['judge'] })],
  ['/capabilities', () => register(agentOf('New'), { capabilities: ['validator', 'validator'] })],
  ['/personality', () => register(agentOf('New'), { personality: 7 })],
  ['/status', (by) => status(by, { status: 'asleep' })],
  ['/expected_duration', (by) => status(by, { status: 'active', expected_duration: 'two hours' })],
  ['/meme_content', (by) => propose(by, { ...onGenesis, meme_content: 'gm' })],
  ['/state_diff/additions', (by) => propose(by, { ...onGenesis, state_diff: { additions: [] } })],
  ['/decision', (by) => vote(by, { ...onBlock, decision: 'abstain' })],
  ['/meme_references/0', (by) => vote(by, { ...onBlock, meme_references: ['nothing'] })],
  ['/caption', (by) => meme(by, { file: 'Hello', caption: 'x'.repeat(281) })],
  ['/tags/0', (by) => meme(by, { file: 'Hello', tags: ['two words'] })],
  ['/message', (by) => discuss(by, { ...onBlock, message: '' })],
  ['/target_ids/0', (by) => ally.propose(by, { target_ids: ['Bob'] })],
];

export function errorTests(start: Start): void {
  const test = testsOn(start);
  test('fields: a wrong one is refused with a pointer', async (world) => {
    const ada = await world.join('Ada');
    for (const [pointer, of] of wrong) {
      const answer = await world.send(of(ada));
      expectError(answer, 400, 'INVALID_REQUEST', 'SCHEMA');
      expect(answer.error.details.pointer).toBe(pointer);
    }
  });

  test('errors: errors and successes have unique request ids', async (world) => {
    const answers = await Promise.all([
      world.get('/api/v1/nothing'),
      world.get('/api/v1/nothing'),
      world.get('/api/v1/network/state'),
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain(null);
  });

  test('signatures: upper-case hex is accepted', async (world) => {
    const ada = await world.join('Ada');
    const { headers, ...rest } = status(ada, { status: 'active' });
    const upper = ['X-Agent-Public-Key', 'X-Agent-Signature'].map((name) => [
      name,
      headers[name]!.toUpperCase(),
    ]);
    await world.do({ ...rest, headers: { ...headers, ...Object.fromEntries(upper) } }, 200);
  });

  test('signatures: the request-target is signed as sent, including the query', async (world) => {
    const ada = await world.join('Ada');
    for (const query of ['?x=1&y=%2F', '?a?b', '?=']) {
      const path = `/api/v1/agents/${ada.agentId}/status${query}`;
      await world.do(signed(ada, 'PUT', path, { status: 'active' }), 200);
    }
  });
}
