/**
 * The routes of a server beside commands and reads of the network: its own state, memes, debugging,
 * control, proofs, the cluster, load runs, operation, documents and the page.
 */
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { Genesis } from '../../engine/protocol/schema/genesis.js';
import {
  AgentId,
  Count,
  Hash,
  MemeId,
  nullable,
  Timestamp,
} from '../../engine/protocol/schema/primitives.js';
import { Epoch, ErrorCodes, Topics } from './answers.js';
import { socketLimits } from './channels.js';
import { ControlView, controlCommands } from './control.js';
import { serverBounds } from './limit-table.js';
import { LoadView } from './load.js';
import { type Declared, idInPath, inPath, whole } from './route.js';

const Text = Type.String();

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

/** A signed request in a JSON envelope, as `debug/verify` takes it. */
export const DebugVerifyBody = Type.Object({
  method: Type.String({ maxLength: 16 }),
  target: Type.String({ maxLength: 2048 }),
  headers: Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: 4096 })),
  body: Type.String(),
});

const ClusterCount = Type.Integer({ minimum: 0 });

const NodeView = Type.Object({
  node: Type.String({ description: 'its name' }),
  alive: Type.Boolean({ description: 'it has told of itself within the last seconds' }),
  since: Type.String({
    ...Timestamp,
    description: 'of one that is alive when it began, else when it last told of itself',
  }),
  batch: Type.Integer({ minimum: 0, description: 'of the order, the last that its folder has' }),
  behind: Type.Integer({ minimum: 0, description: 'how many batches its folder has not' }),
  entry: Type.Integer({ minimum: 0, description: 'of the log, its last' }),
  digest: Hash,
  url: Type.String({ description: 'where its clients find it; may be empty' }),
  version: Type.String({ description: 'of its program' }),
});

const EtcdView = Type.Object({
  members: ClusterCount,
  answering: ClusterCount,
  leader: Type.Boolean({ description: 'one of them leads: else nothing can be ordered' }),
});

export const ClusterView = Type.Object({
  node: Type.String({ description: 'the one that answers' }),
  cut_off_ms: Type.Integer({
    minimum: 0,
    description: 'for how long it has not heard of the order; 0 as long as it does',
  }),
  batches: Type.Integer({ minimum: 0, description: 'of the order, the last it has heard of' }),
  nodes: Type.Array(NodeView, { description: 'all that were not forgotten, by name' }),
  etcd: nullable(EtcdView),
});
/**
 * A network that several nodes keep, as one of them sees it.
 *
 * @interface
 */
export type ClusterShown = Static<typeof ClusterView>;

const Seq = Type.Integer({ minimum: 0 });

const Actor = Type.Object({
  kind: Type.Enum(['agent', 'block', 'alliance', 'meme']),
  id: Text,
  name: nullable(Type.String({ description: "an agent's, where it is known" })),
});

const DivergenceView = Type.Object({
  entry: Seq,
  kind: Type.String({ description: 'of the entry: a command, genesis or tick' }),
  what: Type.Enum(
    ['entry', 'signature', 'outcome', 'event', 'record', 'log_digest', 'digest', 'end'],
    { description: 'what differs' },
  ),
  which: nullable(Type.String({ description: "an event's number, or a record's table and key" })),
  actor: nullable(Actor),
  field: nullable(Type.String({ description: 'the first member that differs, as data.status' })),
  expected: Type.String({ description: 'what follows from the log' }),
  found: Type.String({ description: 'what is stored' }),
});
/**
 * The first place where what is stored and what follows from the log part.
 *
 * @interface
 */
export type DivergenceShown = Static<typeof DivergenceView>;

export const ProofView = Type.Object({
  state: Type.Enum(['running', 'match', 'differs', 'failed'], {
    description: 'failed: the log could not be read to its end',
  }),
  entry: nullable(Type.Integer({ minimum: 0, description: 'the last one that was recomputed' })),
  end: Type.Integer({ minimum: 0, description: 'the last one that is to be' }),
  digest: nullable(Hash),
  log_digest: nullable(Hash),
  signatures: Type.Boolean({ description: 'whether all are verified once more' }),
  records_compared: Type.Boolean({ description: 'false also where a writer went on meanwhile' }),
  divergence: nullable(DivergenceView),
  problem: nullable(Type.String({ description: 'why it failed' })),
});
/**
 * A log that is recomputed, as far as that is.
 *
 * @interface
 */
