/**
 * Block members that are copied from the command to the record, and from the record to events and
 * views. A member added to these tables appears in all of their schemas and values.
 */
import { type Static, type TProperties, Type } from '../bundled/typebox.js';
import { Count, Hash } from './primitives.js';

/** Proposal members after admission. */
export const proposedFields = { parent_hash: Hash };
export const blockFields = { block_hash: Hash, ...proposedFields, height: Count };

/** Name of an option among which a rule chooses. */
export const OptionName = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });

/** Members of a closed block that only some rules set. */
export const ruleOutcome = {
  /** Option that the rule chose. */
  choice: Type.Optional(OptionName),
  /** Scores at the end of voting, by name. */
  standings: Type.Optional(Type.Record(Type.String(), Type.Integer())),
  /** Reason for which the rule failed; the block is then expired. */
  fault: Type.Optional(
    Type.Enum(['RULE_THREW', 'RULE_TIMEOUT', 'RULE_MEMORY', 'RULE_VERDICT', 'RULE_CONTRADICTION']),
  ),
};

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
