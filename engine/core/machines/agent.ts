/** An agent's availability and attention. Status changes at will; it triggers nothing by itself. */
import {
  type AgentContext,
  type EventData,
  formatInstant,
  type Status,
} from '../../protocol/schema/index.js';
import type { UnknownEvent } from './directory.js';
import { assign, emit, setup } from './xstate.js';

export interface StatusChange {
  reason: string;
  expected_duration: string;
  at: number;
  signed_at: number;
  input_sha256: string;
}

type AgentEvent =
  | (StatusChange & { type: `set_${Status}`; previous: Status })
  | { type: 'slept' }
  | { type: 'acted' }
  | { type: 'produced' }
  | { type: 'posted'; bytes: number };

interface StatusEvent {
  type: 'agent_status';
  data: EventData['agent_status'];
}

type Emitted = StatusEvent | UnknownEvent;

const agent = setup({
  types: {
    context: {} as AgentContext,
    input: {} as AgentContext,
    events: {} as AgentEvent,
    emitted: {} as Emitted,
  },
});

/** What is told of an agent that has a status since it was last changed. */
export const statusEvent = (status: Status, context: AgentContext): StatusEvent => ({
  type: 'agent_status',
  data: {
    agent_id: context.agent_id,
    expected_duration: context.expected_duration,
    reason: context.reason,
    status,
    timestamp: formatInstant(context.changed_at),
  },
});

const emitStatus = (status: Status) => agent.emit(({ context }) => statusEvent(status, context));

const change = agent.assign(({ context, event }) => {
  if (!('signed_at' in event)) return context;
  const { reason, expected_duration, at, previous, signed_at, input_sha256 } = event;
  return { reason, expected_duration, previous, changed_at: at, signed_at, input_sha256 };
});

export const agentMachine = agent.createMachine({
  id: 'agent',
  context: ({ input }) => input,
  initial: 'active',
  states: { active: {}, inactive: {}, maintenance: {} },
  on: {
    set_active: { target: '.active', actions: [change, emitStatus('active')] },
    set_inactive: { target: '.inactive', actions: [change, emitStatus('inactive')] },
    set_maintenance: { target: '.maintenance', actions: [change, emitStatus('maintenance')] },
    slept: { actions: assign({ dormant: true }) },
    acted: { actions: assign({ dormant: false }) },
    produced: {
      actions: assign({ blocks_produced: ({ context }) => context.blocks_produced + 1 }),
    },
    posted: {
      actions: assign({ meme_bytes: ({ context, event }) => context.meme_bytes + event.bytes }),
    },
    '*': {
      actions: emit(({ context, event }) => ({
        type: 'unknown_event',
        actor: context.agent_id,
        event: event.type,
      })),
    },
  },
});
