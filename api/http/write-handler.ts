/**
 * The write path: one request from its bytes to its answer, as a list of steps over one context.
 * The gate has checked its head before. The order makes a wrong request cost little, and a request
 * never uses the quota of an agent whose key it only names.
 */
import type { Admitted } from '../../engine/admit/admit.js';
import { checkFreshness, checkKnownKey } from '../../engine/admit/credentials.js';
import type { Verified } from '../../engine/admit/verify.js';
import type { Outcome } from '../../engine/core/state.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import { agentId } from '../../engine/protocol/signing.js';
import { admitReceived } from '../checks/request-checks.js';
import { type UnknownName, unknownFields } from '../checks/unknown-members.js';
import { type Cost, computeCost, isLate, isReplay, toOperation } from '../limits/cost.js';
import type { Quota } from '../limits/limits.js';
import { refuseBlockShare } from '../limits/quota-refusals.js';
import type { Call, Handler, Services } from './handler.js';
import { signedRequest } from './head-checks.js';
import {
  type Answer,
  addQuotaHeaders,
  addUnknownNames,
  quotaExceeded,
  type RefusalResponse,
  success,
} from './response.js';
import {
  addMistake,
  explainSignature,
  explainTransaction,
  findMistake,
  inputByHead,
  type SignedInput,
  unknownInput,
} from './signature-hints.js';

/** A write on its way through the steps: each step sets what the steps after it read. */
class Write {
  readonly call: Call;
  readonly kind: CommandKind;
  /** Names in the request that the protocol does not know. */
  readonly unknown: UnknownName[] = [];
  request!: SignedRequest;
  admitted!: Admitted;
  cost!: Cost;
  /** The outcome of a request that changes nothing; null where the engine decides. */
  precheck: Outcome | null = null;
  /** The verified request, where a step before `apply` needed it. */
  verified: Verified | { refusal: Refusal } | null = null;
  outcome!: Outcome;

  constructor(call: Call, kind: CommandKind) {
    this.call = call;
    this.kind = kind;
  }
}

/** One step: null to go on, or the answer that ends the request. */
type Step = (write: Write) => Answer | null | Promise<Answer | null>;

/** The steps of a write whose head the gate let in, in their order. */
const steps: readonly Step[] = [parse, admit, authenticate, verify, charge, apply];

/** The handler of a kind of command. */
export const write =
  (kind: CommandKind): Handler =>
  async (call) => {
    const write = new Write(call, kind);
    for (const step of steps) {
      const ended = step(write);
      const answer = ended instanceof Promise ? await ended : ended;
      if (answer) return addUnknownNames(answer, write.unknown);
    }
    return addUnknownNames(answerTo(write), write.unknown);
  };

/** Turns bytes into a request. A form and a large body take more than one turn. */
function parse(write: Write): Answer | null | Promise<Answer | null> {
  const { call, kind } = write;
  const { target, headers } = call.head;
  // The gate answers a request whose body was not read.
  const body = call.body as Uint8Array;
  const read = () => signedRequest(kind, { target, headers, body });
  const turn = call.services.large.waitTurn(body.length);
  const request = turn ? turn.then(read) : read();
  const set = (signed: Awaited<typeof request>) => {
    if ('refusal' in signed) return signed;
    write.request = signed;
    write.unknown.push(...unknownFields(signed.unknownFields));
    return null;
  };
  return request instanceof Promise ? request.then(set) : set(request);
}

/** Turns the request into a command and the signatures to verify. */
function admit(write: Write): Answer | null {
  const { call, kind, request } = write;
  const { admission, unknown } = admitReceived(request, call.services.network.genesis.network_id);
  write.unknown.push(...unknown);
  if ('refusal' in admission) return refuseUnsigned(call, kind, admission.refusal, unknownInput);
  write.admitted = admission;
  return null;
}

/** Checks the key, which the gate could not where other nodes take registrations, and the time. */
function authenticate(write: Write): Answer | null | Promise<Answer | null> {
  const { call, kind, admitted } = write;
  if (kind !== 'register' && call.budget.publicKey === null) return awaitRegistration(write);
  const stale = checkFreshness(admitted.signedAt, call.services.now());
  return stale && refuseUnsigned(call, kind, stale, admitted);
}

