/**
 * Routes other than commands and network reads: server state, memes, debugging, control, proofs,
 * cluster, load runs, operations, documents and the page.
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
import { ControlView, controlCommands, GalleryView, RunsView } from './control.js';
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
        counted_for: Type.Enum(['agent', 'address']),
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

/** Verification result, or the reason why verification stopped early. */
export const Verification = Type.Object({
  valid: Type.Boolean(),
  kind: Type.Optional(Text),
  signing_input: Type.Optional(Type.String({ description: 'text that the signature must cover' })),
  expected_input_sha256: Type.Optional(Hash),
  body_sha256: Type.Optional(Hash),
  request_target: Type.Optional(Text),
  server_time: Type.Optional(Timestamp),
  skew_ms: Type.Optional(Type.Integer()),
  code: Type.Optional(ErrorCodes),
  reason: Type.Optional(Text),
  message: Type.Optional(Text),
  pointer: Type.Optional(nullable(Text)),
  mistake: Type.Optional(
    Type.String({ description: 'common mistake that explains the invalid signature' }),
  ),
  unknown: Type.Array(
    Type.Object({
      at: Type.String({ description: 'JSON Pointer into the body, or `?` and a query parameter' }),
      closest: nullable(Type.String({ description: 'closest known name, in the same notation' })),
    }),
    { description: 'unknown names, as in `Folkmoot-Unknown`' },
  ),
});

/** A signed request in a JSON envelope, used as the body of `debug/verify`. */
export const DebugVerifyBody = Type.Object({
  method: Type.String({ maxLength: 16 }),
  target: Type.String({ maxLength: 2048 }),
  headers: Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: 4096 })),
  body: Type.String(),
});

const ClusterCount = Type.Integer({ minimum: 0 });

const NodeView = Type.Object({
  node: Type.String({ description: 'node name' }),
  alive: Type.Boolean({ description: 'true if the node reported within the last seconds' }),
  since: Type.String({
    ...Timestamp,
    description: 'start time of a live node, else the time of its last report',
  }),
  batch: Type.Integer({
    minimum: 0,
    description: 'last batch of the order in the data folder of the node',
  }),
  behind: Type.Integer({ minimum: 0, description: 'number of batches that the node lags behind' }),
  entry: Type.Integer({ minimum: 0, description: 'last log entry' }),
  digest: Hash,
  url: Type.String({ description: 'URL for clients; may be empty' }),
  version: Type.String({ description: 'software version' }),
});

const EtcdView = Type.Object({
  members: ClusterCount,
  answering: ClusterCount,
  leader: Type.Boolean({
    description: 'true if the members have a leader; without one, no request can be ordered',
  }),
});

export const ClusterView = Type.Object({
  node: Type.String({ description: 'name of the responding node' }),
  cut_off_ms: Type.Integer({
    minimum: 0,
    description:
      'milliseconds since the responding node lost contact with the order; 0 while connected',
  }),
  batches: Type.Integer({
    minimum: 0,
    description: 'last batch of the order known to the responding node',
  }),
  nodes: Type.Array(NodeView, { description: 'all known nodes, sorted by name' }),
  etcd: nullable(EtcdView),
});
/** Cluster status as seen by the responding node. @interface */
export type ClusterView = Static<typeof ClusterView>;

