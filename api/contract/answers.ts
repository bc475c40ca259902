/** The shapes of published events, of errors, and of acknowledgements on the WebSocket. */
import { type TSchema, Type } from '../../engine/protocol/bundled/typebox.js';
import { type Event, type EventType, eventData } from '../../engine/protocol/schema/event.js';
import { AgentId, Count, Timestamp } from '../../engine/protocol/schema/primitives.js';
import { reasons } from '../../engine/protocol/schema/reason.js';
import { WorldView } from './control.js';

const Text = Type.String();
export const Epoch = Type.String({ description: 'names the history that event numbers belong to' });
export const Topics = Type.Array(Text);

/** An event as it is published, by type. */
export const eventShapes = Object.fromEntries(
  Object.entries(eventData).map(([type, data]) => [
    type,
    Type.Object({ type: Type.Literal(type), data, seq: Type.Integer({ minimum: 1 }) }),
  ]),
) as Partial<Record<EventType, TSchema>> as Record<EventType, TSchema>;

/** An event of any type. */
export const PublishedEvent = Type.Unsafe<Event>(Type.Union(Object.values(eventShapes)));

const codes = [...new Set(Object.values(reasons).map(({ code }) => code))];
export const ErrorCodes = Type.Enum(codes);

/** What helps the caller to go on; `request_id` is there over HTTP. */
export const ErrorDetails = Type.Object({
  reason: Type.Enum(Object.keys(reasons)),
  pointer: Type.Optional(Type.String({ description: 'JSON Pointer to the offending field' })),
  request_id: Type.Optional(Type.String({ description: 'as in X-Request-Id' })),
});

export const ErrorBody = Type.Object({ code: ErrorCodes, message: Text, details: ErrorDetails });

const Entry = Type.Integer({ minimum: 0 });

/** Members of the message that the server does not know, only if there are any. */
const unknown = Type.Optional(
  Type.Array(Text, { description: 'JSON Pointers to members that were ignored' }),
);

/** What who watches is told, besides frames. */
export const tellings = {
  watching: {
    text: 'Frames follow, of entries after `entry`.',
    shape: Type.Object({ type: Type.Literal('watching'), entry: Entry, epoch: Epoch, unknown }),
  },
  skipped: {
    text: 'A slow watcher is not sent these entries: whoever wants them asks for them.',
    shape: Type.Object({ type: Type.Literal('skipped'), from: Entry, to: Entry }),
  },
  clock: {
    text: 'The clock of the world that is shown was paused, goes on, or is over; or it is lost.',
    shape: Type.Object({ type: Type.Literal('clock'), ...WorldView.properties }),
  },
} as const;

/** The data of each acknowledgement on the WebSocket. */
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
    replay: Type.Integer({ minimum: 0, description: 'events to come that were missed' }),
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