/** The registration may have come by another node, and not be applied here yet. */
async function awaitRegistration({ call, kind, admitted }: Write): Promise<Answer | null> {
  const { network, now } = call.services;
  const late = await network.barrier?.();
  if (late) return { refusal: late };
  const refusal =
    checkKnownKey(admitted.command, network.knows) ?? checkFreshness(admitted.signedAt, now());
  return refusal && refuseUnsigned(call, kind, refusal, admitted);
}

/** Verifies the request's own signature, within the attempts that its claim may make. */
async function verify({ call, admitted }: Write): Promise<Answer | null> {
  const { services, budget } = call;
  const { attempts, network } = services;
  const reserving = attempts.reserve(budget);
  const reservation = reserving instanceof Promise ? await reserving : reserving;
  if ('exceeded' in reservation) return quotaExceeded(reservation.exceeded);
  let failed = false;
  try {
    if (call.held) network.verification.countHeld();
    else {
      const refusal = await network.verification.own(admitted);
      failed = refusal?.reason === 'MISMATCH';
      if (refusal) return await explainMismatch(call, refusal, admitted);
    }
  } finally {
    attempts.release(reservation, failed);
  }
  budget.markVerified();
  return null;
}

/** Looks for the mistake behind a signature that does not fit: for the first few of a claim. */
async function explainMismatch(
  call: Call,
  refusal: Refusal,
  admitted: Admitted,
): Promise<RefusalResponse> {
  const { services, head, budget } = call;
  const found =
    refusal.reason === 'MISMATCH' && services.attempts.mayExplain(budget)
      ? await findMistake(services.network, admitted, head.headers.get('host') ?? '')
      : null;
  const explained = found ? addMistake(refusal, found) : refusal;
  return refuseExplained(call, admitted.command.kind, explained, admitted);
}

/** Charges the request to its agent, unless a quota is used up. */
function charge(write: Write): Answer | null | Promise<Answer | null> {
  const { call, kind, admitted } = write;
  const { limits, charged } = call.services;
  const cost = computeCost(limits, charged, toOperation(admitted), call.budget.address);
  write.cost = cost;
  const exceeded = cost.exceeded();
  if (exceeded || kind === 'propose') return chargeAhead(write, exceeded);
  cost.charge();
  return null;
}

/** Looks at the outcome first, which spares a repeat its quota and a refused proposal its work. */
async function chargeAhead(write: Write, exceeded: Quota | null): Promise<Answer | null> {
  const { call, cost, admitted } = write;
  const { network } = call.services;
  const looked = lookAhead(network, admitted);
  write.precheck = looked instanceof Promise ? await looked : looked;
  if (exceeded && !cost.isFree(exceeded, write.precheck)) return quotaExceeded(exceeded);
  const parentEnds = exceeded ? null : parentInVoting(call.services, admitted, write.precheck);
  if (parentEnds) {
    cost.charge();
    // The signatures inside are verified before the block that the proposal builds on is decided.
    write.verified = await network.verification.inner(admitted);
    await parentEnds;
    write.precheck = await lookAhead(network, admitted);
  }
  const crowded = write.precheck ? null : takeBlock(call.services, admitted);
  if (crowded) return chargeRead(call, crowded);
  if (!parentEnds) cost.charge();
  return null;
}

/** Resolves at the end of the block that a proposal builds on, where it may wait for that. */
function parentInVoting(
  { early }: Services,
  { command }: Admitted,
  outcome: Outcome | null,
): Promise<void> | null {
  if (command.kind !== 'propose' || !outcome || !('refusal' in outcome)) return null;
  if (outcome.refusal.reason !== 'STALE_PARENT') return null;
  return early.until(command.parent_hash, command.public_key);
}

/** The outcome of a request that would change nothing, once the deadlines that are due fired. */
function lookAhead(
  network: ServedNetwork,
  admitted: Admitted,
): Outcome | null | Promise<Outcome | null> {
  network.fireDeadlines();
  return network.precheck(admitted);
}

/** Takes the producer's turn to open a block; the refusal where it has to wait. */
function takeBlock({ network, blocks }: Services, { command }: Admitted): RefusalResponse | null {
  if (!blocks || command.kind !== 'propose') return null;
  const reputation = network.read.reputation(agentId(command.public_key))?.overall_score ?? 0;
  const waitMs = blocks.take(command.public_key, reputation);
  if (waitMs === 0) return null;
  const headers = { 'Retry-After': `${Math.ceil(waitMs / 1000)}` };
  return { refusal: refuseBlockShare(blocks, waitMs), headers };
}

