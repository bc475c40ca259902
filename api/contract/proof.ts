/** What is shown of a log that is recomputed: how far it is, and where it differs first. */
import { Hash, nullable, type Static, Type } from '../../engine/internal.js';

const Text = Type.String();
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
