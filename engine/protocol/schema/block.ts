/**
 * Members of a block that pass through unchanged: from the command to the record, and from the
 * record to the events and the view. Their schemas are built of these tables, and their values are
 * picked by them, so that a member that is added here reaches each of them.
 */
import { type Static, type TProperties, Type } from '../bundled/typebox.js';
import { Count, Hash } from './primitives.js';

/** Those of the proposal, as its admission leaves them. */
export const proposedFields = { parent_hash: Hash };
/** Those of the block. */
export const blockFields = { block_hash: Hash, ...proposedFields, height: Count };

const Proposed = Type.Object(proposedFields);
const Block = Type.Object(blockFields);

export const proposedOf = (command: Static<typeof Proposed>): Static<typeof Proposed> =>
  picked(proposedFields, command);
export const blockOf = (context: Static<typeof Block>): Static<typeof Block> =>
  picked(blockFields, context);

function picked<T extends object>(fields: TProperties, from: T): T {
  const entries = Object.keys(fields).map((name) => [name, from[name as keyof T]]);
  return Object.fromEntries(entries) as T;
}
