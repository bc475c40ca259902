/**
 * Cases for malformed requests: bytes, JSON, members, targets, credentials, texts, times and letter
 * case.
 */
import {
  composeAlliancePropose,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeTransaction,
  composeVote,
  type Signatory,
} from '../../engine/protocol/compose.js';
import { limits } from '../../engine/protocol/limits.js';
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { GENESIS_HASH } from '../../engine/protocol/schema/primitives.js';
import type { AnswerOf } from '../../engine/protocol/schema/view.js';
import { httpInput, sha256Hex } from '../../engine/protocol/signing.js';
import { type Actor, actor, type Case, type Harness } from './harness.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);

/** Builds a status update with an arbitrary body and a valid signature. */
function statusAround(harness: Harness, by: Actor, body: Uint8Array): SignedRequest {
  const good = composeStatus(by, harness.stamp(), by.id, { status: 'active' });
  const { target, timestamp } = good;
  const input = httpInput({ method: 'PUT', target, timestamp, bodySha256: sha256Hex(body) });
  return { ...good, body, signature: by.sign(input) };
}

const badBodies: [string, Uint8Array][] = [
  ['empty', bytes('')],
  ['truncated JSON', bytes('{"status":"active"')],
  ['a byte order mark', bytes('\ufeff{"status":"active"}')],
  ['invalid UTF-8', Buffer.from('7b22737461747573223a22ff227d', 'hex')],
  ['an overlong NUL', Buffer.from('7b22c080223a317d', 'hex')],
  ['a lone surrogate', bytes('{"status":"active","reason":"\\ud800"}')],
  ['depth 17', bytes(`{"status":"active","a":${'['.repeat(16)}${']'.repeat(16)}}`)],
  ['an infinite number', bytes('{"status":"active","a":1e400}')],
  ['an integer beyond 2^53-1', bytes('{"status":"active","a":9007199254740992}')],
  ['__proto__', bytes('{"status":"active","__proto__":1}')],
  ['constructor, deep', bytes('{"status":"active","a":[{"constructor":1}]}')],
  ['a member twice', bytes('{"status":"active","status":"inactive"}')],
  ['a member twice, once escaped', bytes('{"status":"active","\\u0073tatus":"active"}')],
  ['an unknown member twice, deep', bytes('{"status":"active","a":[0,{"b":{},"b":{"c":1}}]}')],
  ['not an object', bytes('[]')],
  ['null', bytes('null')],
  ['missing status', bytes('{}')],
  ['unknown status', bytes('{"status":"asleep"}')],
  ['a reason of 257 code points', bytes(`{"status":"active","reason":"${'🎉'.repeat(257)}"}`)],
  ['reason null', bytes('{"status":"active","reason":null}')],
];

const goodBodies: [string, Uint8Array][] = [
  ['depth 16', bytes(`{"status":"active","a":${'['.repeat(15)}${']'.repeat(15)}}`)],
  ['equal names in two objects', bytes('{"status":"active","a":{"status":[{"a":1},{"a":1}]}}')],
  ['a name inside a text', bytes('{"status":"active","reason":"\\"status\\":1,\\\\"}')],
  ['whitespace, unknown members', bytes(' \t\r\n{ "status" : "active" , "x" : -0.0 }\n')],
  ['a reason of 256 code points', bytes(`{"status":"active","reason":"${'🎉'.repeat(256)}"}`)],
];

export const bodies: Case = {
  name: 'bodies',
  about: 'accepted and refused JSON in status updates',
  async play(harness) {
    const ada = await harness.join();
    for (const [note, body] of [...badBodies, ...goodBodies]) {
      await harness.ask(statusAround(harness, ada, body), note);
    }
    const large = new Uint8Array(limits.bodyBytes + 1_048_576).fill(0x20);
    await harness.ask(statusAround(harness, ada, large), 'body too large');
    const file = new Uint8Array(limits.memeFileBytes + 1).fill(0x61);
    const fields = { caption: '', tags: [], file };
    await harness.ask(composeMeme(ada, harness.stamp(), fields), 'file too large');
  },
};

