/**
 * The gate: one write request from bytes to answer, in the fixed order of checks. What a caller did
 * wrong costs as little as possible, and never the quota of somebody whose key was not used.
 */
import {
  type Admission,
  type Admitted,
  admit,
  type CommandKind,
  carriage,
  formatInstant,
  type Network,
  type Outcome,
  parseInstant,
  type Refusal,
  refuse,
  type SignedRequest,
  type Verified,
} from '../engine/index.js';
import { agentId, httpInput, sha256Hex } from '../engine/signing.js';
import type { BlockShare } from './block-share.js';
import { failure, success } from './errors.js';
import { skewProblem, unknownKey } from './head-credentials.js';
import { type Limits, type Quota, quotaHeaders } from './limits.js';
import type { HttpRequest, HttpResponse } from './transport.js';
import type { Visit } from './visit.js';

export interface Gate {
  network: Network;
  limits: Limits;
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

export interface Caller {
  visit: Visit;
  /** The request-target as sent. */
  target: string;
  /** Of the raw body, hex, where it was read: computed when somebody has to be told. */
  bodySha256(): string | null;
  requestId: string;
}

/** Takes a request through all checks and, if it passes, to the network. */
export async function pass(
  gate: Gate,
  request: SignedRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const { kind } = request;
  const address = caller.visit.whom;
  const admitted = await admit(request, gate.network.genesis.network_id);
  const refusal =
    'refusal' in admitted
      ? admitted.refusal
      : (keyProblem(gate, admitted) ??
        skewProblem(admitted.signedAt, gate.now()) ??
        (await gate.network.verifyOwn(admitted)));
  if ('refusal' in admitted || refusal) return refuseAt(gate, refusal!, request, admitted, caller);
  caller.visit.vouched();

  const whom = kind === 'register' ? address : `agent:${admitted.command.public_key}`;
  const quota = gate.limits.look(kind, whom);
  const empty = quota?.remaining === 0;
  // A look ahead where it spares a repeat its quota, or us the signatures of transactions.
  const look = empty || kind === 'propose' ? gate.network.check(admitted) : null;
  if (empty && look?.result !== 'duplicate') {
    return withQuota(failure(tooMany(quota), caller.requestId), quota);
  }
  const crowded = look ? null : noRoom(gate, admitted, caller.requestId);
  if (crowded) return asRead(gate, address, caller, crowded);
  const use = gate.limits.use(kind, whom);
  const inner = look ? null : gate.network.verifyInner(admitted);
  const verified = inner instanceof Promise ? await inner : inner;
  const { outcome, durable } = applied(gate, look, verified);
  // In the turn of its use: repeats under way must not hold units of a victim's quota.
  if (!costs(kind, outcome)) gate.limits.giveBack(use);
  if (kind === 'propose' && !look && outcome.result !== 'accepted') {
    gate.blocks?.giveBack(admitted.command.public_key);
  }
  await durable;
  if (outcome.result === 'duplicate' || isLate(outcome)) {
    return asRead(gate, address, caller, answer(kind, outcome, caller, null));
  }
  if ('refusal' in outcome && isReplay(outcome.refusal)) {
    return refuseAt(gate, outcome.refusal, request, admitted, caller);
  }
  const left = gate.limits.look(kind, whom);
  if (!('refusal' in outcome) || outcome.refusal.code !== 'INVALID_SIGNATURE') {
    return answer(kind, outcome, caller, left);
  }
  const shown = explained(gate, kind, admitted, outcome.refusal, caller);
  return withQuota(failure(shown, caller.requestId), left);
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

/** An older status update: anybody who has seen it can send it again. */
const isReplay = ({ reason }: Refusal) => reason === 'REPLAYED';

/** The block closed before the request came, which no sender can foresee. */
const isLate = (outcome: Outcome) =>
  'refusal' in outcome && outcome.refusal.reason === 'VOTING_CLOSED';

/**
 * Whether an agent is charged: not for our own fault, what is sent again, what comes too late, or a
 * registration that is refused.
 */
export function costs(kind: CommandKind, outcome: Outcome): boolean {
  if ('refusal' in outcome) {
    const { refusal } = outcome;
    if (refusal.code === 'NETWORK_ERROR' || isReplay(refusal) || isLate(outcome)) return false;
    return kind !== 'register';
  }
  return outcome.result !== 'duplicate';
}

/** The answer to what costs the agent nothing: it counts against the address. */
function asRead(gate: Gate, address: string, caller: Caller, response: HttpResponse): HttpResponse {
  const reads = gate.limits.look('read', address);
  if (reads?.remaining === 0) return withQuota(failure(tooMany(reads), caller.requestId), reads);
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

function blocksUsed({ quota }: BlockShare, waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000);
  const message =
    `the network opens at most ${quota} blocks a minute, shared among all producers; ` +
    `try again in ${seconds} s`;
  const details = { limit: 'blocks', quota, retry_after_s: seconds };
  return refuse('BLOCKS_USED', message, { details });
}

/** A failed signature counts against the address: whoever lacks a key cannot use up its quota. */
function refuseAt(
  gate: Gate,
  refusal: Refusal,
  request: SignedRequest,
  admitted: Admission,
  caller: Caller,
): HttpResponse {
  const { visit, requestId } = caller;
  if (refusal.code !== 'INVALID_SIGNATURE') return failure(refusal, requestId);
  gate.limits.use('failed_signature', visit.claim);
  const told = 'refusal' in admitted ? nothingKnown : admitted;
  const shown = explained(gate, request.kind, told, refusal, caller);
  return failure(shown, requestId);
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

export function withQuota(response: HttpResponse, quota: Quota | null): HttpResponse {
  if (!quota) return response;
  const retry = response.status === 429 ? { 'Retry-After': `${quota.resetSeconds}` } : {};
  return { ...response, headers: { ...response.headers, ...quotaHeaders(quota), ...retry } };
}

export function tooMany({ name, quota, windowSeconds, resetSeconds }: Quota): Refusal {
  const message = `${quota} ${per(windowSeconds)} are allowed; try again in ${resetSeconds} s`;
  const details = { limit: name, quota, retry_after_s: resetSeconds };
  return refuse('QUOTA_USED', message, { details });
}

const windows: Record<number, string> = { 1: 'a second', 60: 'a minute', 86400: 'a day' };
const per = (seconds: number) => windows[seconds] ?? `in ${seconds} s`;

function keyProblem(gate: Gate, { command }: Admitted): Refusal | null {
  if (command.kind === 'register' || gate.network.knows(command.public_key)) return null;
  return unknownKey(command.public_key);
}

/** What its head says is wrong already; of a body that was not read there is no digest. */
export function refuseByHead(
  gate: Gate,
  kind: CommandKind,
  request: HttpRequest,
  visit: Visit,
  refusal: Refusal,
  requestId: string,
): HttpResponse {
  if (refusal.code !== 'INVALID_SIGNATURE') return failure(refusal, requestId);
  gate.limits.use('failed_signature', visit.claim);
  const { target, body } = request;
  const bodySha256 = () => (body === 'unread' ? null : sha256Hex(body));
  const caller = { visit, target, requestId, bodySha256 };
  const shown = explained(gate, kind, toldByHead(kind, request, bodySha256()), refusal, caller);
  return failure(shown, requestId);
}

/** What the server knows of a signature's text. */
interface Told {
  /** Null where it is not known yet. */
  inputSha256(): string | null;
  signedAt: number | null;
}

const nothingKnown: Told = { inputSha256: () => null, signedAt: null };

/** Of requests signed by header, the text follows from head and raw body. */
function toldByHead(
  kind: CommandKind,
  { method, target, headers }: HttpRequest,
  bodySha256: string | null,
): Told {
  const timestamp = headers.get('x-timestamp') ?? '';
  const signedAt = carriage[kind].signed === 'body' ? null : parseInstant(timestamp);
  const inputSha256 = () =>
    carriage[kind].signed !== 'header' || signedAt === null || bodySha256 === null
      ? null
      : sha256Hex(httpInput({ method, target, timestamp, bodySha256 }));
  return { inputSha256, signedAt };
}

/** What the server would have verified, so that a client can find its mistake. */
function explained(
  gate: Gate,
  kind: CommandKind,
  told: Told,
  refusal: Refusal,
  { target, bodySha256 }: Caller,
): Refusal {
  const details = {
    ...refusal.details,
    kind,
    expected_input_sha256: told.inputSha256(),
    body_sha256: bodySha256(),
    request_target: target,
    server_time: formatInstant(gate.now()),
    skew_ms: told.signedAt === null ? null : told.signedAt - gate.now(),
  };
  return { ...refusal, details };
}
