/**
 * A block's life: voting, then one of four ends. Votes are counted beside it, in a table; the
 * policy decides what they come to, and this machine obeys it.
 */
import {
  type BlockContext,
  type BlockStatus,
  type EventData,
  formatInstant,
} from '../../protocol/schema/index.js';
import type { Tally } from '../quorum.js';
import type { UnknownEvent } from './directory.js';
import { setup } from './xstate.js';

/** How a block leaves voting. */
export type BlockEnd = Exclude<BlockStatus, 'voting'>;

type BlockEvent =
  | { type: 'proposed'; data: EventData['block_proposal'] }
  | { type: BlockEnd; at: number; tally: Tally };

type Emitted =
  | { type: 'block_proposal'; data: EventData['block_proposal'] }
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

const close = block.assign(({ event }) =>
  'tally' in event ? { ...event.tally, closed_at: event.at } : {},
);

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

/** Emits what the event carries: the machine adds nothing to a proposal. */
const announce = block.emit(({ context, event }) =>
  event.type === 'proposed'
    ? { type: 'block_proposal', data: event.data }
    : { type: 'unknown_event', actor: context.block_hash, event: event.type },
);

const end = (status: BlockEnd) => ({
  type: 'final' as const,
  entry: [close, emitStatus(status)],
});

export const blockMachine = block.createMachine({
  id: 'block',
  context: ({ input }) => input,
  initial: 'voting',
  states: {
    voting: {
      on: {
        proposed: { actions: announce },
        finalized: { target: 'finalized' },
        rejected: { target: 'rejected' },
        expired: { target: 'expired' },
        orphaned: { target: 'orphaned' },
      },
    },
    finalized: end('finalized'),
    rejected: end('rejected'),
    expired: end('expired'),
    orphaned: end('orphaned'),
  },
  on: { '*': { actions: unknown } },
});