export type ProofShown = Static<typeof ProofView>;

/** Routes that the limit `read` counts. */
export const serverRoutes = {
  root: {
    path: '/',
    id: 'getRoot',
    tag: 'documents',
    summary: 'Where everything is',
    text: `With \`Accept: application/json\` as 200; else the same with the way to what there is to
read: with \`Accept: text/html\`, as browsers send it, to the page at \`/ui/\`.`,
    extension: true,
    answer: Type.Record(Type.String(), Type.String({ description: 'a path' })),
    redirects: true,
    reasons: ['QUOTA_USED'],
  },
  meta: {
    path: '/api/v1/meta',
    id: 'getMeta',
    tag: 'network',
    summary: 'Parameters of the network, its position, and the limits in force',
    extension: true,
    answer: Meta,
    reasons: ['QUOTA_USED'],
  },
  meme_content: {
    path: '/api/v1/social/memes/{id}/content',
    id: 'getMemeContent',
    tag: 'social',
    summary: "A meme's file",
    text: 'Served with the type that its bytes show. It never changes.',
    extension: true,
    parameters: { meme_id: idInPath('the meme', MemeId, 'meme_') },
    content: { 'image/*': null, 'text/plain': Type.String() },
    reasons: ['UNKNOWN_MEME', 'QUOTA_USED'],
  },
  debug_ws: {
    path: '/api/v1/debug/ws/{connection_id}',
    id: 'getConnection',
    tag: 'debug',
    summary: 'A WebSocket connection, for its owner',
    text: `To everybody else it does not exist. It is kept for
${socketLimits.rememberMs / 1000} seconds after its close.`,
    parameters: { connection_id: inPath('as in `auth_ok`', Text) },
    answer: ConnectionView,
    signed: true,
    reasons: ['UNKNOWN_CONNECTION', 'QUOTA_USED'],
  },
  debug_verify: {
    method: 'POST',
    path: '/api/v1/debug/verify',
    body: DebugVerifyBody,
    bodyBytes: serverBounds.body.debug_verify,
    id: 'verifyRequest',
    tag: 'debug',
    summary: 'What the server would have verified',
    text: 'Takes a signed request in JSON, changes nothing, and shows the text to be signed.',
    extension: true,
    answer: Verification,
    reasons: ['WRONG_ORIGIN', 'BAD_JSON', 'SCHEMA', 'UNKNOWN_ROUTE', 'QUOTA_USED'],
  },
  control: {
    path: '/api/v1/control',
    id: 'getControl',
    tag: 'control',
    summary: 'The clock of the world that is shown, and what can be asked of it',
    extension: true,
    answer: ControlView,
    reasons: ['QUOTA_USED'],
  },
  control_write: {
    method: 'POST',
    path: '/api/v1/control',
    id: 'controlWorld',
    body: Object.values(controlCommands),
    bodyBytes: serverBounds.body.small,
    tag: 'control',
    summary: 'Pause the world, let it go on, step, end it',
    text: 'For who has the token that the command printed. Nothing of it is in the log.',
    extension: true,
    answer: ControlView,
    token: true,
    reasons: ['WRONG_ORIGIN', 'BAD_TOKEN', 'BAD_JSON', 'SCHEMA', 'NO_CONTROL', 'QUOTA_USED'],
  },
  proof: {
    path: '/api/v1/proof',
    id: 'getProof',
    tag: 'network',
    summary: 'How far the log is that is recomputed, and the first place where it differs',
    text: 'Of `folkmoot replay DIR --watch`; elsewhere nothing is recomputed, and it is 404.',
    extension: true,
    answer: ProofView,
    reasons: ['UNKNOWN_ROUTE', 'QUOTA_USED'],
  },
  cluster: {
    path: '/api/v1/cluster',
    id: 'getCluster',
    tag: 'network',
    summary: 'The nodes that keep the network together, as the one that answers sees them',
    text: `Of \`folkmoot serve --cluster\`; elsewhere one process keeps it, and it is 404. \`etcd\`
is null where it did not answer in time; the nodes are then those that were known last.`,
    extension: true,
    answer: ClusterView,
    reasons: ['UNKNOWN_ROUTE', 'QUOTA_USED'],
  },
  load: {
    path: '/api/v1/load',
    id: 'getLoad',
    tag: 'network',
    summary: 'A load run, while it goes on and once it is over',
    text: `Of \`folkmoot load --watch\`, and of \`folkmoot explore\` on what a load run left;
elsewhere it is 404. Members have the meanings that \`result.json\` has.`,
    extension: true,
    query: {
      after: whole(
        'the `version` that is known: a later one is waited for, 20 seconds at the most',
        'a whole number',
      ),
    },
    answer: LoadView,
    reasons: ['SCHEMA', 'UNKNOWN_ROUTE', 'QUEUE_FULL', 'QUOTA_USED'],
  },
} as const satisfies Readonly<Record<string, Declared>>;