export const credentials: Case = {
  name: 'credentials',
  about: 'missing, malformed and wrong keys, timestamps, signatures and targets',
  async play(harness) {
    const ada = await harness.join();
    const eve = harness.actor();
    const good = () => composeStatus(ada, harness.stamp(), ada.id, { status: 'active' });
    const half = ada.publicKey.slice(1);
    for (const changes of [
      { public_key: '' },
      { public_key: half },
      { public_key: `0x${half}` },
      { timestamp: '' },
      { timestamp: '2025-01-01T00:00:00' },
      { timestamp: '2025-02-29T00:00:00Z' },
      { signature: '' },
      { signature: 'ab' },
      { signature: '0'.repeat(128) },
      { public_key: eve.publicKey },
      { target: '/api/v1/agents/bob/status' },
      { target: '/api/v1/agents/bob/now/status' },
      { target: '/api/v1/agents/register' },
      { body: bytes('{"status":"inactive"}') },
    ]) {
      await harness.ask({ ...good(), ...changes }, JSON.stringify(Object.keys(changes)));
    }
    const kind = 'nothing' as keyof typeof carriage;
    await harness.ask({ ...good(), kind }, 'unknown kind');
    await inBodies(harness, ada);
    await edges(harness, ada);
  },
};

async function inBodies(harness: Harness, ada: Actor): Promise<void> {
  const fields = { block_hash: 'a'.repeat(64), decision: 'approve' } as const;
  for (const signature of ['', null, 7, 'zz', undefined]) {
    const request = composeVote(ada, harness.stamp(), fields);
    const body = JSON.parse(Buffer.from(request.body).toString()) as object;
    const changed = bytes(JSON.stringify({ ...body, signature }));
    await harness.ask({ ...request, body: changed }, `vote with signature ${signature}`);
  }
  const late = composeVote(ada, 'yesterday', fields);
  await harness.ask(late, 'a timestamp in a body is checked by the schema');
  const other = {
    ...composeVote(ada, harness.stamp(), fields),
    public_key: harness.actor().publicKey,
  };
  await harness.ask(other, 'unregistered key');
}

/** Order of the Ed25519 group. */
const L = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

/** Tests signatures that some libraries accept and the protocol refuses. */
async function edges(harness: Harness, ada: Actor): Promise<void> {
  const good = composeStatus(ada, harness.stamp(), ada.id, { status: 'active' });
  const s = BigInt(`0x${Buffer.from(good.signature.slice(64), 'hex').reverse().toString('hex')}`);
  const grown = (s + L).toString(16).padStart(64, '0');
  const large = Buffer.from(grown, 'hex').reverse().toString('hex');
  await harness.ask({ ...good, signature: good.signature.slice(0, 64) + large }, 'S + L');
  const small = `01${'00'.repeat(31)}`;
  const profile = { public_key: small, personality: 'p', name: 'n', capabilities: ['validator'] };
  const request: SignedRequest = {
    kind: 'register',
    public_key: small,
    target: carriage.register.path,
    timestamp: harness.stamp(),
    signature: small + '00'.repeat(32),
    body: bytes(JSON.stringify(profile)),
  };
  await harness.ask(request, 'a key of small order');
  await harness.ask(good, 'the valid signature');
}

export const contents: Case = {
  name: 'contents',
  about: 'proposals and memes with refused or unusual content',
  async play(harness) {
    const ada = await harness.join();
    const one = composeTransaction(ada, harness.networkId, 'one', false);
    const block = { parent_hash: GENESIS_HASH, transactions: [one] };
    for (const [note, changes] of proposals(ada, harness.networkId)) {
      await harness.ask(composeProposal(ada, harness.stamp(), { ...block, ...changes }), note);
    }
    for (const [note, file] of files) {
      const fields = { caption: '', tags: [], file };
      await harness.ask(composeMeme(ada, harness.stamp(), fields), note);
    }
    const form = { caption: '', tags: [], file: bytes('gm') };
    const posted = composeMeme(ada, harness.stamp(), form);
    await harness.ask({ ...posted, file: bytes('gn') }, 'a file that does not match the signature');
    const { file: _, ...bare } = posted;
    await harness.ask(bare, 'missing file');
    const upper = Buffer.from(posted.body)
      .toString()
      .replace(/[0-9a-f]{64}/, hexUpper);
    await harness.ask({ ...posted, body: bytes(upper) }, 'content_sha256 in upper case');
    await harness.ask(posted, 'the same in lower case is a duplicate');
  },
};

