/**
 * A carefully written server without folkmoot, in its own process: fastify with schemas,
 * node:crypto with cached keys, and LMDB, which makes many votes durable in one commit before the
 * responses. The server accepts the same signed votes without folkmoot's guarantees. It has no
 * replayable log, digests, events, reputations, limits or reads. If a number of processes is given,
 * they share the port and the LMDB file.
 */
import cluster from 'node:cluster';
import { verify } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { FastifyReply } from 'fastify';
import fastify from 'fastify';
import { type Static, Type } from '../engine/protocol/bundled/typebox.js';
import { requestSchemas } from '../engine/protocol/schema/request.js';
import { blockHash, proposalInput, voteInput } from '../engine/protocol/signing.js';
import { answerParent } from './servers/child-server.js';
import {
  type Agent,
  openSharedState,
  openState,
  type Result,
  type State,
} from './servers/plain-state.js';

const [path = '', networkId = '', processes] = process.argv.slice(2);

/** Runs in libuv's threads, without blocking the event loop. */
const holds = promisify(verify);
const SKEW_MS = 300_000;
const isFresh = (timestamp: string) => Math.abs(Date.now() - Date.parse(timestamp)) < SKEW_MS;

const caller = { headers: Type.Object({ 'x-agent-public-key': Type.String({ minLength: 64 }) }) };
type Caller = Static<typeof caller.headers>;
type Registering = { Body: Static<typeof requestSchemas.register> };
const register = { schema: { body: requestSchemas.register } };
type Proposing = { Headers: Caller; Body: Static<typeof requestSchemas.propose> };
const propose = { schema: { ...caller, body: requestSchemas.propose } };
type Voting = { Headers: Caller; Body: Static<typeof requestSchemas.vote> };
const vote = { schema: { ...caller, body: requestSchemas.vote } };

/** Starts to serve on any port. Returns the port. */
async function serve(state: State): Promise<number> {
  const app = fastify({ bodyLimit: 2 * 1024 * 1024 });

  /** Returns the signer, or the reason for a refusal. */
  async function signerOf(
    { 'x-agent-public-key': publicKey }: Caller,
    { timestamp, signature }: { timestamp: string; signature: string },
    input: string,
  ): Promise<Agent | string> {
    const agent = state.agent(publicKey);
    if (!agent) return 'UNKNOWN_KEY';
    if (!isFresh(timestamp)) return 'STALE_TIMESTAMP';
    const bytes = Buffer.from(signature, 'hex');
    return (await holds(null, Buffer.from(input), agent.key, bytes)) ? agent : 'BAD_SIGNATURE';
  }

  /** Used before the measurement. The signature is not verified. */
  app.post<Registering>('/api/v1/agents/register', register, async ({ body }) => {
    const { id } = await state.register(body.public_key, body);
    return { success: true, data: { agent_id: id } };
  });

  app.post<Proposing>('/api/v1/blocks/propose', propose, async ({ headers, body }, reply) => {
    const signer = await signerOf(headers, body, proposalInput(body));
    if (typeof signer === 'string') return refuse(reply, 401, signer);
    const { parent_hash, transactions, timestamp } = body;
    const publicKey = headers['x-agent-public-key'];
    const hash = blockHash({ parent_hash, transactions, timestamp }, publicKey, networkId);
    const row = { public_key: publicKey, ...body };
    return respond(reply, await state.propose(hash, parent_hash, row));
  });

  app.post<Voting>('/api/v1/consensus/vote', vote, async ({ headers, body }, reply) => {
    const signer = await signerOf(headers, body, voteInput(body));
    if (typeof signer === 'string') return refuse(reply, 401, signer);
    const row = { public_key: headers['x-agent-public-key'], ...body };
    return respond(reply, await state.vote(signer, body, row));
  });

  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}

const respond = (reply: FastifyReply, result: Result): object =>
  'data' in result
    ? { success: true, data: result.data }
    : refuse(reply, result.status, result.reason);

function refuse(reply: FastifyReply, status: number, reason: string): object {
  reply.code(status);
  return { success: false, error: { code: status, message: reason, details: { reason } } };
}

if (processes === undefined) answerParent(await serve(openState(path)), () => {});
else if (!cluster.isPrimary) await serve(openSharedState(path, cluster.worker!.id));
else {
  const workers = Array.from({ length: Number(processes) }, () => cluster.fork());
  const listening = workers.map((worker) => once(worker, 'listening'));
  const [[address]] = (await Promise.all(listening)) as [[{ port: number }]];
  answerParent(address.port, () => {});
}
