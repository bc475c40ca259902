/**
 * The gate: one write request from bytes to answer, in the fixed order of checks. What a caller did
 * wrong costs as little as possible, and never the quota of somebody whose key was not used.
 */
import {
  type Admission,
  type Admitted,
  admit,
  limits as bounds,
  type CommandKind,
  formatInstant,
  type Network,
  type Outcome,
  type Refusal,
  refuse,
  type SignedRequest,
  type Verified,
} from '../engine/index.js';
import { agentId } from '../engine/signing.js';
import type { BlockShare } from './block-share.js';
import { failure, success } from './errors.js';
import { addressKey, type Limits, type Quota, quotaHeaders } from './limits.js';
import type { HttpResponse } from './transport.js';

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
  address: string;
  /** The request-target as sent. */
  target: string;
  /** Of the raw body, hex: computed when somebody has to be told. */
  bodySha256(): string;
  requestId: string;
}

/** Takes a request through all checks and, if it passes, to the network. */
export async function pass(
  gate: Gate,
  request: SignedRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const { kind } = request;
  const address = addressKey(caller.address);
  const used = usedUp(gate, kind, address);
  if (used) return withQuota(failure(tooMany(used), caller.requestId), used);
  const admitted = await admit(request, gate.network.genesis.network_id);
  const refusal =
    'refusal' in admitted
      ? admitted.refusal
      : (keyProblem(gate, admitted) ??
        skewProblem(gate, admitted) ??
        (await gate.network.verifyOwn(admitted)));
  if ('refusal' in admitted || refusal) return refuseAt(gate, refusal!, request, admitted, caller);

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
  gate.limits.use(kind, whom);
  const inner = look ? null : gate.network.verifyInner(admitted);
  const verified = inner instanceof Promise ? await inner : inner;
  const { outcome, durable } = applied(gate, look, verified);
  // In the turn of its use: repeats under way must not hold units of a victim's quota.
  if (!costs(kind, outcome)) gate.limits.giveBack(kind, whom);
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
  const shown = explained(gate, request, admitted, outcome.refusal, caller);
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

/** The address's own quota that is used up, if one is. */
function usedUp(gate: Gate, kind: CommandKind, address: string): Quota | null {
  const names =
    kind === 'register' ? (['failed_signature', kind] as const) : (['failed_signature'] as const);
  const quotas = names.map((name) => gate.limits.look(name, address));
  return quotas.find((quota) => quota?.remaining === 0) ?? null;
}

/** A failed signature counts against the address: whoever lacks a key cannot use up its quota. */
function refuseAt(
  gate: Gate,
  refusal: Refusal,
  request: SignedRequest,
  admitted: Admission,
  caller: Caller,
): HttpResponse {
  const { address, requestId } = caller;
  if (refusal.code !== 'INVALID_SIGNATURE') return failure(refusal, requestId);
  gate.limits.use('failed_signature', addressKey(address));
  const shown = explained(gate, request, admitted, refusal, caller);
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

export function tooMany({ name, quota, resetSeconds }: Quota): Refusal {
  const message = `${quota} a minute are allowed; try again in ${resetSeconds} s`;
  const details = { limit: name, quota, retry_after_s: resetSeconds };
  return refuse('QUOTA_USED', message, { details });
}

function keyProblem(gate: Gate, { command }: Admitted): Refusal | null {
  if (command.kind === 'register' || gate.network.knows(command.public_key)) return null;
  return refuse('UNKNOWN_KEY', `key ${command.public_key} is not registered`);
}

function skewProblem(gate: Gate, admitted: Admitted): Refusal | null {
  const skew = admitted.signedAt - gate.now();
  if (Math.abs(skew) <= bounds.skewMs) return null;
  const most = `${bounds.skewMs} are allowed`;
  const message = `the timestamp is ${skew} ms from the server's clock; ${most}`;
  return refuse('TIMESTAMP_SKEW', message);
}

/** What the server would have verified, so that a client can find its mistake. */
function explained(
  gate: Gate,
  { kind }: SignedRequest,
  admitted: Admission,
  refusal: Refusal,
  { target, bodySha256 }: Caller,
): Refusal {
  const known =
    'refusal' in admitted
      ? { expected_input_sha256: null, skew_ms: null }
      : {
          expected_input_sha256: admitted.inputSha256(),
          skew_ms: admitted.signedAt - gate.now(),
        };
  const details = {
    ...refusal.details,
    kind,
    body_sha256: bodySha256(),
    request_target: target,
    server_time: formatInstant(gate.now()),
    ...known,
  };
  return { ...refusal, details };
}