const hexUpper = (hex: string) => hex.toUpperCase();

const value = (length: number) => 'x'.repeat(length);

function proposals(ada: Actor, networkId: string): [string, object][] {
  const of = (data: string) => composeTransaction(ada, networkId, data, false);
  const one = of('one');
  const diff = (additions: object, deletions: object = {}) => ({
    state_diff: { additions, deletions },
  });
  return [
    ['member producer', { producer: ada.id }],
    ['member network_id', { network_id: networkId }],
    ['hash of different data', { transactions: [{ ...one, data: 'two' }] }],
    ['data too large', { transactions: [of(value(4_097))] }],
    ['transaction without signature', { transactions: [{ ...one, signature: undefined }] }],
    ['transaction with malformed signature', { transactions: [{ ...one, signature: 'no' }] }],
    [
      'transaction with wrong signature',
      { transactions: [one, { ...of('x'), signature: one.signature }] },
    ],
    ['duplicate transaction', { transactions: [one, one] }],
    ['state key with a space', diff({ 'a b': 1 })],
    ['key added and deleted', diff({ a: 1 }, { a: 1 })],
    ['a value of 4,097 bytes', diff({ a: value(4_095) })],
    ['a value of deletions of 4,097 bytes', diff({}, { a: value(4_095) })],
    ['1,001 keys', diff(Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`k${i}`, 1])))],
    ['meme_content without tags', { meme_content: { type: 'text', content: 'gm' } }],
    ['hashes in upper case', { transactions: [{ ...one, hash: hexUpper(one.hash) }] }],
  ];
}

const files: [string, Uint8Array][] = [
  [
    'a PNG',
    Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
  ],
  [
    'a GIF',
    Buffer.from('4749463839610100010080000000000000ffffff2c00000000010001000002024401003b', 'hex'),
  ],
  ['markup', bytes('<p>gm</p>')],
  ['markup after whitespace', bytes('\u2003\u3000\n<p>')],
  ['markup after a character that is not whitespace', bytes('\u180e<p>')],
  ['a control character', bytes('a\u0001')],
  ['a C1 control character', bytes('a\u0085')],
  ['tab, LF, CR', bytes('a\t\r\n')],
  ['invalid UTF-8', Buffer.from('ff00ff', 'hex')],
  ['nothing', bytes('')],
];

const durations = [
  'PT1H',
  'P1Y2M3W4DT5H6M7.123456789S',
  'PT0S',
  '',
  'Pt1.5h',
  'PT1,5M',
  'P4294967295Y',
  'PT9007199254740991S',
  'P',
  'PT',
  '-PT1H',
  '+PT1H',
  'pT1H',
  'PT1.5H1M',
  'PT1.0000000001S',
  'P1H',
  'PT1D',
  'P1D2W',
  'P1,5D',
  'PT1.S',
  'PT.5S',
  ' PT1H',
  'P4294967296W',
  'PT9007199254740992S',
];

const lengths = [
  'PT1M',
  'PT60.0009S',
  'PT0.016666667H',
  'P4W2D',
  'P30D',
  'P0Y1D',
  'PT59.9999999S',
  'P30DT0.001S',
  'P1M',
  'P1Y',
  'PT0.0166666666H',
  '',
];

const timestamps = [
  '2025-01-01T00:00:00Z',
  '2025-01-01t00:00:00.123456789z',
  '2025-01-01T00:00:00-00:00',
  '2024-02-29T23:59:59+23:59',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999-23:59',
  '2023-02-29T00:00:00Z',
  '2025-01-01T24:00:00Z',
  '2025-01-01T00:00:60Z',
  '2025-01-01 00:00:00Z',
  '2025-01-01T00:00:00',
  '2025-01-01T00:00:00+24:00',
  '2025-01-01T00:00:00+0100',
  '2025-01-01T00:00:00.Z',
  '2025-01-01T00:00:00.1234567890Z',
  '10000-01-01T00:00:00Z',
  '1',
  '',
];

