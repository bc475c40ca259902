/**
 * A carefully written server without folkmoot, in its own process: fastify with schemas,
 * node:crypto with cached keys, and LMDB, which makes many votes durable in one commit before the
 * responses. The server accepts the same signed votes without folkmoot's guarantees. It has no
 * replayable log, digests, events, reputations, limits or reads.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { FastifyReply } from 'fastify';
import fastify from 'fastify';
import { open } from 'lmdb';
import { type Static, Type } from '../engine/protocol/bundled/typebox.js';
import { GENESIS_HASH } from '../engine/protocol/schema/primitives.js';
import { requestSchemas } from '../engine/protocol/schema/request.js';
import { agentId, blockHash, proposalInput, voteInput } from '../engine/protocol/signing.js';
import { answerParent } from './servers/child-server.js';

const [path = '', networkId = ''] = process.argv.slice(2);

interface Agent {
  id: string;
  key: KeyObject;
}

interface Vote {
  signature: string;
  /** Resolves once the request is durable. */
  answer: Promise<object>;
}

interface Block {
  height: number;
  needed: number;
  approvals: number;
  status: 'voting' | 'finalized';
  votes: Map<Agent, Vote>;
}

const agents = new Map<string, Agent>();
const blocks = new Map<string, Block>();
let head = { hash: GENESIS_HASH, height: -1 };
let stored = 0;

const store = open<string, number>({
  path,
  noSubdir: false,
  overlappingSync: false,
  encoding: 'string',
  pageSize: 8192,
});
/** Resolves once the row's transaction is on disk. */
function keep(row: object): Promise<boolean> {
  stored += 1;
  return store.put(stored, JSON.stringify(row));
}

/** Runs in libuv's threads, without blocking the event loop. */
const holds = promisify(verify);
const SKEW_MS = 300_000;
const isFresh = (timestamp: string) => Math.abs(Date.now() - Date.parse(timestamp)) < SKEW_MS;

const app = fastify({ bodyLimit: 2 * 1024 * 1024 });
const caller = { headers: Type.Object({ 'x-agent-public-key': Type.String({ minLength: 64 }) }) };
type Caller = Static<typeof caller.headers>;

function refuse(reply: FastifyReply, status: number, reason: string): object {
  reply.code(status);
  return { success: false, error: { code: status, message: reason, details: { reason } } };
}

/** Returns the signer, or the reason for a refusal. */
async function signerOf(
  { 'x-agent-public-key': publicKey }: Caller,
  { timestamp, signature }: { timestamp: string; signature: string },
  input: string,
): Promise<Agent | string> {
  const agent = agents.get(publicKey);
  if (!agent) return 'UNKNOWN_KEY';
  if (!isFresh(timestamp)) return 'STALE_TIMESTAMP';
  const bytes = Buffer.from(signature, 'hex');
  return (await holds(null, Buffer.from(input), agent.key, bytes)) ? agent : 'BAD_SIGNATURE';
}

type Registering = { Body: Static<typeof requestSchemas.register> };
const register = { schema: { body: requestSchemas.register } };
/** Used before the measurement. The signature is not verified. */
app.post<Registering>('/api/v1/agents/register', register, async ({ body }) => {
  const { public_key } = body;
  const x = Buffer.from(public_key, 'hex').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const agent = { id: agentId(public_key), key };
  agents.set(public_key, agent);
  await keep(body);
  return { success: true, data: { agent_id: agent.id } };
});

type Proposing = { Headers: Caller; Body: Static<typeof requestSchemas.propose> };
const propose = { schema: { ...caller, body: requestSchemas.propose } };
app.post<Proposing>('/api/v1/blocks/propose', propose, async ({ headers, body }, reply) => {
  const signer = await signerOf(headers, body, proposalInput(body));
  if (typeof signer === 'string') return refuse(reply, 401, signer);
  const { parent_hash, transactions, timestamp } = body;
  const publicKey = headers['x-agent-public-key'];
  const hash = blockHash({ parent_hash, transactions, timestamp }, publicKey, networkId);
  if (parent_hash !== head.hash) return refuse(reply, 409, 'STALE_PARENT');
  const height = head.height + 1;
  const needed = Math.floor((2 * agents.size) / 3) + 1;
  blocks.set(hash, { height, needed, approvals: 0, status: 'voting', votes: new Map() });
  await keep({ public_key: publicKey, ...body });
  return { success: true, data: { block_hash: hash, height, status: 'voting' } };
});

type Voting = { Headers: Caller; Body: Static<typeof requestSchemas.vote> };
const vote = { schema: { ...caller, body: requestSchemas.vote } };
app.post<Voting>('/api/v1/consensus/vote', vote, async ({ headers, body }, reply) => {
  const signer = await signerOf(headers, body, voteInput(body));
  if (typeof signer === 'string') return refuse(reply, 401, signer);
  const { block_hash, decision, signature } = body;
  const block = blocks.get(block_hash);
  if (!block) return refuse(reply, 404, 'UNKNOWN_BLOCK');
  const earlier = block.votes.get(signer);
  if (earlier?.signature === signature) return earlier.answer;
  if (earlier) return refuse(reply, 409, 'EQUIVOCATION');
  if (block.status !== 'voting') return refuse(reply, 409, 'VOTING_CLOSED');
  if (decision === 'approve') block.approvals += 1;
  if (block.approvals >= block.needed) {
    block.status = 'finalized';
    head = { hash: block_hash, height: block.height };
  }
  const { approvals, needed, status } = block;
  const data = { block_hash, agent_id: signer.id, decision, approvals, needed };
  const kept = keep({ public_key: headers['x-agent-public-key'], ...body });
  const answer = kept.then(() => ({ success: true, data: { ...data, block_status: status } }));
  block.votes.set(signer, { signature, answer });
  return answer;
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
answerParent(Number(new URL(url).port), () => {});
