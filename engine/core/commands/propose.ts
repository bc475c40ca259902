/** A producer proposes the next block; its electorate and deadline are fixed here. */
import { limits } from '../../protocol/limits.js';
import {
  type AnswerOf,
  type BlockContext,
  formatInstant,
  type ProposeCommand,
} from '../../protocol/schema/index.js';
import { deadlineId, orphan } from '../close.js';
import { accepted, type CommandRule, type Precheck, refused, repeated } from '../outcome.js';
import type { State } from '../state.js';
import type { Agent } from '../tables/agents.js';
import { blockContext, type OpenBlock } from '../tables/blocks.js';
import type { Electorate } from '../tables/electorate.js';
import { type BlockNow, blockNow, notActive } from './common.js';

interface Plan {
  agent: Agent;
  /** What gives way to it, where all places are taken. */
  displaced: OpenBlock | null;
}

export const propose: CommandRule<ProposeCommand, Plan> = {
  check(state, command) {
    const known = blockNow(state, command.block_hash);
    if (known) return repeated(answer(known));
    const agent = state.agents.byKey(command.public_key)!;
    if (!agent.producer) return refused('NOT_PRODUCER', `agent ${agent.id} is not a producer`);
    return (
      notActive(agent) ??
      crowded(state, agent, command) ??
      duplicateTransaction(state, command) ??
      failedSignature(command) ?? { plan: { agent, displaced: displacedBy(state, agent) } }
    );
  },

  effect(state, command, { agent, displaced }) {
    if (displaced) orphan(state, displaced);
    const electorate = state.electorates.snapshot(state.changes);
    const context = newBlock(state, command, agent, electorate);
    const hash = command.block_hash;
    const block = state.blocks.propose(context, command, electorate);
    state.deadlines.set(deadlineId(hash), context.deadline);
    state.changes.put('blocks', hash, { state: 'voting', context });
    state.changes.put('block_numbers', context.ordinal, { block_hash: hash });
    state.changes.put('open', ['block', hash], {});
    announce(block, command, agent, formatInstant(state.now));
    return accepted(answer({ status: 'voting', context: blockContext(block) }));
  },
};

function newBlock(
  state: State,
  command: ProposeCommand,
  agent: Agent,
  electorate: Electorate,
): BlockContext {
  return {
    block_hash: command.block_hash,
    parent_hash: command.parent_hash,
    height: state.height + 1,
    ordinal: state.blocks.count,
    entry: state.entry,
    producer: agent.id,
    producer_key: agent.publicKey,
    transactions: command.transactions.length,
    electorate: electorate.id,
    proposed_at: state.now,
    deadline: state.now + state.genesis.voting_period_ms,
    closed_at: 0,
    approve: 0,
    reject: 0,
    total: electorate.total,
    voted: 0,
    electors: electorate.agents.length,
    vetoed: false,
  };
}

function announce(block: OpenBlock, command: ProposeCommand, agent: Agent, timestamp: string) {
  const { type, content } = command.meme_content;
  const data = {
    block_hash: block.hash,
    parent_hash: command.parent_hash,
    height: blockContext(block).height,
    producer: { id: agent.id, public_key: agent.publicKey },
    transactions: command.transactions.map(({ hash, type }) => ({ hash, type })),
    meme_content: type === undefined ? {} : { type, content: content ?? '' },
    timestamp,
  };
  block.actor.send({ type: 'proposed', data });
}

/** Whether there is room for one more block on this parent by this producer. */
function crowded(state: State, agent: Agent, command: ProposeCommand): Precheck<never> | null {
  const { headHash, height } = state;
  if (command.parent_hash !== headHash) {
    const message = `the parent is not the head: expected ${headHash} at height ${height}`;
    const details = { head_hash: headHash, height };
    return refused('STALE_PARENT', message, { pointer: '/parent_hash', details });
  }
  const own = state.blocks.open().find((block) => blockContext(block).producer === agent.id);
  if (own) {
    const message = `agent ${agent.id} has block ${own.hash} in voting; wait for its end`;
    return refused('OPEN_BLOCK', message, { details: { block_hash: own.hash } });
  }
  if (isFull(state) && !displacedBy(state, agent)) {
    const message = `${limits.openBlocks} blocks are in voting, which is the limit`;
    return refused(
      'TOO_MANY_OPEN',
      `${message}, and none is of a producer with a lower reputation`,
    );
  }
  const electors = state.electorates.size();
  if (electors >= state.genesis.min_validators) return null;
  const expected = `at least ${state.genesis.min_validators}`;
  return refused('NO_VALIDATORS', `${electors} validators could vote; expected ${expected}`);
}

const isFull = ({ blocks }: State): boolean => blocks.openCount >= limits.openBlocks;

/**
 * Where all places are taken: the block of the producer with the lowest reputation, of several the
 * newest, if that reputation is lower than the agent's.
 */
function displacedBy(state: State, agent: Agent): OpenBlock | null {
  if (!isFull(state)) return null;
  const overall = (ordinal: number) => state.standings.get(ordinal, 'overall');
  const places = state.blocks.open().map((block) => {
    const { producer, ordinal } = blockContext(block);
    return { block, ordinal, score: overall(state.agents.byId(producer)!.ordinal) };
  });
  const [last] = places.sort((a, b) => a.score - b.score || b.ordinal - a.ordinal);
  return last && last.score < overall(agent.ordinal) ? last.block : null;
}

/** Of what was looked up at this head nothing has become final since. */
function duplicateTransaction(state: State, command: ProposeCommand): Precheck<never> | null {
  const { transactions } = command;
  if (state.lookedUp.get(transactions) === state.headHash) return null;
  const seen = new Map<string, string[]>();
  for (const [index, { hash, signer }] of transactions.entries()) {
    const signers = seen.get(hash);
    const final = state.reader.read('transactions', [hash, signer]);
    if (signers?.includes(signer) || final) {
      const where = final ? `final in block ${final.block_hash}` : 'twice in this block';
      return refused('DUPLICATE_TX', `transaction ${hash} is ${where}`, {
        pointer: `/transactions/${index}`,
        details: { hash },
      });
    }
    if (signers) signers.push(signer);
    else seen.set(hash, [signer]);
  }
  state.lookedUp.set(transactions, state.headHash);
  return null;
}

function failedSignature({ failed_transaction: index }: ProposeCommand): Precheck<never> | null {
  if (index < 0) return null;
  const message = `the signature of transaction ${index} does not fit its key and hash`;
  return refused('MISMATCH', message, { pointer: `/transactions/${index}/signature` });
}

function answer({ status, context }: Omit<BlockNow, 'tally'>): AnswerOf['propose'] {
  return {
    block_hash: context.block_hash,
    height: context.height,
    parent_hash: context.parent_hash,
    status,
    voting_deadline: formatInstant(context.deadline),
    electorate: context.total,
    timestamp: formatInstant(context.proposed_at),
  };
}
