/**
 * Decisions by rules other than `bft`, `majority` and `veto`, for which the auditor has its own
 * formulas. The auditor applies a rule's definition (`decide` or `tally`) to its own electorate and
 * votes. It does not use the engine's vote counter.
 */
import type { VoteCommand } from '../../engine/protocol/schema/command.js';
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import { type NetworkRule, ruleOf } from '../../engine/rules/network-rule.js';
import {
  checkVerdict,
  type Elector,
  faulty,
  isWeightRule,
  type PollBlock,
  type PollVote,
  RuleError,
  type Verdict,
  type VoteRule,
} from '../../engine/rules/rule.js';
import type { Agent, Block, Electorate } from './state.js';

const OWN = new Set(['bft', 'majority', 'veto']);

/** Returns the network's rule, or null if the auditor decides by its own formulas. */
export const foreignRule = (genesis: Genesis): NetworkRule | null =>
  OWN.has(genesis.policy) ? null : ruleOf(genesis);

export function countedBallot(genesis: Genesis, { ballot }: Pick<VoteCommand, 'ballot'>): unknown {
  return foreignRule(genesis)?.takesBallots ? ballot : undefined;
}

export function refusesBallot(genesis: Genesis, block: Block, command: VoteCommand): boolean {
  const rule = foreignRule(genesis);
  return rule !== null && rule.findBallotProblem(command.ballot, pollBlock(block)) !== null;
}

export function pollVote(block: Block, agent: Agent, command: VoteCommand, at: number): PollVote {
  const { decision, ballot } = command;
  const elector = electorsOf(block.electorate).positions.get(agent.number)!;
  const vote: PollVote = { elector, agent_id: agent.id, decision, ms: at - block.proposedAt };
  return ballot === undefined ? vote : { ...vote, ballot };
}

/** Returns the verdict after a vote, or at the end of voting if `isOver`. */
export function decideByRule(rule: NetworkRule, block: Block, isOver: boolean): Verdict {
  const { approve, reject, electorate, ballots } = block;
  const { voters, vetoes } = ballots!;
  const over = isOver || voters.length === electorate.heads;
  try {
    if (!isWeightRule(rule.rule)) return tallyByRule(rule, rule.rule, block, over);
    const counts = {
      ...{ approve, reject, total: electorate.total },
      ...{ voted: voters.length, electors: electorate.heads, vetoes },
    };
    const status = rule.rule.decide(counts, rule.values, over);
    return checkVerdict({ status }, over, []);
  } catch (error) {
    if (error instanceof RuleError) return faulty(error.fault);
    throw error;
  }
}

function tallyByRule(network: NetworkRule, rule: VoteRule, block: Block, over: boolean): Verdict {
  if (!over && !rule.decidesEarly) return { status: null };
  const poll = {
    block: pollBlock(block),
    electors: electorsOf(block.electorate).list,
    votes: block.ballots!.polled,
    over,
  };
  return checkVerdict(rule.tally(poll, network.values), over, poll.block.options);
}

const pollBlock = ({ hash, height, options = [] }: Block): PollBlock => ({ hash, height, options });

interface Electors {
  list: Elector[];
  /** Positions by agent number. */
  positions: Map<number, number>;
}

const known = new WeakMap<Electorate, Electors>();

function electorsOf(electorate: Electorate): Electors {
  let found = known.get(electorate);
  if (!found) {
    const list: Elector[] = [];
    const positions = new Map<number, number>();
    for (const [agent, weight] of electorate.weights.entries()) {
      if (weight === 0) continue;
      positions.set(agent, list.length);
      list.push({ agent, weight });
    }
    found = { list, positions };
    known.set(electorate, found);
  }
  return found;
}
