/** A vote on a block: counted once; the other decision later is equivocation, which is logged. */
import {
  type AnswerOf,
  type Decision,
  formatInstant,
  type VoteCommand,
} from '../../protocol/schema/index.js';
import { closeBlock } from '../close.js';
import {
  accepted,
  type CommandRule,
  type Outcome,
  type Precheck,
  refused,
  repeated,
} from '../outcome.js';
import { penalize } from '../reputation.js';
import type { State } from '../state.js';
import type { Agent } from '../tables/agents.js';
import { blockContext, type OpenBlock } from '../tables/blocks.js';
import { positionOf } from '../tables/electorate.js';
import {
  type BlockNow,
  blockNow,
  notActive,
  unknownBlock,
  unknownMeme,
  votingClosed,
} from './common.js';

type Plan =
  | { agent: Agent; block: OpenBlock; position: number }
  /** The ordinal of the block that the agent voted on both ways. */
  | { agent: Agent; conflict: Outcome & { result: 'equivocation' }; blockOrdinal: number };

export const vote: CommandRule<VoteCommand, Plan> = {
  check(state, command) {
    const now = blockNow(state, command.block_hash);
    if (!now) return unknownBlock(command.block_hash);
    const agent = state.agents.byKey(command.public_key)!;
    const block = state.blocks.get(command.block_hash);
    const electorate = block?.ballots.electorate ?? state.electorates.get(now.context.electorate);
    const position = positionOf(electorate, agent.ordinal);
    const voted = position >= 0 && (!block || block.ballots.choice(position) !== null);
    const key = [now.context.ordinal, agent.ordinal];
    const first = voted ? state.reader.read('votes', key) : undefined;
    if (first && first.decision === command.decision) {
      return repeated(answer(state, agent, command.decision, now, first.at));
    }
    if (!agent.validator) return refused('NOT_VALIDATOR', `agent ${agent.id} is not a validator`);
    if (position < 0) {
      const message = `agent ${agent.id} is not in the electorate of block ${command.block_hash}`;
      return refused('NOT_IN_ELECTORATE', message);
    }
    if (first) return conflicting(state, agent, first.decision, now);
    if (!block || now.status !== 'voting') return votingClosed(now);
    const problem = notActive(agent) ?? unknownMeme(state, command.meme_references);
    return problem ?? { plan: { agent, block, position } };
  },

  effect(state, command, plan) {
    if ('conflict' in plan) {
      const key = [plan.blockOrdinal, plan.agent.ordinal];
      state.changes.put('equivocations', key, { entry: state.entry });
      penalize(state, plan.agent.ordinal);
      return plan.conflict;
    }
    const { agent, block, position } = plan;
    const { decision, reason, meme_references } = command;
    block.ballots.cast(position, decision, meme_references);
    const validator = { id: agent.id, personality: agent.personality };
    const timestamp = formatInstant(state.now);
    const data = { block_hash: block.hash, decision, reason, timestamp, validator };
    state.outbox.emit({ type: 'block_validation', data });
    const context = blockContext(block);
    const record = { at: state.now, decision, entry: state.entry, meme_references };
    state.changes.put('votes', [context.ordinal, agent.ordinal], record);
    const ended = state.blocks.decided(block);
    if (ended) closeBlock(state, block, ended);
    const now = { status: ended ?? 'voting', context, tally: block.ballots.tally } as const;
    return accepted(answer(state, agent, decision, now, state.now));
  },
};

/** The first vote counts; the evidence is taken once for each agent and block. */
function conflicting(state: State, agent: Agent, first: Decision, now: BlockNow): Precheck<Plan> {
  const { block_hash, ordinal } = now.context;
  const message = `agent ${agent.id} has voted ${first} on block ${block_hash}; that vote counts`;
  const { outcome } = refused('ALREADY_VOTED', message, { details: { decision: first } });
  const known = state.reader.read('equivocations', [ordinal, agent.ordinal]);
  if (known || outcome.result !== 'refused') return { outcome };
  const { refusal } = outcome;
  return { plan: { agent, conflict: { result: 'equivocation', refusal }, blockOrdinal: ordinal } };
}

function answer(
  state: State,
  agent: Agent,
  decision: Decision,
  { status, context, tally }: BlockNow,
  at: number,
): AnswerOf['vote'] {
  const { approve, reject, total } = tally;
  return {
    block_hash: context.block_hash,
    agent_id: agent.id,
    decision,
    block_status: status,
    tally: { approve, reject, electorate: total, needed: state.blocks.needed(tally) },
    timestamp: formatInstant(at),
  };
}
