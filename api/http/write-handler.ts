/**
 * The write path runs a request through steps, each of which returns what the next ones need. The
 * head has already been checked. The steps are ordered so that an invalid request is cheap. A
 * request with an unverified signature never uses an agent's quota.
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
import { Cost, isLate, isReplay, refuseBlockShare, toOperation } from '../limits/cost.js';
import type { Quota } from '../limits/limits.js';
import type { RequestTrace } from '../tracing.js';
import { signedRequest } from './bodies.js';
import type { Call, Handler, Services } from './handler.js';
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

/** A write, with the unknown names found so far. */
interface Write {
  readonly call: Call;
  readonly kind: CommandKind;
  readonly unknown: UnknownName[];
}

type Later<T> = T | Promise<T>;

/**
 * Runs a request through the steps. Each step returns what the next steps need, or the refusal that
 * ends the request. Most steps are plain functions, and only promises are awaited, because an await
 * of any other value costs a promise and a microtask too.
 */
export const write =
  (kind: CommandKind): Handler =>
  async (call) => {
    const write: Write = { call, kind, unknown: [] };
    const end = (answer: Answer) => addUnknownNames(answer, write.unknown);
    const step = call.trace ? traceSteps(call.trace) : runStep;
    const parsed = step(parse, write);
    const request = parsed instanceof Promise ? await parsed : parsed;
    if ('refusal' in request) return end(request);
    const found = step(admit, write, request);
    const admitted = found instanceof Promise ? await found : found;
    if ('refusal' in admitted) return end(admitted);
    const known = step(authenticate, write, admitted);
    const unknown = known instanceof Promise ? await known : known;
    if (unknown) return end(unknown);
    const invalid = await step(verify, call, admitted);
    if (invalid) return end(invalid);
    const paid = step(charge, write, admitted);
    const charged = paid instanceof Promise ? await paid : paid;
    if ('refusal' in charged) return end(charged);
    const applied = step(apply, call, admitted, charged);
    const { outcome, durable } = applied instanceof Promise ? await applied : applied;
    await step(commit, durable);
    return end(answerTo(write, admitted, charged.cost, outcome));
  };

/** Runs a step of up to three parameters, because a list of parameters would be copied. */
type Step = <A, B, C, T>(run: (a: A, b: B, c: C) => Later<T>, a: A, b?: B, c?: C) => Later<T>;

const runStep: Step = (run, a, b, c) => run(a, b!, c!);

/** Returns a function that runs each step in a span of its name. */
const traceSteps =
  (trace: RequestTrace): Step =>
  async (run, a, b, c) => {
    const end = trace.startStep(run.name);
    try {
      return await run(a, b!, c!);
    } finally {
      end();
    }
  };

/** Parses the request. Forms and large bodies are asynchronous. */
function parse({ call, kind, unknown }: Write): Later<SignedRequest | RefusalResponse> {
  const { target, headers } = call.head;
  // A request whose body is unread was already refused because of its head.
  const body = call.body as Uint8Array;
  const read = () => signedRequest(kind, { target, headers, body });
  const turn = call.services.large.waitTurn(body.length);
  const request = turn ? turn.then(read) : read();
  const note = (signed: Awaited<typeof request>) => {
    if (!('refusal' in signed)) unknown.push(...unknownFields(signed.unknownFields));
    return signed;
  };
  return request instanceof Promise ? request.then(note) : note(request);
}

/** Validates the request and extracts its command and signatures. */
function admit({ call, kind, unknown }: Write, request: SignedRequest): Admitted | RefusalResponse {
  const { genesis } = call.services.network;
  const { unreadMembers } = ruleOf(genesis);
  const found = admitReceived(request, genesis.network_id, unreadMembers);
  unknown.push(...found.unknown);
  const { admission } = found;
  if (!('refusal' in admission)) return admission;
  return refuseExplained(call, kind, admission.refusal, unknownInput);
}

/** Checks the key, if the head did not settle it, and the freshness of the timestamp. */
function authenticate(write: Write, admitted: Admitted): Later<RefusalResponse | null> {
  const { call, kind } = write;
  if (kind !== 'register' && call.budget.publicKey === null) {
    return awaitRegistration(write, admitted);
  }
  const stale = refuseTimestamp(admitted.signedAt, call.budget.wallMs);
  return stale && refuseExplained(call, kind, stale, admitted);
}

async function awaitRegistration(
  { call, kind }: Write,
  admitted: Admitted,
): Promise<RefusalResponse | null> {
  const { network, now } = call.services;
  const late = await network.barrier?.();
  if (late) return { refusal: late };
  const refusal =
    refuseUnknownKey(admitted.command, network.knows) ?? refuseTimestamp(admitted.signedAt, now());
  return refusal && refuseExplained(call, kind, refusal, admitted);
}