/** For the operator's programs. */
export const operatorRoutes = {
  metrics: {
    path: '/metrics',
    id: 'getMetrics',
    tag: 'operations',
    summary: "Metrics in Prometheus' text format",
    extension: true,
    content: { 'text/plain': Type.String() },
    reasons: [],
  },
  live: {
    path: '/healthz',
    id: 'getLiveness',
    tag: 'operations',
    summary: 'Whether the process answers',
    extension: true,
    answer: Health,
    reasons: [],
  },
  ready: {
    path: '/readyz',
    id: 'getReadiness',
    tag: 'operations',
    summary: 'Whether the server takes requests',
    extension: true,
    answer: Health,
    reasons: ['STOPPING', 'NO_QUORUM', 'CATCHING_UP'],
  },
} as const satisfies Readonly<Record<string, Declared>>;

/** The documents, the page that shows one of them, and its scripts. */
export const documentRoutes = {
  openapi: {
    path: '/openapi.json',
    id: 'getOpenapi',
    tag: 'documents',
    summary: 'This document',
    extension: true,
    content: { 'application/json': Type.Object({}) },
    reasons: [],
  },
  asyncapi: {
    path: '/asyncapi.json',
    id: 'getAsyncapi',
    tag: 'documents',
    summary: 'The WebSocket interface, as AsyncAPI',
    extension: true,
    content: { 'application/json': Type.Object({}) },
    reasons: [],
  },
  docs: {
    path: '/docs',
    id: 'getReferencePage',
    tag: 'documents',
    summary: 'This document as a page to read',
    extension: true,
    content: { 'text/html': Type.String() },
    reasons: [],
  },
  docs_socket: {
    path: '/docs/socket',
    id: 'getSocketPage',
    tag: 'documents',
    summary: 'The WebSocket interface as a page to read',
    extension: true,
    content: { 'text/html': Type.String() },
    reasons: [],
  },
  docs_theme: {
    path: '/docs/theme.js',
    id: 'getReferencePageTheme',
    tag: 'documents',
    summary: 'The script that gives the page its colours',
    extension: true,
    content: { 'text/javascript': Type.String() },
    reasons: [],
  },
  docs_viewer: {
    path: '/docs/rapidoc-min.js',
    id: 'getReferencePageViewer',
    tag: 'documents',
    summary: 'The script that shows the page',
    extension: true,
    content: { 'text/javascript': Type.String() },
    reasons: [],
  },
} as const satisfies Readonly<Record<string, Declared>>;

const pageOf = (path: string, id: string, summary: string): Declared => ({
  ...{ path, id, tag: 'documents', summary, extension: true },
  content: { 'text/html': Text },
  reasons: ['UNKNOWN_ROUTE'],
});

const viewInPath = inPath('of the page, as in its address', Text);

export type DocumentName = keyof typeof documentRoutes;

/** The page that shows a network, under each of its paths the same, and its files. */
export const pageRoutes = {
  page_bare: pageOf('/ui', 'getPageBare', 'The same page'),
  page: {
    ...pageOf('/ui/', 'getPage', 'The page that shows the network, live and at any entry'),
    text: 'Not there where the server was told to do without. What it is made of is packed ahead.',
  },
  page_asset: {
    ...pageOf('/ui/assets/{file}', 'getPageAsset', 'What the page is made of'),
    text: 'Its name changes with what is in it, so it may be kept for ever.',
    parameters: { file: inPath('a name as the page has it', Text) },
    content: { 'text/javascript': Text, 'text/css': Text },
  },
  page_view: {
    ...pageOf('/ui/{view}', 'getPageView', 'The same page, which finds its view by its address'),
    parameters: { view: viewInPath },
  },
  page_item: {
    ...pageOf('/ui/{view}/{item}', 'getPageItem', 'The same page, at one thing in a view'),
    parameters: { view: viewInPath, item: inPath('what it shows: a hash or an id', Text) },
  },
} as const satisfies Readonly<Record<string, Declared>>;
