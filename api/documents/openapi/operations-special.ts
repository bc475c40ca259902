/** What is neither a command nor a plain read, as the documents describe it. */
import { MemeId, Type } from '../../../engine/internal.js';
import { ConnectionView, Health, Meta, Verification } from '../../contract/answers.js';
import { socketLimits } from '../../contract/channels.js';
import { ClusterView } from '../../contract/cluster.js';
import { ControlView } from '../../contract/control.js';
import { LoadView } from '../../contract/load.js';
import { ProofView } from '../../contract/proof.js';
import type { SpecialName } from '../../contract/routes.js';
import type { Operation } from './operation.js';
import { pageOperations } from './operations-page.js';

const document = { 'application/json': Type.Object({}) };

export const specialOperations: Record<SpecialName, Operation> = {
  root: {
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
    id: 'getMeta',
    tag: 'network',
    summary: 'Parameters of the network, its position, and the limits in force',
    extension: true,
    answer: Meta,
    reasons: ['QUOTA_USED'],
  },
  meme_content: {
    id: 'getMemeContent',
    tag: 'social',
    summary: "A meme's file",
    text: 'Served with the type that its bytes show. It never changes.',
    extension: true,
    path: [{ name: 'meme_id', text: 'the meme', schema: MemeId }],
    content: { 'image/*': null, 'text/plain': Type.String() },
    reasons: ['UNKNOWN_MEME', 'QUOTA_USED'],
  },
  debug_ws: {
    id: 'getConnection',
    tag: 'debug',
    summary: 'A WebSocket connection, for its owner',
    text: `To everybody else it does not exist. It is kept for
${socketLimits.rememberMs / 1000} seconds after its close.`,
    path: [{ name: 'connection_id', text: 'as in `auth_ok`', schema: Type.String() }],
    answer: ConnectionView,
    signed: true,
    reasons: ['UNKNOWN_CONNECTION', 'QUOTA_USED'],
  },
  debug_verify: {
    id: 'verifyRequest',
    tag: 'debug',
    summary: 'What the server would have verified',
    text: 'Takes a signed request in JSON, changes nothing, and shows the text to be signed.',
    extension: true,
    answer: Verification,
    reasons: ['WRONG_ORIGIN', 'BAD_JSON', 'SCHEMA', 'UNKNOWN_ROUTE', 'QUOTA_USED'],
  },
  control: {
    id: 'getControl',
    tag: 'control',
    summary: 'The clock of the world that is shown, and what can be asked of it',
    extension: true,
    answer: ControlView,
    reasons: ['QUOTA_USED'],
  },
  control_write: {
    id: 'controlWorld',
    tag: 'control',
    summary: 'Pause the world, let it go on, step, end it',
    text: 'For who has the token that the command printed. Nothing of it is in the log.',
    extension: true,
    answer: ControlView,
    token: true,
    reasons: ['WRONG_ORIGIN', 'BAD_TOKEN', 'BAD_JSON', 'SCHEMA', 'NO_CONTROL', 'QUOTA_USED'],
  },
  proof: {
    id: 'getProof',
    tag: 'network',
    summary: 'How far the log is that is recomputed, and the first place where it differs',
    text: 'Of `folkmoot replay DIR --watch`; elsewhere nothing is recomputed, and it is 404.',
    extension: true,
    answer: ProofView,
    reasons: ['UNKNOWN_ROUTE', 'QUOTA_USED'],
  },
  cluster: {
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
    id: 'getLoad',
    tag: 'network',
    summary: 'A load run, while it goes on and once it is over',
    text: `Of \`folkmoot load --watch\`, and of \`folkmoot explore\` on what a load run left;
elsewhere it is 404. Members have the meanings that \`result.json\` has.`,
    extension: true,
    query: [
      {
        name: 'after',
        text: 'the `version` that is known: a later one is waited for, 20 seconds at the most',
        schema: Type.Integer({ minimum: 0 }),
      },
    ],
    answer: LoadView,
    reasons: ['SCHEMA', 'UNKNOWN_ROUTE', 'QUEUE_FULL', 'QUOTA_USED'],
  },
  metrics: {
    id: 'getMetrics',
    tag: 'operations',
    summary: "Metrics in Prometheus' text format",
    extension: true,
    content: { 'text/plain': Type.String() },
    reasons: [],
  },
  live: {
    id: 'getLiveness',
    tag: 'operations',
    summary: 'Whether the process answers',
    extension: true,
    answer: Health,
    reasons: [],
  },
  ready: {
    id: 'getReadiness',
    tag: 'operations',
    summary: 'Whether the server takes requests',
    extension: true,
    answer: Health,
    reasons: ['STOPPING', 'NO_QUORUM', 'CATCHING_UP'],
  },
  openapi: {
    id: 'getOpenapi',
    tag: 'documents',
    summary: 'This document',
    extension: true,
    content: document,
    reasons: [],
  },
  asyncapi: {
    id: 'getAsyncapi',
    tag: 'documents',
    summary: 'The WebSocket interface, as AsyncAPI',
    extension: true,
    content: document,
    reasons: [],
  },
  docs: {
    id: 'getReferencePage',
    tag: 'documents',
    summary: 'This document as a page to read',
    extension: true,
    content: { 'text/html': Type.String() },
    reasons: [],
  },
  docs_socket: {
    id: 'getSocketPage',
    tag: 'documents',
    summary: 'The WebSocket interface as a page to read',
    extension: true,
    content: { 'text/html': Type.String() },
    reasons: [],
  },
  docs_theme: {
    id: 'getReferencePageTheme',
    tag: 'documents',
    summary: 'The script that gives the page its colours',
    extension: true,
    content: { 'text/javascript': Type.String() },
    reasons: [],
  },
  docs_viewer: {
    id: 'getReferencePageViewer',
    tag: 'documents',
    summary: 'The script that shows the page',
    extension: true,
    content: { 'text/javascript': Type.String() },
    reasons: [],
  },
  ...pageOperations,
};
