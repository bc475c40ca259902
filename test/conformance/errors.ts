/** Refused fields, request ids, and what a signature covers. */
import {
  type Agent,
  agentOf,
  ally,
  discuss,
  type Fields,
  meme,
  propose,
  type Request,
  register,
  signed,
  status,
  vote,
} from '../support/service/signer.js';
import { begin, expectError, GENESIS_HASH, type Start, testsOn } from '../support/service/world.js';

/** Each kind of write with a wrong field, and where the refusal points. */
const wrong: [
  kind: string,
  of: (by: Agent, fields: Fields) => Request,
  rows: [string, Fields][],
][] = [
  [
    'register',
    (_, fields) => register(agentOf('New'), fields),
    [
      ...['public_key', 'personality', 'name', 'capabilities'].map((field): [string, Fields] => [
        `/${field}`,
        { [field]: undefined },
      ]),
      ['/capabilities', { capabilities: [] }],
      ['/capabilities/0', { capabilities: ['judge'] }],
      ['/capabilities', { capabilities: ['validator', 'validator'] }],
      ['/name', { name: '' }],
      ['/name', { name: 'x'.repeat(65) }],
      ['/name', { name: 'a\u0007' }],
      ['/name', { name: 7 }],
      ['/personality', { personality: '0' }],
      ['/description', { description: 'x'.repeat(513) }],
      ['/public_key', { public_key: `0x${'a'.repeat(62)}` }],
    ],
  ],
  [
    'status',
    (by, fields) => status(by, fields),
    [
      ['/status', {}],
      ['/status', { status: 'asleep' }],
      ['/expected_duration', { status: 'active', expected_duration: 'two hours' }],
      ['/reason', { status: 'active', reason: 'x'.repeat(257) }],
    ],
  ],
  [
    'propose',
    (by, fields) => propose(by, { parent_hash: GENESIS_HASH, ...fields }),
    [
      ['/parent_hash', { parent_hash: undefined }],
      ['/parent_hash', { parent_hash: 'abc' }],
      ['/transactions', { transactions: undefined }],
      ['/transactions', { transactions: {} }],
      ['/timestamp', { timestamp: undefined }],
      ['/timestamp', { timestamp: '2025-02-30T00:00:00Z' }],
      ['/timestamp', { timestamp: '2025-01-01T00:00:00' }],
      ['/producer', { producer: 'me' }],
      ['/network_id', { network_id: 'testnet' }],
      ['/meme_content/type', { meme_content: { content: '', tags: [] } }],
      ['/meme_content/type', { meme_content: { type: 'film', content: '', tags: [] } }],
      ['/meme_content/tags', { meme_content: { type: 'gif', content: '' } }],
      ['/state_diff/additions', { state_diff: { additions: [] } }],
    ],
  ],
  [
    'vote',
    (by, fields) => vote(by, { block_hash: GENESIS_HASH, ...fields }),
    [
      ['/block_hash', { block_hash: undefined }],
      ['/block_hash', { block_hash: 'xyz' }],
      ['/decision', { decision: undefined }],
      ['/decision', { decision: 'abstain' }],
      ['/timestamp', { timestamp: undefined }],
      ['/timestamp', { timestamp: 'now' }],
      ['/reason', { reason: 'x'.repeat(1025) }],
      ['/meme_references', { meme_references: Array(17).fill(`meme_${'a'.repeat(32)}`) }],
      ['/meme_references/0', { meme_references: ['nothing'] }],
    ],
  ],
  [
    'meme',
    (by, fields) => meme(by, { file: 'Hello', ...fields }),
    [
      ['/caption', { caption: 'x'.repeat(281) }],
      ['/tags', { tags: Array.from({ length: 11 }, (_, index) => `t${index}`) }],
      ['/tags/0', { tags: ['two words'] }],
      ['/tags/1', { tags: ['good', 'x'.repeat(33)] }],
    ],
  ],
  [
    'discuss',
    (by, fields) => discuss(by, { block_hash: GENESIS_HASH, ...fields }),
    [
      ['/message', { message: '' }],
      ['/sentiment', { sentiment: 'angry' }],
      ['/block_hash', { block_hash: undefined }],
    ],
  ],
  [
    'alliance_propose',
    (by, fields) => ally.propose(by, fields),
    [
      ['/target_ids', { target_ids: [] }],
      ['/target_ids/0', { target_ids: ['Bob'] }],
      ['/purpose', { target_ids: [`agent_${'0'.repeat(32)}`], purpose: '' }],
      ['/duration', { target_ids: [`agent_${'0'.repeat(32)}`], duration: 'PT59S' }],
    ],
  ],
];

export function errorTests(start: Start): void {
  const test = testsOn(start);
  test.each(wrong)('%s: refused at the wrong field', async (_, of, rows) => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    for (const [pointer, fields] of rows) {
      const answer = await world.send(of(ada, fields));
      expectError(answer, 400, 'INVALID_REQUEST', 'SCHEMA');
      expect([fields, answer.error.details.pointer]).toEqual([fields, pointer]);
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
