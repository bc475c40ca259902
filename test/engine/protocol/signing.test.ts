/** The published signing vectors: inputs, ids and signatures, composed and admitted. */
import { readFileSync } from 'node:fs';
import {
  composeAlliancePropose,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeTransaction,
  composeVote,
  keyPairFromSeed,
  type Signatory,
  type SignedRequest,
  sign,
} from 'folkmoot';
import * as signing from 'folkmoot/signing';
import { type Admission, admit } from 'folkmoot/testing';
import { answerOf, newPopulation, word } from '../helpers.js';

interface Vector {
  method: string;
  target: string;
  timestamp: string;
  body: string;
  body_sha256: string;
  signing_input: string;
  signature: string;
}

interface Signed<B> {
  body: B;
  signing_input: string;
  signature: string;
}

interface Vectors {
  public_key: string;
  network_id: string;
  timestamp: string;
  agent_id: string;
  register: Vector;
  status: Vector;
  debug_read: Vector;
  alliance: Vector & { alliance_id: string };
  transaction: { data: string; hash: string; signing_input: string; signature: string };
  transaction_with_sender: Vectors['transaction'] & { sender: string };
  proposal: Signed<Record<string, unknown>> & { block_hash_input: string; block_hash: string };
  vote: Signed<Record<string, unknown>>;
  vote_as_received: Signed<Record<string, unknown>>;
  meme: { file_utf8: string; signing_input: string; signature: string; meme_id: string };
  meme_bare: Vectors['meme'];
  ws_auth: { signing_input: string; signature: string };
  response: Response;
  response_to_read: Response;
}

interface Response {
  status: number;
  request: {
    method: string;
    target: string;
    public_key: string;
    input_sha256: string;
    signature: string;
    timestamp: string;
  };
  timestamp: string;
  body: string;
  signing_input: string;
  signature: string;
}

const path = new URL('../../vectors/signing.json', import.meta.url);
const vectors = JSON.parse(readFileSync(path, 'utf8')) as Vectors;
const { public_key, network_id, timestamp } = vectors;

/** Returns the key whose seed is one repeated byte. */
function keyOf(byte: number): Signatory {
  const keys = keyPairFromSeed(new Uint8Array(32).fill(byte));
  return {
    publicKey: keys.publicKeyHex,
    sign: (input) => Buffer.from(sign(encode(input), keys)).toString('hex'),
  };
}

const encode = (text: string) => new TextEncoder().encode(text);

function byHeader(kind: SignedRequest['kind'], vector: Vector): SignedRequest {
  const { target, signature, body } = vector;
  return { kind, public_key, target, timestamp: vector.timestamp, signature, body: encode(body) };
}

function byBody(kind: 'vote' | 'propose', { body, signature }: Vectors['vote']): SignedRequest {
  const raw = encode(JSON.stringify({ ...body, signature }));
  return { kind, public_key, target: '', timestamp: '', signature: '', body: raw };
}

function byForm(vector: Vectors['meme'], caption: string, tags: string[]): SignedRequest {
  const file = encode(vector.file_utf8);
  const form = { caption, content_sha256: signing.sha256Hex(file), tags };
  const { signature } = vector;
  const body = encode(JSON.stringify(form));
  const target = '/api/v1/social/memes';
  return { kind: 'meme', public_key, target, timestamp, signature, body, file };
}

const requests: [string, SignedRequest, string][] = [
  ['register', byHeader('register', vectors.register), vectors.register.signing_input],
  ['status', byHeader('status', vectors.status), vectors.status.signing_input],
  ['alliance', byHeader('alliance_propose', vectors.alliance), vectors.alliance.signing_input],
  ['vote', byBody('vote', vectors.vote), vectors.vote.signing_input],
  [
    'vote_as_received',
    byBody('vote', vectors.vote_as_received),
    vectors.vote_as_received.signing_input,
  ],
  ['proposal', byBody('propose', vectors.proposal), vectors.proposal.signing_input],
  ['meme', byForm(vectors.meme, 'hello', ['gm', 'test']), vectors.meme.signing_input],
  ['meme_bare', byForm(vectors.meme_bare, '', []), vectors.meme_bare.signing_input],
];

async function admitted(request: SignedRequest): Promise<Exclude<Admission, { refusal: unknown }>> {
  const admission = admit(request, network_id);
  if ('refusal' in admission) throw new Error(admission.refusal.message);
  return admission;
}

test.each(requests)('signing: %s has its signing input', async (_, request, input) => {
  const { ownJob, inputSha256 } = await admitted(request);
  expect(Buffer.from(ownJob().message).toString()).toBe(input);
  expect(inputSha256()).toBe(signing.sha256Hex(input));
});

test.each([
  ...['register', 'status', 'alliance', 'debug_read'],
] as const)('signing: the input of %s has method, target, time and body', (name) => {
  const { method, target, timestamp: at, body, body_sha256, signing_input } = vectors[name];
  expect(signing.sha256Hex(body)).toBe(body_sha256);
  const made = signing.httpInput({ method, target, timestamp: at, bodySha256: body_sha256 });
  expect(made).toBe(signing_input);
});