const tags = [
  'GM',
  'ΣΟΦΟΣ',
  'İ',
  'ẞ',
  'Ⅷ',
  '²',
  '日本語',
  'हिन्दी',
  '𝒜',
  'a_-9',
  'x'.repeat(32),
  '𐐀'.repeat(32),
  '\u0301',
  '',
  'a b',
  '#a',
  'a.b',
  '🎉',
  '\u200d',
  '\u{1ad5}',
  '\ue000',
  'x'.repeat(33),
];

export const times: Case = {
  name: 'times',
  about: 'durations and timestamps',
  async play(harness) {
    const [ada, bob] = await harness.joinMany(2);
    for (const expected_duration of durations) {
      const fields = { status: 'active', expected_duration } as const;
      await harness.ask(composeStatus(ada!, harness.stamp(), ada!.id, fields), expected_duration);
    }
    for (const duration of lengths) {
      const fields = { target_ids: [bob!.id], purpose: 'p', duration };
      await harness.ask(composeAlliancePropose(ada!, harness.stamp(), fields), duration);
      await harness.pass(60_001);
    }
    for (const timestamp of timestamps) {
      const fields = { block_hash: 'a'.repeat(64), decision: 'approve' } as const;
      await harness.ask(composeVote(ada!, timestamp, fields), timestamp);
      await harness.ask(composeStatus(bob!, timestamp, bob!.id, { status: 'active' }), timestamp);
    }
  },
};

export const words: Case = {
  name: 'words',
  about: 'tags, names and personalities by Unicode 16.0',
  async play(harness) {
    const ada = await harness.join();
    for (const [index, tag] of tags.entries()) {
      const fields = { caption: '', tags: ['A', tag, 'a'], file: Buffer.from(`${index}`) };
      await harness.ask(composeMeme(ada, harness.stamp(), fields), tag);
    }
    for (const name of [
      'n',
      '🎉'.repeat(64),
      '🎉'.repeat(65),
      '',
      'a\u0085',
      'a\u180e\ufdd0',
      '\u007f',
    ]) {
      await register(harness, { name });
    }
    for (const personality of ['Lawful', 'A-9_b', 'ä', '9', `x${'y'.repeat(32)}`, 'K\u212a']) {
      await register(harness, { personality });
    }
  },
};

async function register(harness: Harness, fields: object): Promise<void> {
  const profile = { name: 'n', personality: 'p', capabilities: ['validator'] as const };
  await harness.ask(composeRegister(harness.actor(), harness.stamp(), { ...profile, ...fields }));
}

const upper = (hex: string) => hex.toUpperCase();

export const letterCase: Case = {
  name: 'letter-case',
  about: 'hex texts in upper case',
  async play(harness) {
    const [ada, bob] = [1, 2].map((number): Signatory & { id: string } => {
      const { publicKey, sign, id } = actor(number);
      return { id, publicKey: upper(publicKey), sign: (input) => upper(sign(input)) };
    }) as [Signatory & { id: string }, Signatory & { id: string }];
    for (const by of [ada, bob]) {
      const profile = { name: 'n', personality: 'P', capabilities: ['validator', 'producer'] };
      await harness.do(composeRegister(by, harness.stamp(), profile as never));
    }
    await harness.ask(composeStatus(ada, harness.stamp(), ada.id, { status: 'active' }));
    const transactions = [
      composeTransaction(ada, harness.networkId, '{"type":"a"}', false),
      composeTransaction(bob, harness.networkId, '{"type":"b"}', true),
    ].map((one) => ({ ...one, hash: upper(one.hash) }));
    const fields = { parent_hash: upper(harness.head), transactions };
    const { block_hash } = await harness.do<AnswerOf['propose']>(
      composeProposal(ada, harness.stamp(), fields),
    );
    for (const by of [ada, bob]) {
      const ballot = { block_hash: upper(block_hash), decision: 'approve' } as const;
      await harness.ask(composeVote(by, harness.stamp(), ballot));
    }
  },
};
