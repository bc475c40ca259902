/** The WebSocket contract: client messages, topics, close codes and limits. */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { eventTopics } from '../../engine/protocol/schema/event.js';

export const socketPath = '/ws/v1';

export const topics: ReadonlySet<string> = new Set(Object.values(eventTopics).flat());

const Topics = Type.Array(Type.String({ maxLength: 32 }), { minItems: 1, maxItems: 16 });

export const clientMessages = {
  auth: Type.Object({
    type: Type.Literal('auth'),
    public_key: Type.String({ maxLength: 256 }),
    timestamp: Type.String({ maxLength: 64 }),
    signature: Type.String({ maxLength: 512 }),
  }),
  subscribe: Type.Object({
    type: Type.Literal('subscribe'),
    topics: Topics,
    since: Type.Optional(
      Type.Object({ epoch: Type.String({ maxLength: 64 }), seq: Type.Integer({ minimum: 0 }) }),
    ),
  }),
  unsubscribe: Type.Object({ type: Type.Literal('unsubscribe'), topics: Topics }),
  watch: Type.Object({
    type: Type.Literal('watch'),
    since: Type.Optional(Type.Integer({ minimum: -1 })),
    every_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 60_000 })),
  }),
  ping: Type.Object({
    type: Type.Literal('ping'),
    id: Type.Union([Type.String({ maxLength: 128 }), Type.Number()]),
  }),
} as const;

export type ClientMessage = {
  [K in keyof typeof clientMessages]: Static<(typeof clientMessages)[K]>;
};

/** Close codes, with advice on reconnecting. */
export const closeCodes = {
  stopping: { code: 1001, meaning: 'server stopping', retry: 'yes' },
  tooLarge: { code: 1009, meaning: 'message too large', retry: 'no' },
  slow: {
    code: 1013,
    meaning: 'slow consumer; resume to receive the missed events',
    retry: 'yes, resume',
  },
  malformed: { code: 4400, meaning: 'third malformed message within 60 s', retry: 'no' },
  unauthenticated: {
    code: 4401,
    meaning: 'missing authentication or invalid signature',
    retry: 'once',
  },
  unknownAgent: { code: 4403, meaning: 'unknown agent, or a read-only server', retry: 'no' },
  notWatched: { code: 4405, meaning: 'watching disabled', retry: 'no' },
  authTimeout: { code: 4408, meaning: 'authentication timeout', retry: 'yes' },
  tooMany: { code: 4409, meaning: 'replaced by a newer connection', retry: 'no' },
  tooFast: { code: 4429, meaning: 'message rate exceeded, third warning', retry: 'after 60 s' },
  crowded: { code: 4430, meaning: 'too many watchers from this address', retry: 'after 60 s' },
  damaged: { code: 4503, meaning: 'the requested history is damaged', retry: 'no' },
} as const;

export const socketLimits = {
  messageBytes: 16 * 1024,
  /** Maximum message size before `auth` succeeds. */
  unauthenticatedBytes: 4 * 1024,
  /** Connections per address without a successful `auth`, in profile `spec`. */
  unauthenticatedPerAddress: 64,
  /** Messages that can be queued during signature verification or replay counting. */
  waitingMessages: 32,
  waitingBytes: 64 * 1024,
  /** Maximum message size that the transport accepts, including fragmented messages. */
  transportBytes: 64 * 1024,
  fragments: 64,
  /** Send buffer of a connection, which is closed if a message does not fit. */
  backlogBytes: 1024 * 1024,
  /** Time after which a connection that sent nothing, not even a pong, is closed. */
  silenceSeconds: 120,
  authMs: 10_000,
  heartbeatMs: 30_000,
  missedHeartbeats: 2,
  /** Except with limits `off`, like the next two. */
  connectionsPerAgent: 4,
  messagesPerMinute: 100,
  controlsPerMinute: 100,
  warnings: 3,
  malformed: 3,
  /** Retention time for a closed connection's debug record. */
  rememberMs: 300_000,
} as const;

/** Limits on watching: connections and frames. */
export const watchLimits = {
  /** Watching connections per address, in profile `spec`. */
  perAddress: 32,
  /** Default interval between frames. */
  everyMs: 100,
  /** Limits per frame: rows, message texts and bytes. A frame contains at least one entry. */
  frameRows: 16_384,
  frameSaid: 50,
  frameBytes: 256 * 1024,
  /** Number of frames cached for watchers that lag slightly. */
  keptFrames: 64,
  keptBytes: 4 * 1024 * 1024,
  /** A watcher that buffers more than this receives no frame until its socket drains. */
  backlogBytes: 256 * 1024,
} as const;