/** Gives the verified request to the network, and waits until its outcome is on disk. */
async function apply(write: Write): Promise<null> {
  const { call, kind, admitted, precheck, cost } = write;
  const { network, blocks } = call.services;
  const inner = precheck ? null : (write.verified ?? network.verification.inner(admitted));
  const verified = inner instanceof Promise ? await inner : inner;
  const applied = outcomeOf(network, precheck, verified, call.budget.address.subject);
  const { outcome, durable } = applied instanceof Promise ? await applied : applied;
  // In the turn of the outcome: repeats in flight must not hold units of the agent's quota.
  cost.conclude(outcome);
  if (kind === 'propose' && !precheck && outcome.result !== 'accepted') {
    blocks?.refund(admitted.command.public_key);
  }
  write.outcome = outcome;
  await durable;
  return null;
}

interface Concluded {
  outcome: Outcome;
  durable: Promise<void>;
}

/** A precheck sees what is not durable yet, and so its answer waits as well. */
function outcomeOf(
  network: ServedNetwork,
  precheck: Outcome | null,
  verified: Verified | { refusal: Refusal } | null,
  spender: string,
): Concluded | Promise<Concluded> {
  if (precheck || !verified) return { outcome: precheck!, durable: network.durable };
  if (!('refusal' in verified)) return network.apply(verified, spender);
  const outcome: Outcome = { result: 'refused', refusal: verified.refusal };
  return { outcome, durable: Promise.resolve() };
}

/** The answer to an outcome: it counts against the agent, the address or the claim. */
function answerTo({ call, kind, admitted, outcome, cost }: Write): Answer {
  const { network, attempts } = call.services;
  if (!cost.again && (outcome.result === 'duplicate' || isLate(outcome))) {
    return chargeRead(call, answerOf(kind, outcome));
  }
  if (!('refusal' in outcome) || outcome.refusal.code !== 'INVALID_SIGNATURE') {
    return addQuotaHeaders(answerOf(kind, outcome), cost.left());
  }
  if (isReplay(outcome.refusal)) {
    if (!cost.again) attempts.failed(call.budget);
    return refuseExplained(call, kind, outcome.refusal, admitted);
  }
  const { network_id } = network.genesis;
  const refusal = explainTransaction(outcome.refusal, admitted, network_id);
  return addQuotaHeaders({ refusal }, cost.left());
}

/** A request that costs its agent nothing counts as a read of the address. */
function chargeRead({ budget }: Call, answer: Answer): Answer {
  const taken = budget.address.take('read');
  return 'exceeded' in taken ? quotaExceeded(taken.exceeded) : answer;
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

function answerOf(kind: CommandKind, outcome: Outcome): Answer {
  if ('refusal' in outcome) return { refusal: outcome.refusal };
  const status = outcome.result === 'accepted' && created.has(kind) ? 201 : 200;
  const response = success(status, outcome.data);
  if (kind === 'propose' && status === 201 && 'block_hash' in outcome.data) {
    response.headers.Location = `/api/v1/blocks/${outcome.data.block_hash}`;
  }
  return response;
}

/** Refuses a request by its head. The explanation has no digest of a body that was not read. */
export function refuseByHead(call: Call, kind: CommandKind, refusal: Refusal): RefusalResponse {
  return refuseUnsigned(call, kind, refusal, inputByHead(kind, call.head, call.body));
}

/** Refused before its signature was verified; one that cannot be right counts as a failed one. */
function refuseUnsigned(
  call: Call,
  kind: CommandKind,
  refusal: Refusal,
  input: SignedInput,
): RefusalResponse {
  if (refusal.code === 'INVALID_SIGNATURE') call.services.attempts.failed(call.budget);
  return refuseExplained(call, kind, refusal, input);
}

function refuseExplained(
  { services, head, body }: Call,
  kind: CommandKind,
  refusal: Refusal,
  input: SignedInput,
): RefusalResponse {
  if (refusal.code !== 'INVALID_SIGNATURE') return { refusal };
  const { target } = head;
  return { refusal: explainSignature(refusal, kind, input, { target, body, now: services.now() }) };
}
