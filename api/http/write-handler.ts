/**
 * The write path runs a request through steps that share a context. The head has already been
 * checked. The steps are ordered so that an invalid request is cheap. A request with an unverified
 * signature never uses an agent's quota.
 */
import type { Admitted } from '../../engine/admit/admit.js';
import { refuseTimestamp, refuseUnknownKey } from '../../engine/admit/credentials.js';
import type { Verified } from '../../engine/admit/verify.js';
import type { Outcome } from '../../engine/core/state.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import { agentId } from '../../engine/protocol/signing.js';
import { ruleOf } from '../../engine/rules/network-rule.js';
import { admitReceived } from '../checks/request-checks.js';
import { type UnknownName, unknownFields } from '../checks/unknown-members.js';
import { type Cost, computeCost, isLate, isReplay, toOperation } from '../limits/cost.js';
import type { Quota } from '../limits/limits.js';
import { refuseBlockShare } from '../limits/quota-refusals.js';
import type { RequestTrace } from '../tracing.js';
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

/** A write in progress. Each step sets members that later steps read. */
class Write {
  readonly call: Call;
  readonly kind: CommandKind;
  readonly unknown: UnknownName[] = [];
  request!: SignedRequest;
  admitted!: Admitted;
  cost!: Cost;
  /** Outcome of a request that changes nothing; null if the engine has to decide. */
  precheck: Outcome | null = null;
  /** The verified request, if a step before `apply` needed it. */
  verified: Verified | { refusal: Refusal } | null = null;
  outcome!: Outcome;
  durable!: Promise<void>;

  constructor(call: Call, kind: CommandKind) {
    this.call = call;
    this.kind = kind;
  }
}

/**
 * A step. Returns null to continue, or the response that ends the request. Every vote passes
 * through all steps. Most steps are plain functions, because an async function always allocates a
 * promise, even if nothing has to wait.
 */
type Step = (write: Write) => Answer | null | Promise<Answer | null> | Promise<void>;

const steps: readonly Step[] = [parse, admit, authenticate, verify, charge, apply, commit];

export const write =
  (kind: CommandKind): Handler =>
  async (call) => {
    const write = new Write(call, kind);
    for (const step of steps) {
      const ended = call.trace ? traced(step, write, call.trace) : step(write);
      const answer = ended instanceof Promise ? await ended : ended;
      if (answer) return addUnknownNames(answer, write.unknown);
    }
    return addUnknownNames(answerTo(write), write.unknown);
  };

/** Runs a step in a span of its name. */
async function traced(step: Step, write: Write, trace: RequestTrace): Promise<Answer | null> {
  const end = trace.startStep(step.name);
  try {
    return (await step(write)) ?? null;
  } finally {
    end();
  }
}