test('signing: WebSocket auth has the input of its vector', () => {
  expect(signing.authInput(public_key, timestamp)).toBe(vectors.ws_auth.signing_input);
});

test.each(['response', 'response_to_read'] as const)('signing: a %s is signed', (name) => {
  const { status, request, body, signing_input, signature, timestamp: at } = vectors[name];
  const { public_key: publicKey, input_sha256: inputSha256, ...rest } = request;
  const bodySha256 = signing.sha256Hex(body);
  const answered = { ...rest, publicKey, inputSha256 };
  const made = signing.responseInput({ status, request: answered, timestamp: at, bodySha256 });
  expect(made).toBe(signing_input);
  expect(keyOf(1).sign(made)).toBe(signature);
});

test('signing: the response vector belongs to the vote vector', () => {
  const { input_sha256, signature } = vectors.response.request;
  expect(input_sha256).toBe(signing.sha256Hex(vectors.vote.signing_input));
  expect(signature).toBe(vectors.vote.signature);
});

test('signing: computes the block hash of a proposal without its signature', async () => {
  const { body, block_hash, block_hash_input } = vectors.proposal;
  const { command } = await admitted(byBody('propose', vectors.proposal));
  expect(command).toMatchObject({ kind: 'propose', block_hash });
  expect(signing.blockHash(body, public_key, network_id)).toBe(block_hash);
  expect(signing.blockHash({ ...body, signature: 'x' }, public_key, network_id)).toBe(block_hash);
  expect(signing.sha256Hex(block_hash_input)).toBe(block_hash);
});

test('signing: computes ids of memes and alliances', async () => {
  const commands = await Promise.all(
    requests.map(async ([, request]) => (await admitted(request)).command),
  );
  const ids = commands.map((command) =>
    'meme_id' in command ? command.meme_id : 'alliance_id' in command ? command.alliance_id : '',
  );
  expect(ids.filter((id) => id !== '')).toEqual([
    ...[vectors.alliance.alliance_id, vectors.meme.meme_id, vectors.meme_bare.meme_id],
  ]);
});

test('signing: a transaction covers network and hash, signed by its sender if there is one', () => {
  const { transaction, transaction_with_sender: other } = vectors;
  const own = composeTransaction(keyOf(1), network_id, transaction.data, false);
  expect(own).toEqual({
    ...{ data: transaction.data, hash: transaction.hash, signature: transaction.signature },
  });
  expect(composeTransaction(keyOf(2), network_id, other.data, true)).toEqual({
    ...{ data: other.data, hash: other.hash, sender: other.sender, signature: other.signature },
  });
  for (const { hash, signing_input } of [transaction, other]) {
    expect(signing.transactionInput(network_id, hash)).toBe(signing_input);
  }
});

test('signing: composed requests have the signatures of the vectors', () => {
  const by = keyOf(1);
  const parsed = (vector: Vector) => JSON.parse(vector.body);
  const { public_key: _, ...registration } = parsed(vectors.register);
  const inHeader = [
    composeRegister(by, timestamp, registration),
    composeStatus(by, timestamp, vectors.agent_id, parsed(vectors.status)),
    composeAlliancePropose(by, timestamp, parsed(vectors.alliance)),
  ];
  const { register, status, alliance, meme_bare } = vectors;
  expect(inHeader).toEqual([
    byHeader('register', register),
    byHeader('status', status),
    byHeader('alliance_propose', alliance),
  ]);
  const meme = composeMeme(by, timestamp, { caption: '', tags: [], file: encode('gm') });
  expect(meme.signature).toBe(meme_bare.signature);
  const { timestamp: __, ...proposal } = vectors.proposal.body;
  const { timestamp: ___, ...vote } = vectors.vote_as_received.body;
  const inBody = [
    composeProposal(by, timestamp, proposal as never),
    composeVote(by, timestamp, vote as never),
  ].map(({ body }) => JSON.parse(Buffer.from(body).toString()).signature);
  expect(inBody).toEqual([vectors.proposal.signature, vectors.vote_as_received.signature]);
});

test('signing: accepts a vote with unknown members and upper case', async () => {
  const population = await newPopulation({ verifier: 'inline' });
  await population.joinMany(3, ['validator', 'producer']);
  answerOf(await population.submit(byHeader('register', vectors.register)));
  const open = await population.submit(byBody('propose', vectors.proposal));
  expect(answerOf<'propose'>(open).block_hash).toBe(vectors.proposal.block_hash);
  const received = answerOf<'vote'>(
    await population.submit(byBody('vote', vectors.vote_as_received)),
  );
  expect(received).toMatchObject({ block_hash: vectors.proposal.block_hash, decision: 'reject' });
  expect(population.told('block_validation').at(-1)?.reason).toBe(
    vectors.vote_as_received.body.reason,
  );
});

test('signing: refuses a changed unknown member', async () => {
  const population = await newPopulation({ verifier: 'inline' });
  answerOf(await population.submit(byHeader('register', vectors.register)));
  const { body, ...rest } = vectors.vote_as_received;
  const changed = byBody('vote', { ...rest, body: { ...body, x_unknown: [1, true] } });
  expect(word(await population.submit(changed))).toBe('MISMATCH');
});
