/**
 * The gate: one write request from bytes to answer, in the fixed order of checks. What a caller did
 * wrong costs as little as possible, and never the quota of somebody whose key was not used.
 */
import {
  type Admitted,
  type CommandKind,
  type Network,
  type Outcome,
  type Refusal,
  refuse,
  type SignedRequest,
  type Verified,
} from '../../engine/internal.js';
import { agentId, sha256Hex } from '../../engine/protocol/signing.js';
import { admittedOf } from '../checks/admitted.js';
import type { BlockShare } from '../limits/block-share.js';
import type { Seen } from '../limits/charged-signatures.js';
import type { Limits, Quota } from '../limits/limits.js';
import { Charge, isLate, isReplay } from '../limits/operation-cost.js';
import type { Claims } from '../limits/signature-attempts.js';
import type { HttpRequest, HttpResponse } from '../transport/transport.js';
import { mistakeOf, withMistake } from './explain/mistakes.js';
import { type Asked, explained, nothingKnown, type Told, toldByHead } from './explain/signature.js';
import { transactionExplained } from './explain/transaction.js';
import { skewProblem, unknownKey } from './request/head-credentials.js';
import type { LargeBodies } from './request/large-bodies.js';
import type { Visit } from './request/request-budget.js';
import { failure, success } from './response/envelope.js';
import { beyond, withQuota } from './response/quota-answers.js';

export interface Gate {
  network: Network;
  limits: Limits;
  claims: Claims;
  seen: Seen;
  /** In which order large bodies are dealt with. */
  large: LargeBodies;
  /** Who may open the next block; null where nothing is limited. */
  blocks: BlockShare | null;
  /** The edge's clock: freshness is checked here, never in the engine. */
  now: () => number;
}

/** Statuses of an accepted command; the rest are 200. */
const created = new Set<CommandKind>([
  'register',
  'vote',
  'propose',
  'meme',
  'discuss',
  'alliance_propose',
]);

export interface Caller extends Asked {
  visit: Visit;
  /** As its header says. */
  host: string;
  requestId: string;
}

/** Takes a request through all checks and, if it passes, to the network. */
export async function pass(
  gate: Gate,
  request: SignedRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const admitted = admittedOf(request, gate.network.genesis.network_id);
  if ('refusal' in admitted) {
    return refuseUnsigned(gate, request.kind, admitted.refusal, nothingKnown, caller);
  }
  const early = keyProblem(gate, admitted) ?? skewProblem(admitted.signedAt, gate.now());
  if (early) return refuseUnsigned(gate, request.kind, early, admitted, caller);
  const reserving = gate.claims.reserve(caller.visit);
  const ticket = reserving instanceof Promise ? await reserving : reserving;
  if ('short' in ticket) return beyond(ticket.short, caller.requestId);
  let failed = false;
  try {
    const refusal = await gate.network.verification.own(admitted);
    failed = refusal?.reason === 'MISMATCH';
    if (refusal) return await mismatch(gate, refusal, admitted, caller);
  } finally {
    gate.claims.release(ticket, failed);
  }
  caller.visit.vouched();
  return charged(gate, admitted, caller);
}

/** A request whose signature holds. */
async function charged(gate: Gate, admitted: Admitted, caller: Caller): Promise<HttpResponse> {
  const { kind } = admitted.command;
  const { whom: address } = caller.visit;
  const charge = new Charge(gate.limits, gate.seen, admitted, address);
  const short = charge.short();
  // A look ahead where it spares a repeat its quota, or us the signatures of transactions.
  const look = short || kind === 'propose' ? precheck(gate.network, admitted) : null;
  if (short && !charge.spares(short, look)) return beyond(short, caller.requestId);
  const crowded = look ? null : noRoom(gate, admitted, caller.requestId);
  if (crowded) return asRead(gate, address, caller, crowded);
  charge.take();
  const inner = look ? null : gate.network.verification.inner(admitted);
  const verified = inner instanceof Promise ? await inner : inner;
  const { outcome, durable } = applied(gate, look, verified);
  charge.settle(outcome);
  if (kind === 'propose' && !look && outcome.result !== 'accepted') {
    gate.blocks?.giveBack(admitted.command.public_key);
  }
  await durable;
  if (!charge.again && (outcome.result === 'duplicate' || isLate(outcome))) {
    return asRead(gate, address, caller, answer(kind, outcome, caller, null));
  }
  if (!('refusal' in outcome) || outcome.refusal.code !== 'INVALID_SIGNATURE') {
    return answer(kind, outcome, caller, charge.left());
  }
  if (isReplay(outcome.refusal)) {
    if (!charge.again) gate.claims.failed(caller.visit);
    return explainedRefusal(gate, kind, outcome.refusal, admitted, caller);
  }
  const { network_id } = gate.network.genesis;
  const shown = transactionExplained(outcome.refusal, admitted, network_id);
  return withQuota(failure(shown, caller.requestId), charge.left());
}

