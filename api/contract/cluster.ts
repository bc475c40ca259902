/** What is shown of a network that several nodes keep: which there are, and how far each is. */
import { Hash, nullable, type Static, Timestamp, Type } from '../../engine/internal.js';

const Count = Type.Integer({ minimum: 0 });

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
  members: Count,
  answering: Count,
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