/** Routes that count against the limit `read`. */
export const serverRoutes = {
  root: {
    path: '/',
    id: 'getRoot',
    tag: 'documents',
    summary: 'List of endpoints',
    text: `With \`Accept: application/json\`: 200 and the endpoints. Else a redirect to the
documentation; with \`Accept: text/html\`, as browsers send, to the page at \`/ui/\`.`,
    extension: true,
    answer: Type.Record(Type.String(), Type.String({ description: 'a path' })),
    redirects: true,
    reasons: ['QUOTA_USED'],
  },
  meta: {
    path: '/api/v1/meta',
    id: 'getMeta',
    tag: 'network',
    summary: 'Network parameters, current position and effective limits',
    extension: true,
    answer: Meta,
    reasons: ['QUOTA_USED'],
  },
  meme_content: {
    path: '/api/v1/social/memes/{id}/content',
    id: 'getMemeContent',
    tag: 'social',
    summary: "A meme's file",
    text: 'The media type is detected from the bytes. The content never changes.',
    extension: true,
    parameters: { meme_id: idInPath('meme id', MemeId, 'meme_') },
    content: { 'image/*': null, 'text/plain': Type.String() },
    reasons: ['UNKNOWN_MEME', 'QUOTA_USED'],
  },
  debug_ws: {
    path: '/api/v1/debug/ws/{connection_id}',
    id: 'getConnection',
    tag: 'debug',
    summary: 'State of a WebSocket connection',
    text: `Only the agent of the connection can read it; others get 404. A closed connection is kept
for ${socketLimits.rememberMs / 1000} seconds.`,
    parameters: { connection_id: inPath('`connection_id` of `auth_ok`', Text) },
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
    summary: 'Check how the server verifies a request',
    text: 'Takes a signed request as JSON and returns the text to sign. Has no side effects.',
    extension: true,
    answer: Verification,
    reasons: ['WRONG_ORIGIN', 'BAD_JSON', 'SCHEMA', 'MEDIA_TYPE', 'UNKNOWN_ROUTE', 'QUOTA_USED'],
  },
  control: {
    path: '/api/v1/control',
    id: 'getControl',
    tag: 'control',
    summary: 'State of the clock and the supported control commands',
    extension: true,
    answer: ControlView,
    reasons: ['QUOTA_USED'],
  },
  runs: {
    path: '/api/v1/runs',
    id: 'listRuns',
    tag: 'control',
    summary: 'Runs of the scenario that the page started',
    text: `Available where \`can\` has \`run\`; else 409. Lists the parameters of the scenario, the
started runs, and their differences from the scenario as given, by pairs of equal seeds.`,
    extension: true,
    answer: RunsView,
    reasons: ['NO_CONTROL', 'QUOTA_USED'],
  },
  gallery: {
    path: '/api/v1/gallery',
    id: 'listGallery',
    tag: 'control',
    summary: 'Shipped scenarios that the page can run',
    text: `Available where \`can\` has \`watch\`; else 409. Only a request with the control token
gets the address of a started run.`,
    extension: true,
    answer: GalleryView,
    reasons: ['NO_CONTROL', 'QUOTA_USED'],
  },
  control_write: {
    method: 'POST',
    path: '/api/v1/control',
    id: 'controlWorld',
    body: Object.values(controlCommands),
    bodyBytes: serverBounds.body.small,
    tag: 'control',
    summary: 'Pause, resume, step or stop the world',
    text: 'Requires the control token that the command printed. The log does not record it.',
    extension: true,
    answer: ControlView,
    token: true,
    reasons: [
      ...(['WRONG_ORIGIN', 'BAD_TOKEN', 'BAD_JSON', 'SCHEMA', 'MEDIA_TYPE'] as const),
      ...(['NO_CONTROL', 'QUOTA_USED'] as const),
    ],
  },
  cluster: {
    path: '/api/v1/cluster',
    id: 'getCluster',
    tag: 'network',
    summary: 'Cluster status as seen by the responding node',
    text: `Available with \`folkmoot serve --cluster\`; else 404. If etcd did not answer in time,
\`etcd\` is null and the nodes are the last known ones.`,
    extension: true,
    answer: ClusterView,
    reasons: ['UNKNOWN_ROUTE', 'QUOTA_USED'],
  },
  load: {
    path: '/api/v1/load',
    id: 'getLoad',
    tag: 'network',
    summary: 'State and results of a load run',
    text: `Available with \`folkmoot load --watch\`, and with \`folkmoot explore\` on the output of
a load run; else 404. It contains the facts, tables and charts that the page shows.`,
    extension: true,
    query: {
      after: whole(
        'last known `version`; the server waits up to 20 seconds for a later one',
        'a whole number',
      ),
    },
    answer: LoadView,
    reasons: ['SCHEMA', 'UNKNOWN_ROUTE', 'QUEUE_FULL', 'QUOTA_USED'],
  },
} as const satisfies Readonly<Record<string, Declared>>;

