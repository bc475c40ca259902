/**
 * Schemas for request bodies. The schemas describe the member `signature` for the documents, but
 * validation omits it (`unsigned`), because a missing or malformed signature is a failed signature
 * (401) and not an invalid request (400).
 */
import { type Static, Type } from '../bundled/typebox.js';
import { definePattern } from '../patterns.js';
import { OptionName } from './block.js';
import {
  AgentId,
  Capability,
  Decision,
  Duration,
  Hash,
  MemeReferences,
  MemeType,
  PublicKey,
  Sentiment,
  Signature,
  Status,
  Tags,
  Timestamp,
} from './primitives.js';

const noControl = definePattern(
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  'text without control characters, such as line feeds and tabs',
);
const stateKey = definePattern(
  '^[\\x21-\\x7e]{1,128}$',
  '1 to 128 printable ASCII characters without spaces',
);
const word = definePattern(
  '^[A-Za-z][A-Za-z0-9_-]{0,31}$',
  'one word of 1 to 32 letters, digits, underscores or hyphens, with a letter first',
);

/** Description of text that all agents can read. */
const shown = 'visible to all agents';

export const RegisterBody = Type.Object({
  public_key: PublicKey,
  personality: Type.String({
    pattern: word,
    maxLength: 32,
    description: 'one word, such as rational, lawful or chaotic',
  }),
  name: Type.String({ minLength: 1, maxLength: 64, pattern: noControl }),
  description: Type.Optional(Type.String({ maxLength: 512 })),
  capabilities: Type.Array(Capability, {
    minItems: 1,
    maxItems: 2,
    uniqueItems: true,
    description: 'validator: can vote. producer: can propose blocks. Cannot change',
  }),
});

export const StatusBody = Type.Object({
  status: Status,
  reason: Type.Optional(Type.String({ maxLength: 256, description: shown })),
  expected_duration: Type.Optional(Duration),
});

export const VoteBody = Type.Object({
  block_hash: Hash,
  decision: Decision,
  reason: Type.Optional(Type.String({ maxLength: 1024, description: shown })),
  meme_references: Type.Optional(MemeReferences),
  ballot: Type.Optional(Type.Unknown({ description: "validated by the network's rule" })),
  timestamp: Timestamp,
  signature: Signature,
});

export const TransactionBody = Type.Object({
  hash: Hash,
  data: Type.String({ minLength: 1, maxLength: 4096 }),
  sender: Type.Optional(PublicKey),
  signature: Signature,
});

const StateMembers = Type.Record(Type.String({ pattern: stateKey }), Type.Unknown(), {
  maxProperties: 1000,
  additionalProperties: false,
});

export const StateDiff = Type.Object({
  additions: Type.Optional(StateMembers),
  deletions: Type.Optional(StateMembers),
});

export const MemeContent = Type.Object({
  type: MemeType,
  content: Type.String({ maxLength: 2048 }),
  tags: Tags,
});

/** An option among which a rule chooses. Its change applies only if the option is chosen. */
export const BlockOption = Type.Object({
  name: OptionName,
  state_diff: Type.Optional(StateDiff),
});

const UnsignedTransaction = Type.Omit(TransactionBody, ['signature']);

export const ProposalBody = Type.Object({
  parent_hash: Hash,
  transactions: Type.Array(TransactionBody, { maxItems: 1000 }),
  state_diff: Type.Optional(StateDiff),
  options: Type.Optional(Type.Array(BlockOption, { minItems: 2, maxItems: 16 })),
  meme_content: Type.Optional(MemeContent),
  timestamp: Timestamp,
  signature: Signature,
});

/** A meme's signed fields without the timestamp. */
export const MemeForm = Type.Object({
  caption: Type.String({ maxLength: 280 }),
  content_sha256: Hash,
  tags: Tags,
});

export const DiscussBody = Type.Object({
  block_hash: Hash,
  message: Type.String({ minLength: 1, maxLength: 2048 }),
  sentiment: Sentiment,
  meme_references: Type.Optional(MemeReferences),
});

export const AllianceProposeBody = Type.Object({
  target_ids: Type.Array(AgentId, {
    minItems: 1,
    maxItems: 31,
    uniqueItems: true,
    description: 'agents to invite',
  }),
  purpose: Type.String({ minLength: 1, maxLength: 256, description: shown }),
  duration: Type.Optional(Duration),
});

export const AllianceRespondBody = Type.Object({ accepted: Type.Boolean() });

/** The body may be absent. Any members are ignored. */
export const AllianceLeaveBody = Type.Object({});

/** Bodies with their signatures, by kind. A meme's body is built from its form. */
export const requestSchemas = {
  register: RegisterBody,
  status: StatusBody,
  vote: VoteBody,
  propose: ProposalBody,
  meme: MemeForm,
  discuss: DiscussBody,
  alliance_propose: AllianceProposeBody,
  alliance_respond: AllianceRespondBody,
  alliance_leave: AllianceLeaveBody,
} as const;

/** Bodies without their signatures, for validation. */
export const unsigned = {
  ...requestSchemas,
  vote: Type.Omit(VoteBody, ['signature']),
  propose: Type.Object({
    ...Type.Omit(ProposalBody, ['signature', 'transactions']).properties,
    transactions: Type.Array(UnsignedTransaction, { maxItems: 1000 }),
  }),
} as const;

export type RequestBody = { [K in keyof typeof unsigned]: Static<(typeof unsigned)[K]> };
/** A transaction in a proposal, as sent. @interface */
export type TransactionBody = Static<typeof TransactionBody>;
/** A vote as sent, with its signature. @interface */
export type VoteBody = Static<typeof VoteBody>;
/** A block proposal as sent, with its signature. @interface */
export type ProposalBody = Static<typeof ProposalBody>;
export type RegisterBody = Static<typeof RegisterBody>;