/** Verifies the request's signature. The budget bounds the attempts. */
function verify(call: Call, admitted: Admitted): Later<RefusalResponse | null> {
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

interface Charged {
  cost: Cost;
  /** Outcome of a request that changes nothing; null if the engine has to decide. */
  precheck: Outcome | null;
  /** The verified request, if it was needed already. */
  verified: Verified | { refusal: Refusal } | null;
}

/** Charges the agent, unless a quota is exceeded. */
function charge({ call, kind }: Write, admitted: Admitted): Later<Charged | RefusalResponse> {
  const { limits, charged, proven } = call.services;
  const { address } = call.budget;
  const cost = new Cost(limits, charged, toOperation(admitted), address);
  // Anyone can replay a signature in the log, from any address.
  if (limits.figures && !cost.again) {
    proven.add(admitted.command.public_key, address.subject, address.now);
  }
  const exceeded = cost.exceeded();
  if (exceeded || kind === 'propose') return chargeAhead(call, admitted, cost, exceeded);
  cost.charge();
  return { cost, precheck: null, verified: null };
}

/** Prechecks the outcome, so that repeats are free and refused proposals cost no verification. */
async function chargeAhead(
  call: Call,
  admitted: Admitted,
  cost: Cost,
  exceeded: Quota | null,
): Promise<Charged | RefusalResponse> {
  const { network } = call.services;
  const looked = lookAhead(network, admitted);
  // Charges in this turn if possible, so that requests in flight cannot exceed the quota together.
  let precheck = looked instanceof Promise ? await looked : looked;
  let verified: Charged['verified'] = null;
  if (exceeded && !cost.isFree(exceeded, precheck)) return quotaExceeded(exceeded);
  const parentEnds = exceeded ? null : parentInVoting(call.services, admitted, precheck);
  if (parentEnds) {
    cost.charge();
    // Verifies the transactions while the parent block is still in voting.
    verified = await network.verification.inner(admitted);
    await parentEnds;
    precheck = await lookAhead(network, admitted);
  }
  const crowded = precheck ? null : takeBlock(call.services, admitted);
  if (crowded) return chargeRead(call, crowded);
  if (!parentEnds) cost.charge();
  return { cost, precheck, verified };
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
function lookAhead(network: ServedNetwork, admitted: Admitted): Later<Outcome | null> {
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

interface Concluded {
  outcome: Outcome;
  durable: Promise<void>;
}

/** Applies the verified request. */
function apply(call: Call, admitted: Admitted, charged: Charged): Later<Concluded> {
  const { network } = call.services;
  const { precheck } = charged;
  const inner = precheck ? null : (charged.verified ?? network.verification.inner(admitted));
  const applyVerified = (verified: Charged['verified']) => {
    const applied = outcomeOf(network, precheck, verified, call.budget.address.subject);
    if (!(applied instanceof Promise)) return conclude(call, admitted, charged, applied);
    return applied.then((concluded) => conclude(call, admitted, charged, concluded));
  };
  return inner instanceof Promise ? inner.then(applyVerified) : applyVerified(inner);
}

/** Waits until the outcome is durable. */
const commit = (durable: Promise<void>): Promise<void> => durable;

/** Must run in the outcome's turn, so that repeats in flight do not hold the agent's quota. */
function conclude(
  { services }: Call,
  { command }: Admitted,
  { cost, precheck }: Charged,
  concluded: Concluded,
): Concluded {
  const { outcome } = concluded;
  cost.conclude(outcome);
  if (command.kind === 'propose' && !precheck && outcome.result !== 'accepted') {
    services.blocks?.refund(command.public_key);
  }
  return concluded;
}

/** A precheck sees state that may not yet be durable, so its response waits too. */
function outcomeOf(
  network: ServedNetwork,
  precheck: Outcome | null,
  verified: Charged['verified'],
  spender: string,
): Later<Concluded> {
  if (precheck || !verified) return { outcome: precheck!, durable: network.durable };
  if (!('refusal' in verified)) return network.apply(verified, spender);
  const outcome: Outcome = { result: 'refused', refusal: verified.refusal };
  return { outcome, durable: Promise.resolve() };
}

/** Responds to an outcome, and charges the agent or address. */
function answerTo({ call, kind }: Write, admitted: Admitted, cost: Cost, outcome: Outcome): Answer {
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

function chargeRead<A extends Answer>({ budget }: Call, answer: A): A | RefusalResponse {
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
  const response = success(status, outcome.data, kind);
  if (kind === 'propose' && status === 201 && 'block_hash' in outcome.data) {
    response.headers.Location = `/api/v1/blocks/${outcome.data.block_hash}`;
  }
  return response;
}

/** Refuses a request by its head. If the body is unread, the explanation has no digest. */
export function refuseByHead(call: Call, kind: CommandKind, refusal: Refusal): RefusalResponse {
  return refuseExplained(call, kind, refusal, inputByHead(kind, call.head, call.body));
}

function refuseExplained(
  { budget, head, body }: Call,
  kind: CommandKind,
  refusal: Refusal,
  input: SignedInput,
): RefusalResponse {
  if (refusal.code !== 'INVALID_SIGNATURE') return { refusal };
  const { target } = head;
  return { refusal: explainSignature(refusal, kind, input, { target, body, now: budget.wallMs }) };
}
