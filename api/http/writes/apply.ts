/** One write whose signature holds: its quota, its turn among blocks, its outcome, its answer. */
import type {
  Admitted,
  CommandKind,
  Outcome,
  Refusal,
  ServedNetwork,
  Verified,
} from '../../../engine/internal.js';
import { agentId } from '../../../engine/protocol/signing.js';
import { type Cost, costOf, isLate, isReplay, operationOf } from '../../limits/operation-cost.js';
import { blocksUsed } from '../../limits/refusals.js';
import { transactionExplained } from '../explain/transaction.js';
import type { Call, Services } from '../handler.js';
import { type Answer, type Refused, success } from '../response/envelope.js';
import { beyond, withQuota } from '../response/quota-answers.js';
import { refuseExplained } from './refuse.js';

/** Charges the request and, if its quota allows, gives it to the network. */
export async function apply(call: Call, admitted: Admitted): Promise<Answer> {
  const { services, budget } = call;
  const { network, limits, charged, blocks } = services;
  const { kind, public_key } = admitted.command;
  const cost = costOf(limits, charged, operationOf(admitted), budget.addressKey);
  const exceeded = cost.exceeded();
  // Where it spares a repeat its quota, or us the signatures of transactions.
  const looked = exceeded || kind === 'propose' ? lookAhead(network, admitted) : null;
  const first = looked instanceof Promise ? await looked : looked;
  if (exceeded && !cost.isFree(exceeded, first)) return beyond(exceeded);
  const parentEnds = first && !exceeded ? parentInVoting(services, admitted, first) : null;
  if (parentEnds) cost.charge();
  const early = parentEnds && (await whileInVoting(network, admitted, parentEnds));
  const precheck = early ? await lookAhead(network, admitted) : first;
  const crowded = precheck ? null : takeBlock(services, admitted);
  if (crowded) return asRead(call, crowded);
  if (!early) cost.charge();
  const inner = precheck ? null : (early ?? network.verification.inner(admitted));
  const verified = inner instanceof Promise ? await inner : inner;
  const applied = outcomeOf(network, precheck, verified, budget.addressKey);
  const { outcome, durable } = applied instanceof Promise ? await applied : applied;
  cost.conclude(outcome);
  if (kind === 'propose' && !precheck && outcome.result !== 'accepted') {
    blocks?.giveBack(public_key);
  }
  await durable;
  return answerTo(call, admitted, outcome, cost);
}

/** The end of the block that a proposal builds on, where it may wait for that; or null. */
function parentInVoting(
  { early }: Services,
  { command }: Admitted,
  outcome: Outcome,
): Promise<void> | null {
  if (command.kind !== 'propose' || !('refusal' in outcome)) return null;
  if (outcome.refusal.reason !== 'STALE_PARENT') return null;
  return early.until(command.parent_hash, command.public_key);
}

/** The signatures inside a proposal, verified before the block that it builds on is decided. */
async function whileInVoting(
  network: ServedNetwork,
  admitted: Admitted,
  parentEnds: Promise<void>,
): Promise<Verified | { refusal: Refusal }> {
  const verified = await network.verification.inner(admitted);
  await parentEnds;
  return verified;
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
function takeBlock({ network, blocks }: Services, { command }: Admitted): Refused | null {
  if (!blocks || command.kind !== 'propose') return null;
  const reputation = network.read.reputation(agentId(command.public_key))?.overall_score ?? 0;
  const waitMs = blocks.take(command.public_key, reputation);
  if (waitMs === 0) return null;
  const headers = { 'Retry-After': `${Math.ceil(waitMs / 1000)}` };
  return { refusal: blocksUsed(blocks, waitMs), headers };
}

interface Concluded {
  outcome: Outcome;
  durable: Promise<void>;
}

/** What became of it. A precheck sees what is not durable yet, and so its answer waits as well. */
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

/** The answer to an outcome, and whom it counts against. */
function answerTo(call: Call, admitted: Admitted, outcome: Outcome, cost: Cost): Answer {
  const { network, attempts } = call.services;
  const { kind } = admitted.command;
  if (!cost.again && (outcome.result === 'duplicate' || isLate(outcome))) {
    return asRead(call, shown(kind, outcome));
  }
  if (!('refusal' in outcome) || outcome.refusal.code !== 'INVALID_SIGNATURE') {
    return withQuota(shown(kind, outcome), cost.left());
  }
  if (isReplay(outcome.refusal)) {
    if (!cost.again) attempts.failed(call.budget);
    return refuseExplained(call, kind, outcome.refusal, admitted);
  }
  const { network_id } = network.genesis;
  const refusal = transactionExplained(outcome.refusal, admitted, network_id);
  return withQuota({ refusal }, cost.left());
}

/** The answer to what costs the agent nothing: it counts against the address. */
function asRead({ services: { limits }, budget }: Call, answer: Answer): Answer {
  const taken = limits.take('read', budget.addressKey);
  return 'exceeded' in taken ? beyond(taken.exceeded) : answer;
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

function shown(kind: CommandKind, outcome: Outcome): Answer {
  if ('refusal' in outcome) return { refusal: outcome.refusal };
  const status = outcome.result === 'accepted' && created.has(kind) ? 201 : 200;
  const response = success(status, outcome.data);
  if (kind === 'propose' && status === 201 && 'block_hash' in outcome.data) {
    response.headers.Location = `/api/v1/blocks/${outcome.data.block_hash}`;
  }
  return response;
}
