/** Schemas for published events, errors, watch messages and WebSocket acknowledgements. */
import { Type } from '../../engine/protocol/bundled/typebox.js';
import { type Event, eventShapes } from '../../engine/protocol/schema/event.js';
import { AgentId, Count, Timestamp } from '../../engine/protocol/schema/primitives.js';
import { reasons } from '../../engine/protocol/schema/reason.js';
import { WorldView } from './control.js';

const Text = Type.String();
export const Epoch = Type.String({
  description: 'identifies the history to which the event numbers belong',
});
export const Topics = Type.Array(Text);

export const PublishedEvent = Type.Unsafe<Event>(Type.Union(Object.values(eventShapes)));

const codes = [...new Set(Object.values(reasons).map(({ code }) => code))];
export const ErrorCodes = Type.Enum(codes);

/** Error details. HTTP responses include `request_id`. */
export const ErrorDetails = Type.Object({
  reason: Type.Enum(Object.keys(reasons)),
  pointer: Type.Optional(Type.String({ description: 'JSON Pointer to the offending field' })),
  request_id: Type.Optional(Type.String({ description: 'the value of X-Request-Id' })),
});

export const ErrorBody = Type.Object({ code: ErrorCodes, message: Text, details: ErrorDetails });

const Entry = Type.Integer({ minimum: 0 });

/** Unknown members in the client's message. Absent if all members are known. */
const unknown = Type.Optional(
  Type.Array(Text, { description: 'JSON Pointers to unknown members, which the server ignored' }),
);

/** Messages to a watcher, in addition to binary frames. */
export const tellings = {
  watching: {
    text: 'Watching has started. Frames of the entries after `entry` follow.',
    shape: Type.Object({ type: Type.Literal('watching'), entry: Entry, epoch: Epoch, unknown }),
  },
  skipped: {
    text: 'The watcher is too slow; the server skipped these entries. Read them over HTTP.',
    shape: Type.Object({ type: Type.Literal('skipped'), from: Entry, to: Entry }),
  },
  clock: {
    text: 'The world clock was paused, resumed, finished or lost.',
    shape: Type.Object({ type: Type.Literal('clock'), ...WorldView.properties }),
  },
} as const;

export const acknowledgements = {
  auth_ok: Type.Object({
    connection_id: Text,
    agent_id: AgentId,
    epoch: Epoch,
    last_seq: Count,
    heartbeat_ms: Count,
    unknown,
  }),
  subscribed: Type.Object({
    topics: Topics,
    epoch: Epoch,
    last_seq: Count,
    replay: Type.Integer({ minimum: 0, description: 'missed events that the server sends next' }),
    gap: Type.Boolean(),
    unknown,
  }),
  unsubscribed: Type.Object({ topics: Topics, unknown }),
  pong: Type.Object({
    id: Type.Union([Text, Type.Number()]),
    server_time: Timestamp,
    unknown,
  }),
} as const;
