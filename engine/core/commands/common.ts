/** Guards that several commands share. */
import type { BlockContext, BlockStatus } from '../../protocol/schema/index.js';
import { type Precheck, refused } from '../outcome.js';
import type { Tally } from '../quorum.js';
import type { State } from '../state.js';
import type { Agent } from '../tables/agents.js';
import { blockContext } from '../tables/blocks.js';

export function notActive(agent: Agent): ReturnType<typeof refused> | null {
  const { status } = agent;
  if (status === 'active') return null;
  return refused('NOT_ACTIVE', `agent ${agent.id} is ${status}; set its status to active first`);
}

/** The first meme that nobody has posted. */
export function unknownMeme(state: State, references: readonly string[]) {
  const index = references.findIndex((meme) => !state.reader.read('memes', meme));
  if (index < 0) return null;
  return refused('UNKNOWN_MEME', `no meme has the id ${references[index]}`, {
    pointer: '/meme_references',
    details: { meme_id: references[index] },
  });
}

export interface BlockNow {
  status: BlockStatus;
  context: BlockContext;
  /** Of all votes so far; that of the context is the last one. */
  tally: Readonly<Tally>;
}

/** A block as it stands, open or closed long ago. */
export function blockNow(state: State, hash: string): BlockNow | undefined {
  const open = state.blocks.get(hash);
  if (open) return { status: 'voting', context: blockContext(open), tally: open.ballots.tally };
  const closed = state.reader.read('blocks', hash);
  return closed && { status: closed.state, context: closed.context, tally: closed.context };
}

export function unknownBlock(hash: string): Precheck<never> {
  return refused('UNKNOWN_BLOCK', `no block has the hash ${hash}`, { pointer: '/block_hash' });
}

export function votingClosed({ status, context }: BlockNow): Precheck<never> {
  return refused('VOTING_CLOSED', `block ${context.block_hash} is ${status}`, {
    details: { block_status: status, height: context.height },
  });
}
