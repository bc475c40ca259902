/**
 * Auditor that observes a network and predicts, from the commands alone, every outcome, every
 * event, and at the end every read. A difference is a violation. The auditor takes only the time of
 * each step from the network.
 */
import type { Outcome } from '../../engine/core/state.js';
import type { Command } from '../../engine/protocol/schema/command.js';
import type { Event, EventData } from '../../engine/protocol/schema/event.js';
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import type {
  AgentView,
  AnswerOf,
  BlockView,
  NetworkState,
  ReputationView,
} from '../../engine/protocol/schema/view.js';
import { agentId } from '../../engine/protocol/signing.js';
import { computeVotesNeeded } from './electorate.js';
import { allianceData } from './events.js';
import { Model } from './model.js';
import { Safety } from './safety.js';
import {
  type Agent,
  type Block,
  networkFigures,
  type PredictedOutcome,
  type State,
} from './state.js';
import {
  type BrokenRule,
  difference,
  instantText,
  isSame,
  isSameEvent,
  isSameVoteAnswer,
  type Violation,
} from './violation.js';

/** Network step: a command with its outcome and events. */
export interface ObservedStep {
  at: number;
  command: Command;
  outcome: Outcome;
  /** All events in the step, including events from earlier deadlines. */
  events: readonly Event[];
}

/** Result of a precheck, which predicts a command's outcome without executing the command. */
export interface Prechecked {
  at: number;
  command: Command;
  /** Refusal or duplicate; null if the command would be executed. */
  outcome: Outcome | null;
}

/**
 * Independent model of the network's rules, written from docs/protocol.md. The auditor observes a
 * network, predicts its behaviour, and reports the first violation.
 */
export class Auditor {
  readonly #model: Model;
  readonly #safety: Safety;
  #first: Violation | null = null;

  /**
   * Creates a model of a new network.
   *
   * @param genesis parameters of the network, which must be observed from its first entry.
   */
  constructor(genesis: Genesis) {
    this.#model = new Model(genesis);
    this.#safety = new Safety(genesis);
  }

  /** First violation. Compares nothing afterwards: later differences would follow from it. */
  get violation(): Violation | null {
    return this.#first;
  }

