/** A block's life: voting, then one of four ends. The policy decides; this machine obeys it. */
import { setup } from 'xstate';
import {
  type BlockContext,
  type BlockStatus,
  type Decision,
  type EventData,
  formatInstant,
} from '../../protocol/schema/index.js';
import { decide, type QuorumDecision, type QuorumRule, type Tally } from '../quorum.js';
import type { UnknownEvent } from './directory.js';

type BlockEvent =
  | { type: 'proposed'; data: EventData['block_proposal'] }
  | {
      type: 'vote';
      at: number;
      decision: Decision;
      weight: number;
      vetoed: boolean;
      data: EventData['block_validation'];
    }
  | { type: 'deadline'; at: number }
  | { type: 'orphan'; at: number };

type Emitted =
  | { type: 'block_proposal'; data: EventData['block_proposal'] }
  | { type: 'block_validation'; data: EventData['block_validation'] }
  | { type: 'block_status'; data: EventData['block_status'] }
  | UnknownEvent;

const block = setup({
  types: {
    context: {} as BlockContext,
    input: {} as BlockContext,
    events: {} as BlockEvent,
    emitted: {} as Emitted,
  },
});

type Vote = Extract<BlockEvent, { type: 'vote' }>;

/** The tally with one more vote. */
function counted(context: BlockContext, { decision, weight, vetoed }: Vote): Tally {
  const approving = decision === 'approve';
  return {
    approve: context.approve + (approving ? weight : 0),
    reject: context.reject + (approving ? 0 : weight),
    total: context.total,
    voted: context.voted + 1,
    electors: context.electors,
    vetoed: context.vetoed || vetoed,
  };
}

const count = block.assign(({ context, event }) =>
  event.type === 'vote' ? counted(context, event) : {},
);

const close = block.assign(({ event }) => ('at' in event ? { closed_at: event.at } : {}));

const emitStatus = (status: BlockStatus) =>
  block.emit(({ context }) => ({
    type: 'block_status',
    data: {
      block_hash: context.block_hash,
      parent_hash: context.parent_hash,
      height: context.height,
      status,
      approve: context.approve,
      reject: context.reject,
      electorate: context.total,
      transactions: context.transactions,
      timestamp: formatInstant(context.closed_at),
    },
  }));

const unknown = block.emit(({ context, event }) => ({
  type: 'unknown_event',
  actor: context.block_hash,
  event: event.type,
}));

/** Emits what the event carries: the machine adds nothing to a proposal or a vote but its count. */
const forward = block.emit(({ context, event }) => {
  if (event.type === 'proposed') return { type: 'block_proposal', data: event.data };
  if (event.type === 'vote') return { type: 'block_validation', data: event.data };
  return { type: 'unknown_event', actor: context.block_hash, event: event.type };
});

type Asked = { context: BlockContext; event: BlockEvent };

/** The machine of one network's blocks: the rule is the same for all of them. */
export function blockMachine(rule: QuorumRule) {
  // Looking ahead spares each vote a second round through the machine for eventless transitions;
  // most votes decide nothing, so that is asked first.
  const decides = ({ context, event }: Asked) =>
    event.type === 'vote' ? decide(rule, counted(context, event), false) : null;
  const actions = [count, forward];
  const byVote = (wanted: QuorumDecision) => ({
    guard: (asked: Asked) => decides(asked) === wanted,
    target: wanted,
    actions,
  });
  const byDeadline = (wanted: QuorumDecision) => ({
    guard: ({ context }: Asked) => decide(rule, context, true) === wanted,
    target: wanted,
  });
  const end = (status: BlockStatus) => ({
    type: 'final' as const,
    entry: [close, emitStatus(status)],
  });
  return block.createMachine({
    id: 'block',
    context: ({ input }) => input,
    initial: 'voting',
    states: {
      voting: {
        on: {
          proposed: { actions: forward },
          vote: [
            { guard: (asked) => decides(asked) === null, actions },
            byVote('finalized'),
            byVote('rejected'),
            byVote('expired'),
          ],
          deadline: [byDeadline('finalized'), byDeadline('rejected'), byDeadline('expired')],
          orphan: { target: 'orphaned' },
        },
      },
      finalized: end('finalized'),
      rejected: end('rejected'),
      expired: end('expired'),
      orphaned: end('orphaned'),
    },
    on: { '*': { actions: unknown } },
  });
}
