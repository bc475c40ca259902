/** Shapes of the answers of reads, debug endpoints and acknowledgements on the WebSocket. */
import {
  AgentId,
  AgentList,
  AgentView,
  BlockView,
  Count,
  type EventType,
  eventData,
  Genesis,
  Hash,
  NetworkState,
  nullable,
  ProposalBody,
  PublicKey,
  ReputationView,
  reasons,
  records,
  Timestamp,
  type TSchema,
  Type,
  VoteBody,
} from '../../engine/internal.js';
import { WorldView } from './control.js';

const Text = Type.String();
/** What the next page is asked for with; null on the last. */
const next_cursor = nullable(Text);
const Epoch = Type.String({ description: 'names the history that event numbers belong to' });
const Topics = Type.Array(Text);

/** An event as it is published, by type. */
export const eventShapes = Object.fromEntries(
  Object.entries(eventData).map(([type, data]) => [
    type,
    Type.Object({ type: Type.Literal(type), data, seq: Type.Integer({ minimum: 1 }) }),
  ]),
) as Partial<Record<EventType, TSchema>> as Record<EventType, TSchema>;

/** The data of each read, by its name in the route table. */
export const readAnswers = {
  state: NetworkState,
  agents: AgentList,
  reputation: ReputationView,
  agent: AgentView,
  blocks: Type.Object({ blocks: Type.Array(BlockView), next_cursor }),
  block: Type.Object({
    ...BlockView.properties,
    entry: Type.Integer({ description: 'of the log, by which it was proposed' }),
    proposal: ProposalBody,
    public_key: PublicKey,
  }),
  votes: Type.Object({
    block_hash: Hash,
    electorate: Type.Array(
      Type.Object({ agent_id: AgentId, public_key: PublicKey, weight: Count }),
    ),
    votes: Type.Array(Type.Object({ public_key: PublicKey, vote: VoteBody })),
    next_cursor,
  }),
  transactions: Type.Object({
    hash: Hash,
    status: Type.Literal('finalized'),
    signers: Type.Array(Type.Object({ signer: PublicKey, ...records.transactions.properties })),
    next_cursor,
  }),
  stateValue: Type.Object({ key: Text, ...records.state.properties }),
  alliances: Type.Object({ alliances: Type.Array(eventData.alliance_update), next_cursor }),
  events: Type.Object({
    events: Type.Array(Type.Union(Object.values(eventShapes))),
    epoch: Epoch,
    last_seq: Count,
    next_cursor,
  }),
} as const;

export type ReadName = keyof typeof readAnswers;

export const Meta = Type.Object({
  version: Text,
  ...Genesis.properties,
  epoch: Epoch,
  schema_version: Count,
  seq: Count,
  event_seq: Count,
  digest: Hash,
  log_digest: Hash,
  durable: Type.Boolean(),
  limits: Type.Object({
    profile: Type.Enum(['spec', 'bench', 'off']),
    per_minute: Type.Record(Text, Count),
    windows: Type.Record(
      Text,
      Type.Object({
        quota: Count,
        window_s: Count,
        counted_for: Type.Enum(['agent', 'address', 'claim']),
        unit: Type.Enum(['requests', 'units', 'bytes']),
      }),
    ),
    body_bytes: Type.Record(Text, Count),
    bodies_under_way_bytes: Count,
    bodies_of_address_bytes: Count,
    json_values: Count,
    unknown_members_bytes: Count,
    page_bytes: Count,
    early_proposals: Type.Object({ most: Count, most_of_one: Count, ms: Count }),
  }),
});

export const Health = Type.Object({ status: Type.Literal('ok') });

export const ConnectionView = Type.Object({
  connection_id: Text,
  agent_id: AgentId,
  state: Type.Enum(['open', 'closed']),
  connected_at: Timestamp,
  authenticated_at: Timestamp,
  topics: Topics,
  last_seq_sent: Count,
  messages_in: Count,
  messages_out: Count,
  bytes_out: Count,
  buffered_bytes: Count,
  closed: nullable(Type.Object({ code: Count, reason: Text, at: Timestamp })),
});

const codes = [...new Set(Object.values(reasons).map(({ code }) => code))];
const ErrorCodes = Type.Enum(codes);

/** Either what was verified, or why it did not come so far; both where a signature fails. */
export const Verification = Type.Object({
  valid: Type.Boolean(),
  kind: Type.Optional(Text),
  signing_input: Type.Optional(
    Type.String({ description: 'the text that the signature must cover' }),
  ),
  expected_input_sha256: Type.Optional(Hash),
  body_sha256: Type.Optional(Hash),
  request_target: Type.Optional(Text),
  server_time: Type.Optional(Timestamp),
  skew_ms: Type.Optional(Type.Integer()),
  code: Type.Optional(ErrorCodes),
  reason: Type.Optional(Text),
  message: Type.Optional(Text),
  pointer: Type.Optional(nullable(Text)),
  mistake: Type.Optional(Type.String({ description: 'a common one that explains the signature' })),
  unknown: Type.Array(
    Type.Object({
      at: Type.String({ description: 'JSON Pointer into the body, or `?` and a query parameter' }),
      closest: nullable(
        Type.String({ description: 'the known name that is probably meant, written likewise' }),
      ),
    }),
    { description: 'names that the protocol does not know; as in `Folkmoot-Unknown`' },
  ),
});

/** What helps the caller to go on; `request_id` is there over HTTP. */
export const ErrorDetails = Type.Object({
  reason: Type.Enum(Object.keys(reasons)),
  pointer: Type.Optional(Type.String({ description: 'JSON Pointer to the offending field' })),
  request_id: Type.Optional(Type.String({ description: 'as in X-Request-Id' })),
});

export const ErrorBody = Type.Object({ code: ErrorCodes, message: Text, details: ErrorDetails });

/** A signed request in a JSON envelope, as `debug/verify` takes it. */
export const DebugVerifyBody = Type.Object({
  method: Type.String({ maxLength: 16 }),
  target: Type.String({ maxLength: 2048 }),
  headers: Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: 4096 })),
  body: Type.String(),
});

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