  /** Observes a command. Returns the first violation, or null. */
  observe(step: ObservedStep): Violation | null {
    const { at, command, outcome, events } = step;
    if (this.#first || isUnable(outcome)) return this.#first;
    const unsafe = this.#safety.watch(step);
    const { prediction, predicted } = this.#model.put(at, command);
    const wrong =
      unsafe ??
      findBrokenOutcome(prediction, command, outcome) ??
      findBrokenEvents(predicted, events);
    return this.#keep(at, wrong, command.kind, command);
  }

  /** Observes a precheck, which must not change the state. */
  precheck({ at, command, outcome }: Prechecked): Violation | null {
    if (this.#first || (outcome && isUnable(outcome))) return this.#first;
    const due = this.#model.nextDue();
    if (due !== null && due < at) {
      const found = `precheck at ${at} before the deadline ${due} fired`;
      const missed = {
        rule: 'deadline',
        actor: 'network',
        expected: 'deadlines before prechecks',
        found,
      };
      return this.#keep(at, missed, `precheck of ${command.kind}`, command);
    }
    const prediction = this.#model.precheck(at, command);
    const wrong = findBrokenPrecheck(prediction, command, outcome);
    return this.#keep(at, wrong, `precheck of ${command.kind}`, command);
  }

  /** Observes that time advances to `at`, by which all earlier deadlines must have fired. */
  advance(at: number, events: readonly Event[]): Violation | null {
    if (this.#first) return this.#first;
    const unsafe = this.#safety.watch({ at, command: null, outcome: null, events });
    const predicted = this.#model.advance(at);
    return this.#keep(at, unsafe ?? findBrokenEvents(predicted, events), 'time');
  }

  finish(at: number, reads: AuditedReads): Violation | null {
    if (this.#first) return this.#first;
    return this.#keep(at, findBrokenReads(this.#model.state, at, reads), 'end');
  }

  get counts() {
    const { head, counts, agents } = this.#model.state;
    return { height: head.height, head: head.hash, agents: agents.length, ...counts };
  }

  #keep(
    at: number,
    broken: BrokenRule | null,
    during: Violation['during'],
    command?: Command,
  ): Violation | null {
    if (!broken) return null;
    const { rule, expected, found } = broken;
    const sender = command ? agentId(command.public_key) : 'network';
    const actor = broken.actor === '' ? sender : broken.actor;
    const asked = command && 'block_hash' in command ? command.block_hash : '';
    this.#first = { at, rule, actor, expected, found, during, block: broken.block ?? asked };
    return this.#first;
  }
}

/** True if a network cannot execute commands. It then refuses all, which no rule covers. */
const isUnable = (outcome: Outcome) =>
  'refusal' in outcome && outcome.refusal.code === 'NETWORK_ERROR';

function findBrokenOutcome(
  prediction: PredictedOutcome,
  { kind }: Command,
  outcome: Outcome,
): BrokenRule | null {
  if ('data' in prediction && prediction.result === outcome.result && 'data' in outcome) {
    const isVote = kind === 'vote' && outcome.result === 'accepted';
    const isRight = isVote
      ? isSameVoteAnswer(prediction.data as AnswerOf['vote'], outcome.data as AnswerOf['vote'])
      : isSame(prediction.data, outcome.data);
    return isRight ? null : inAnswer(prediction.data, outcome.data);
  }
  const said = saidBy(outcome);
  if (word(prediction) !== word(said)) {
    return { rule: 'outcome', actor: '', expected: word(prediction), found: word(said) };
  }
  if (!('details' in prediction) || !('details' in said)) return null;
  const isRight = isSame(prediction.details, said.details);
  return isRight ? null : inAnswer({ details: prediction.details }, { details: said.details });
}

function inAnswer(expected: object, found: object): BrokenRule {
  const one = difference(expected, found)!;
  return { rule: 'answer', actor: '', expected: one.expected, found: `${one.where} ${one.found}` };
}

function findBrokenPrecheck(
  prediction: PredictedOutcome | null,
  command: Command,
  outcome: Outcome | null,
): BrokenRule | null {
  if (prediction && outcome) return findBrokenOutcome(prediction, command, outcome);
  if (!prediction && !outcome) return null;
  const said = (what: PredictedOutcome | null) => (what ? word(what) : 'no refusal');
  const found = said(outcome && saidBy(outcome));
  return { rule: 'outcome', actor: '', expected: said(prediction), found };
}

function saidBy(outcome: Outcome): PredictedOutcome {
  if ('data' in outcome) return outcome;
  const { reason, details = {} } = outcome.refusal;
  return { result: outcome.result, reason, details };
}

const word = (prediction: PredictedOutcome) =>
  'reason' in prediction ? `${prediction.result} ${prediction.reason}` : prediction.result;

function findBrokenEvents(
  predicted: readonly Event[],
  events: readonly Event[],
): BrokenRule | null {
  for (let index = 0; index < Math.max(predicted.length, events.length); index += 1) {
    const expected = predicted[index];
    const found = events[index];
    if (!expected || !found || expected.type !== found.type) {
      const name = (event: Event | undefined) =>
        event ? `event ${event.seq} ${event.type} ${JSON.stringify(event.data)}` : 'no event';
      return { rule: 'event', actor: '', expected: name(expected), found: name(found) };
    }
    const one = isSameEvent(expected, found) ? null : difference(expected, found);
    if (!one) continue;
    const what = `event ${found.seq} ${found.type}: ${one.where}`;
    const block = 'block_hash' in expected.data ? { block: expected.data.block_hash } : {};
    return {
      rule: 'event',
      actor: '',
      expected: one.expected,
      found: `${what} ${one.found}`,
      ...block,
    };
  }
  return null;
}

/** Network reads that the auditor compares. */
export interface AuditedReads {
  networkState(): NetworkState;
  agents(): Iterable<AgentView>;
  reputation(agentId: string): ReputationView | undefined;
  blocks(): Iterable<BlockView & { ordinal: number }>;
  alliances(): Iterable<EventData['alliance_update']>;
}

function findBrokenReads(state: State, at: number, reads: AuditedReads): BrokenRule | null {
  return (
    compare('network', networkView(state, at), reads.networkState()) ??
    findBrokenAgents(state, reads) ??
    findBrokenBlocks(state, reads) ??
    findBrokenAlliances(state, reads)
  );
}

function compare(actor: string, expected: unknown, found: unknown): BrokenRule | null {
  const one = difference(expected, found);
  if (!one) return null;
  return { rule: 'read', actor, expected: one.expected, found: `${one.where} ${one.found}` };
}

function networkView(state: State, at: number): NetworkState {
  const { tps, ...others } = networkFigures(state, at);
  const { network_id } = state.genesis;
  return { ...others, network_tps: tps, network_id, server_time: instantText(at) };
}

function findBrokenAgents(state: State, reads: AuditedReads): BrokenRule | null {
  let seen = 0;
  for (const view of reads.agents()) {
    const agent = state.byId.get(view.id);
    if (!agent) return compare(view.id, undefined, view);
    seen += 1;
    const { capabilities: _, ...rest } = view;
    const wrong =
      compare(agent.id, agentView(agent), rest) ??
      compare(agent.id, reputationView(agent), reads.reputation(agent.id));
    if (wrong) return wrong;
  }
  return compare('network', `${state.agents.length} agents`, `${seen} agents`);
}

function agentView(agent: Agent): Omit<AgentView, 'capabilities'> {
  return {
    id: agent.id,
    public_key: agent.key,
    personality: agent.personality,
    name: agent.name,
    description: agent.description,
    status: agent.status,
    reason: agent.reason,
    expected_duration: agent.expectedDuration,
    registration_time: instantText(agent.registeredAt),
    dormant: agent.dormant,
    reputation_score: agent.scores.overall / 10_000,
    blocks_produced: agent.produced,
  };
}

function reputationView({ scores }: Agent): ReputationView {
  return {
    overall_score: scores.overall / 10_000,
    meme_quality: scores.meme / 10_000,
    decision_consistency: scores.consistency / 10_000,
    peer_ratings: scores.peer / 10_000,
    alliance_strength: scores.alliance / 10_000,
  };
}

function findBrokenBlocks(state: State, reads: AuditedReads): BrokenRule | null {
  let left = state.blocks.size;
  for (const { ordinal, ...view } of reads.blocks()) {
    left -= 1;
    const block = state.blocks.get(view.block_hash);
    const wrong =
      compare(view.block_hash, left, ordinal) ??
      compare(view.block_hash, block && blockView(state, block), view);
    if (wrong) return wrong;
  }
  return compare('network', 'all blocks', left === 0 ? 'all blocks' : `${left} missing blocks`);
}

function blockView({ genesis }: State, block: Block): BlockView {
  const { approve, reject, electorate, producer } = block;
  return {
    ...block.head,
    status: block.status,
    producer: { id: producer.id, public_key: producer.key },
    tally: {
      approve,
      reject,
      electorate: electorate.total,
      needed: computeVotesNeeded(genesis, block),
    },
    transactions: block.transactions,
    voting_deadline: instantText(block.deadline),
    timestamp: instantText(block.proposedAt),
    closed_at: block.status === 'voting' ? null : instantText(block.closedAt),
    ...(block.options ? { options: [...block.options] } : {}),
    ...block.outcome,
  };
}

function findBrokenAlliances(state: State, reads: AuditedReads): BrokenRule | null {
  const alliances = [...state.alliances.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const views = [...reads.alliances()];
  return compare('alliances', alliances.map(allianceData), views);
}
