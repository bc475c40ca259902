/**
 * Commands: requests after admission, with hex in lower case, defaults filled in and ids computed.
 * The engine sees only commands. A command depends on its request alone, so replay derives the same
 * command.
 */
import { type Static, Type } from '../bundled/typebox.js';
import { OptionName, proposedFields } from './block.js';
import {
  AgentId,
  AllianceId,
  Capability,
  Count,
  Decision,
  Hash,
  MemeId,
  MemeType,
  Milliseconds,
  PublicKey,
  Sentiment,
  Status,
} from './primitives.js';

const asked = <K extends string>(kind: K) => ({ kind: Type.Literal(kind), public_key: PublicKey });

export const RegisterCommand = Type.Object({
  ...asked('register'),
  agent_id: AgentId,
  personality: Type.String(),
  name: Type.String(),
  description: Type.String(),
  capabilities: Type.Array(Capability),
});

export const StatusCommand = Type.Object({
  ...asked('status'),
  agent_id: AgentId,
  status: Status,
  reason: Type.String(),
  expected_duration: Type.String(),
  /** Signed timestamp, milliseconds since 1970. */
  signed_at: Type.Integer(),
  /** sha256 of the signing input. */
  input_sha256: Hash,
});

export const VoteCommand = Type.Object({
  ...asked('vote'),
  block_hash: Hash,
  decision: Decision,
  reason: Type.String(),
  /** Distinct. */
  meme_references: Type.Array(MemeId),
  /** Absent if the body has none. The network's rule validates it. */
  ballot: Type.Optional(Type.Unknown()),
});

export const ProposedTransaction = Type.Object({
  hash: Hash,
  type: Type.String(),
  /** Signing key: the sender's if there is a sender, otherwise the producer's. */
  signer: PublicKey,
});

const diff = {
  additions: Type.Record(Type.String(), Type.Unknown()),
  deletions: Type.Array(Type.String()),
};

export const ProposeCommand = Type.Object({
  ...asked('propose'),
  block_hash: Hash,
  ...proposedFields,
  transactions: Type.Array(ProposedTransaction),
  ...diff,
  /** Absent if the body has none. */
  options: Type.Optional(Type.Array(Type.Object({ name: OptionName, ...diff }))),
  meme_content: Type.Object({
    type: Type.Optional(MemeType),
    content: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Type.String())),
  }),
  /** Index of the first transaction whose signature failed, or -1. */
  failed_transaction: Type.Integer({ minimum: -1 }),
});

export const MemeCommand = Type.Object({
  ...asked('meme'),
  meme_id: MemeId,
  caption: Type.String(),
  tags: Type.Array(Type.String()),
  content_sha256: Hash,
  type: MemeType,
  media_type: Type.String(),
  size: Count,
});

const remembered = { request_id: Hash };

export const DiscussCommand = Type.Object({
  ...asked('discuss'),
  ...remembered,
  block_hash: Hash,
  message: Type.String(),
  sentiment: Sentiment,
  meme_references: Type.Array(MemeId),
});

export const AllianceProposeCommand = Type.Object({
  ...asked('alliance_propose'),
  ...remembered,
  alliance_id: AllianceId,
  target_ids: Type.Array(AgentId),
  purpose: Type.String(),
  duration: Type.String(),
  duration_ms: Milliseconds,
});

export const AllianceRespondCommand = Type.Object({
  ...asked('alliance_respond'),
  ...remembered,
  alliance_id: AllianceId,
  accepted: Type.Boolean(),
});

export const AllianceLeaveCommand = Type.Object({
  ...asked('alliance_leave'),
  ...remembered,
  alliance_id: AllianceId,
});

/** Registers an agent. `agent_id` follows from the key. @interface */
export type RegisterCommand = Static<typeof RegisterCommand>;
/** Changes the signer's status. `signed_at` is in milliseconds since 1970. @interface */
export type StatusCommand = Static<typeof StatusCommand>;
/** Votes on a block. @interface */
export type VoteCommand = Static<typeof VoteCommand>;
/** A transaction in a proposal: its hash and its signing key. @interface */
export type ProposedTransaction = Static<typeof ProposedTransaction>;
/** Proposes a block: transactions, the change to the application state, and a meme. @interface */
export type ProposeCommand = Static<typeof ProposeCommand>;
/** Posts a meme. The file is named by its hash; `size` is in bytes. @interface */
export type MemeCommand = Static<typeof MemeCommand>;
/** Posts a message about a block. @interface */
export type DiscussCommand = Static<typeof DiscussCommand>;
/** Founds an alliance with invited agents. `duration_ms` is in milliseconds. @interface */
export type AllianceProposeCommand = Static<typeof AllianceProposeCommand>;
/** Responds to an invitation. @interface */
export type AllianceRespondCommand = Static<typeof AllianceRespondCommand>;
/** Leaves an alliance. @interface */
export type AllianceLeaveCommand = Static<typeof AllianceLeaveCommand>;

/** A request after admission, discriminated by `kind`. */
export type Command =
  | RegisterCommand
  | StatusCommand
  | VoteCommand
  | ProposeCommand
  | MemeCommand
  | DiscussCommand
  | AllianceProposeCommand
  | AllianceRespondCommand
  | AllianceLeaveCommand;

/** Request kind: `register`, `status`, `vote`, `propose`, `meme`, `discuss`, `alliance_*`. */
export type CommandKind = Command['kind'];
/** The command type for a kind. */
export type CommandOf<K extends CommandKind> = Extract<Command, { kind: K }>;