/** Routes for the operator's tools. */
export const operatorRoutes = {
  metrics: {
    path: '/metrics',
    id: 'getMetrics',
    tag: 'operations',
    summary: 'Metrics in the Prometheus text format',
    extension: true,
    content: { 'text/plain': Type.String() },
    reasons: [],
  },
  live: {
    path: '/healthz',
    id: 'getLiveness',
    tag: 'operations',
    summary: 'Liveness check',
    extension: true,
    answer: Health,
    reasons: [],
  },
  ready: {
    path: '/readyz',
    id: 'getReadiness',
    tag: 'operations',
    summary: 'Readiness check',
    extension: true,
    answer: Health,
    reasons: ['STOPPING', 'NO_QUORUM', 'CATCHING_UP'],
  },
} as const satisfies Readonly<Record<string, Declared>>;

const documentOf = (path: string, id: string, summary: string, type: string): Declared => ({
  ...{ path, id, tag: 'documents', summary, extension: true },
  content: { [type]: type === 'application/json' ? Type.Object({}) : Type.String() },
  reasons: [],
});

const [json, html, script] = ['application/json', 'text/html', 'text/javascript'] as const;

export const documentRoutes = {
  openapi: documentOf('/openapi.json', 'getOpenapi', 'This document', json),
  asyncapi: documentOf(
    '/asyncapi.json',
    'getAsyncapi',
    'The WebSocket interface, as AsyncAPI',
    json,
  ),
  docs: documentOf('/docs', 'getReferencePage', 'Reference page of this document', html),
  docs_socket: documentOf(
    '/docs/socket',
    'getSocketPage',
    'Reference page of the WebSocket interface',
    html,
  ),
  docs_theme: documentOf(
    '/docs/theme.js',
    'getReferencePageTheme',
    'Theme script of the reference pages',
    script,
  ),
  docs_viewer: documentOf(
    '/docs/rapidoc-min.js',
    'getReferencePageViewer',
    'Viewer script of the reference page',
    script,
  ),
} as const satisfies Readonly<Record<string, Declared>>;

const pageOf = (path: string, id: string, summary: string): Declared => ({
  ...documentOf(path, id, summary, html),
  reasons: ['UNKNOWN_ROUTE'],
});

const viewInPath = inPath('name of the view', Text);

export type DocumentName = keyof typeof documentRoutes;

/** The web page (the same file under each of its paths) and its assets. */
export const pageRoutes = {
  page_bare: pageOf('/ui', 'getPageBare', 'Web page, without the trailing slash'),
  page: {
    ...pageOf('/ui/', 'getPage', 'Web page of the network, live and at any entry'),
    text: 'Absent if the server was started without the page.',
  },
  page_asset: {
    ...pageOf('/ui/assets/{file}', 'getPageAsset', 'Asset of the web page'),
    text: 'The file name contains a digest, so clients may cache the file indefinitely.',
    parameters: { file: inPath('name of the asset', Text) },
    content: { 'text/javascript': Text, 'text/css': Text },
  },
  page_view: {
    ...pageOf('/ui/{view}', 'getPageView', 'Web page, at a view'),
    parameters: { view: viewInPath },
  },
  page_item: {
    ...pageOf('/ui/{view}/{item}', 'getPageItem', 'Web page, at one item of a view'),
    parameters: { view: viewInPath, item: inPath('hash or id of the item', Text) },
  },
} as const satisfies Readonly<Record<string, Declared>>;