/** Parses the request. Forms and large bodies are asynchronous. */
function parse(write: Write): Answer | null | Promise<Answer | null> {
  const { call, kind } = write;
  const { target, headers } = call.head;
  // A request whose body is unread was already refused because of its head.
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

/** Validates the request and extracts its command and signatures. */
function admit(write: Write): Answer | null {
  const { call, kind, request } = write;
  const { genesis } = call.services.network;
  const { unreadMembers } = ruleOf(genesis);
  const { admission, unknown } = admitReceived(request, genesis.network_id, unreadMembers);
  write.unknown.push(...unknown);
  if ('refusal' in admission) return refuseExplained(call, kind, admission.refusal, unknownInput);
  write.admitted = admission;
  return null;
}

/** Checks the key, if the head did not settle it, and the freshness of the timestamp. */
function authenticate(write: Write): Answer | null | Promise<Answer | null> {
  const { call, kind, admitted } = write;
  if (kind !== 'register' && call.budget.publicKey === null) return awaitRegistration(write);
  const stale = refuseTimestamp(admitted.signedAt, call.services.now());
  return stale && refuseExplained(call, kind, stale, admitted);
}

async function awaitRegistration({ call, kind, admitted }: Write): Promise<Answer | null> {
  const { network, now } = call.services;
  const late = await network.barrier?.();
  if (late) return { refusal: late };
  const refusal =
    refuseUnknownKey(admitted.command, network.knows) ?? refuseTimestamp(admitted.signedAt, now());
  return refusal && refuseExplained(call, kind, refusal, admitted);
}

/** Verifies the request's signature. The budget bounds the attempts. */
function verify({ call, admitted }: Write): Promise<Answer | null> {
  return call.services.network.verification.own(admitted).then((refusal) => {
    if (refusal) return explainMismatch(call, refusal, admitted);
    call.budget.markVerified();
    return null;
  });
}

/** Diagnoses an invalid signature, but only for an address's first few failures. */
async function explainMismatch(
  call: Call,
  refusal: Refusal,
  admitted: Admitted,
): Promise<RefusalResponse> {
  const { services, head, budget } = call;
  const found =
    refusal.reason === 'MISMATCH' && 'use' in budget.address.take('explained')
      ? await findMistake(services.network, admitted, head.headers.get('host') ?? '')
      : null;
  const explained = found ? addMistake(refusal, found) : refusal;
  return refuseExplained(call, admitted.command.kind, explained, admitted);
}

/** Charges the agent, unless a quota is exceeded. */
function charge(write: Write): Answer | null | Promise<Answer | null> {
  const { call, kind, admitted } = write;
  const { limits, charged, proven } = call.services;
  const { address } = call.budget;
  const cost = computeCost(limits, charged, toOperation(admitted), address);
  write.cost = cost;
  // Anyone can replay a signature in the log, from any address.
  if (limits.figures && !cost.again) proven.add(admitted.command.public_key, address.subject);
  const exceeded = cost.exceeded();
  if (exceeded || kind === 'propose') return chargeAhead(write, exceeded);
  cost.charge();
  return null;
}

/** Prechecks the outcome, so that repeats are free and refused proposals cost no verification. */
async function chargeAhead(write: Write, exceeded: Quota | null): Promise<Answer | null> {
  const { call, cost, admitted } = write;
  const { network } = call.services;
  const looked = lookAhead(network, admitted);
  write.precheck = looked instanceof Promise ? await looked : looked;
  if (exceeded && !cost.isFree(exceeded, write.precheck)) return quotaExceeded(exceeded);
  const parentEnds = exceeded ? null : parentInVoting(call.services, admitted, write.precheck);
  if (parentEnds) {
    cost.charge();
    // Verifies the transactions while the parent block is still in voting.
    write.verified = await network.verification.inner(admitted);
    await parentEnds;
    write.precheck = await lookAhead(network, admitted);
  }
  const crowded = write.precheck ? null : takeBlock(call.services, admitted);
  if (crowded) return chargeRead(call, crowded);
  if (!parentEnds) cost.charge();
  return null;
}

/** Resolves when the parent block closes. Returns null if the proposal must not wait. */
function parentInVoting(
  { early }: Services,
  { command }: Admitted,
  outcome: Outcome | null,
): Promise<void> | null {
  if (command.kind !== 'propose' || !outcome || !('refusal' in outcome)) return null;
  if (outcome.refusal.reason !== 'STALE_PARENT') return null;
  return early.until(command.parent_hash, command.public_key);
}

/** Fires due deadlines, then returns the outcome of a request that would change nothing. */
function lookAhead(
  network: ServedNetwork,
  admitted: Admitted,
): Outcome | null | Promise<Outcome | null> {
  network.fireDeadlines();
  return network.precheck(admitted);
}

/** Takes the producer's turn to open a block. Returns a refusal if the producer must wait. */
function takeBlock({ network, blocks }: Services, { command }: Admitted): RefusalResponse | null {
  if (!blocks || command.kind !== 'propose') return null;
  const reputation = network.read.reputation(agentId(command.public_key))?.overall_score ?? 0;
  const waitMs = blocks.take(command.public_key, reputation);
  if (waitMs === 0) return null;
  const headers = { 'Retry-After': `${Math.ceil(waitMs / 1000)}` };
  return { refusal: refuseBlockShare(blocks, waitMs), headers };
}

/** Applies the verified request. */
function apply(write: Write): null | Promise<null> {
  const { call, admitted, precheck } = write;
  const { verification } = call.services.network;
  const inner = precheck ? null : (write.verified ?? verification.inner(admitted));
  if (!(inner instanceof Promise)) return applyVerified(write, inner);
  return inner.then((verified) => applyVerified(write, verified));
}

function applyVerified(
  write: Write,
  verified: Verified | { refusal: Refusal } | null,
): null | Promise<null> {
  const { call, precheck } = write;
  const { network } = call.services;
  const applied = outcomeOf(network, precheck, verified, call.budget.address.subject);
  if (!(applied instanceof Promise)) return conclude(write, applied);
  return applied.then((concluded) => conclude(write, concluded));
}

/** Must run in the outcome's turn, so that repeats in flight do not hold the agent's quota. */
function conclude(write: Write, { outcome, durable }: Concluded): null {
  const { call, kind, admitted, precheck, cost } = write;
  cost.conclude(outcome);
  if (kind === 'propose' && !precheck && outcome.result !== 'accepted') {
    call.services.blocks?.refund(admitted.command.public_key);
  }
  write.outcome = outcome;
  write.durable = durable;
  return null;
}

/** Waits until the outcome is durable. */
function commit({ durable }: Write): Promise<void> {
  return durable;
}

interface Concluded {
  outcome: Outcome;
  durable: Promise<void>;
}

/** A precheck sees state that may not yet be durable, so its response waits too. */
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

/** Responds to an outcome, and charges the agent or address. */
function answerTo({ call, kind, admitted, outcome, cost }: Write): Answer {
  if (!cost.again && (outcome.result === 'duplicate' || isLate(outcome))) {
    return chargeRead(call, answerOf(kind, outcome));
  }
  if (!('refusal' in outcome) || outcome.refusal.code !== 'INVALID_SIGNATURE') {
    return addQuotaHeaders(answerOf(kind, outcome), cost.left());
  }
  if (isReplay(outcome.refusal)) {
    const answer = refuseExplained(call, kind, outcome.refusal, admitted);
    return cost.again ? answer : chargeRead(call, answer);
  }
  const { network_id } = call.services.network.genesis;
  const refusal = explainTransaction(outcome.refusal, admitted, network_id);
  return addQuotaHeaders({ refusal }, cost.left());
}

function chargeRead({ budget }: Call, answer: Answer): Answer {
  const taken = budget.address.take('read');
  return 'exceeded' in taken ? quotaExceeded(taken.exceeded) : answer;
}

/** Commands that are answered with 201 when accepted. */
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

/**
 * Refuses a request because of its head. If the body is unread, the explanation contains no digest.
 */
export function refuseByHead(call: Call, kind: CommandKind, refusal: Refusal): RefusalResponse {
  return refuseExplained(call, kind, refusal, inputByHead(kind, call.head, call.body));
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