/** The signature does not fit: the first few of a claim in a minute are looked into. */
async function mismatch(
  gate: Gate,
  refusal: Refusal,
  admitted: Admitted,
  caller: Caller,
): Promise<HttpResponse> {
  const { kind } = admitted.command;
  const found =
    refusal.reason === 'MISMATCH' && gate.claims.explains(caller.visit)
      ? await mistakeOf(gate.network, admitted, caller.host)
      : null;
  const told = found ? withMistake(refusal, found) : refusal;
  return explainedRefusal(gate, kind, told, admitted, caller);
}

/** What became of it; a look sees what is not durable yet, and so its answer waits as well. */
function applied(
  { network }: Gate,
  look: Outcome | null,
  verified: Verified | { refusal: Refusal } | null,
): { outcome: Outcome; durable: Promise<void> } {
  if (look || !verified) return { outcome: look!, durable: network.durable };
  if (!('refusal' in verified)) return network.apply(verified);
  const outcome: Outcome = { result: 'refused', refusal: verified.refusal };
  return { outcome, durable: Promise.resolve() };
}

/** The answer to what costs the agent nothing: it counts against the address. */
function asRead(gate: Gate, address: string, caller: Caller, response: HttpResponse): HttpResponse {
  const reads = gate.limits.look('read', address);
  if (reads?.remaining === 0) return beyond(reads, caller.requestId);
  gate.limits.use('read', address);
  return response;
}

/** Takes room for a proposal that the network would take; the answer where there is none. */
function noRoom(
  { network, blocks }: Gate,
  { command }: Admitted,
  requestId: string,
): HttpResponse | null {
  if (!blocks || command.kind !== 'propose') return null;
  const reputation = network.read.reputation(agentId(command.public_key))?.overall_score ?? 0;
  const waitMs = blocks.take(command.public_key, reputation);
  if (waitMs === 0) return null;
  const response = failure(blocksUsed(blocks, waitMs), requestId);
  response.headers['Retry-After'] = `${Math.ceil(waitMs / 1000)}`;
  return response;
}

/** What a producer is told that has to wait for room. */
export function blocksUsed({ quota }: BlockShare, waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000);
  const message =
    `the network opens at most ${quota} blocks a minute, shared among all producers; ` +
    `try again in ${seconds} s`;
  const details = { limit: 'blocks', quota, retry_after_s: seconds };
  return refuse('BLOCKS_USED', message, { details });
}

/** Refused before its signature was verified; one that cannot be right counts as a failed one. */
function refuseUnsigned(
  gate: Gate,
  kind: CommandKind,
  refusal: Refusal,
  told: Told,
  caller: Caller,
): HttpResponse {
  if (refusal.code === 'INVALID_SIGNATURE') gate.claims.failed(caller.visit);
  return explainedRefusal(gate, kind, refusal, told, caller);
}

function explainedRefusal(
  gate: Gate,
  kind: CommandKind,
  refusal: Refusal,
  told: Told,
  caller: Caller,
): HttpResponse {
  if (refusal.code !== 'INVALID_SIGNATURE') return failure(refusal, caller.requestId);
  return failure(explained(gate.now(), kind, told, refusal, caller), caller.requestId);
}

export const hostOf = ({ headers }: HttpRequest): string => headers.get('host') ?? '';

/** What its head says is wrong already; of a body that was not read there is no digest. */
export function refuseByHead(
  gate: Gate,
  kind: CommandKind,
  request: HttpRequest,
  visit: Visit,
  refusal: Refusal,
  requestId: string,
): HttpResponse {
  const { target, body } = request;
  const bodySha256 = () => (body === 'unread' ? null : sha256Hex(body));
  const told = toldByHead(kind, request, bodySha256());
  const caller = { visit, target, requestId, bodySha256, host: hostOf(request) };
  return refuseUnsigned(gate, kind, refusal, told, caller);
}

function answer(
  kind: CommandKind,
  outcome: Outcome,
  { requestId }: Caller,
  quota: Quota | null,
): HttpResponse {
  if ('refusal' in outcome) return withQuota(failure(outcome.refusal, requestId), quota);
  const status = outcome.result === 'accepted' && created.has(kind) ? 201 : 200;
  const response = success(status, outcome.data);
  if (kind === 'propose' && status === 201 && 'block_hash' in outcome.data) {
    response.headers.Location = `/api/v1/blocks/${outcome.data.block_hash}`;
  }
  return withQuota(response, quota);
}

/** A look ahead, with the deadlines that are due behind it. */
function precheck(network: Network, admitted: Admitted): Outcome | null {
  network.fireDeadlines();
  return network.precheck(admitted);
}

function keyProblem(gate: Gate, { command }: Admitted): Refusal | null {
  if (command.kind === 'register' || gate.network.knows(command.public_key)) return null;
  return unknownKey(command.public_key);
}
