/** The WebSocket's tables: client messages with their schemas, topics, and close codes. */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { eventTopics } from '../../engine/protocol/schema/event.js';

/** Where a server takes WebSockets. */
export const socketPath = '/ws/v1';

/** The topics that can be subscribed to. */
export const topics: ReadonlySet<string> = new Set(Object.values(eventTopics).flat());

const Topics = Type.Array(Type.String({ maxLength: 32 }), { minItems: 1, maxItems: 16 });

/** What a client may send, by `type`. */
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

/** Why a connection is closed, and whether trying again makes sense. */
export const closeCodes = {
  stopping: { code: 1001, meaning: 'server stopping', retry: 'yes' },
  tooLarge: { code: 1009, meaning: 'message too large', retry: 'no' },
  slow: { code: 1013, meaning: 'slow consumer: never a silent hole', retry: 'yes, resume' },
  malformed: { code: 4400, meaning: 'malformed, third time', retry: 'no' },
  unauthenticated: { code: 4401, meaning: 'not authenticated, bad signature', retry: 'once' },
  unknownAgent: { code: 4403, meaning: 'agent unknown, or nothing is written here', retry: 'no' },
  notWatched: { code: 4405, meaning: 'nobody may watch here', retry: 'no' },
  authTimeout: { code: 4408, meaning: 'no auth in time', retry: 'yes' },
  tooMany: { code: 4409, meaning: 'a newer connection took its place', retry: 'no' },
  tooFast: { code: 4429, meaning: 'too many messages, third warning', retry: 'after 60 s' },
  crowded: { code: 4430, meaning: 'the address has too many that watch', retry: 'after 60 s' },
  damaged: { code: 4503, meaning: 'the history asked for cannot be read', retry: 'no' },
} as const;

export const socketLimits = {
  messageBytes: 16 * 1024,
  /** Of a message before an `auth` was accepted. */
  unauthenticatedBytes: 4 * 1024,
  /** Connections of one address before an `auth` was accepted, by the profile `spec`. */
  unauthenticatedPerAddress: 64,
  /** What may wait while a signature is verified or a replay is counted. */
  waitingMessages: 32,
  waitingBytes: 64 * 1024,
  /** Of a message that the transport reads at all, also in pieces. */
  transportBytes: 64 * 1024,
  /** Pieces of a message. */
  fragments: 64,
  /** What waits for a peer that does not read; what is dropped beyond ends the connection. */
  backlogBytes: 1024 * 1024,
  /** Not a sign of life, not even an answer to a ping: it is over. */
  silenceSeconds: 120,
  authMs: 10_000,
  heartbeatMs: 30_000,
  missedHeartbeats: 2,
  connectionsPerAgent: 4,
  messagesPerMinute: 100,
  /** Pings and pongs. */
  controlsPerMinute: 100,
  warnings: 3,
  malformed: 3,
  /** How long a closed connection can still be asked about. */
  rememberMs: 300_000,
} as const;

/** What watchers are sent, and how many there may be. */
export const watchLimits = {
  /** Connections of one address that watch, by the profile `spec`. */
  perAddress: 32,
  /** Between two frames, unless a watcher asks for fewer. */
  everyMs: 100,
  /** Of one frame: rows, texts that were said, and bytes, but never less than one entry. */
  frameRows: 16_384,
  frameSaid: 50,
  frameBytes: 256 * 1024,
  /** Frames that are kept for who is a little behind. */
  keptFrames: 64,
  keptBytes: 4 * 1024 * 1024,
  /** A socket that buffers more than this is not sent any until it drains. */
  backlogBytes: 256 * 1024,
} as const;
