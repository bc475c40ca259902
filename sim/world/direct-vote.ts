/**
 * Votes of simulated agents. A vote is its own command and its own request: the body is composed
 * and signed only if a log or an intervention reads it. Admission would accept every such vote, and
 * its size is exact.
 */
import { type Admitted, checked } from '../../engine/admit/admit.js';
import { hexBytes } from '../../engine/admit/credentials.js';
import { KeySignatory } from '../../engine/crypto/keys.js';
import type { AheadSigner, EarlySignature } from '../../engine/crypto/signer.js';
import type { VerifyJob } from '../../engine/crypto/verifier.js';
import { type Signatory, signingInput } from '../../engine/protocol/compose.js';
import type { VoteCommand } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { lowerHash } from '../../engine/protocol/text.js';
import type { CastVote } from '../agents/port.js';

const SIGNATURE = '0'.repeat(128);
/** Limits of the vote schema. */
const LONGEST_REASON = 1_024;
/** Number of references that scripted agents use. More references are admitted as bytes. */
const MOST_REFERENCES = 2;
const memeId = /^meme_[0-9a-f]{32}$/;
/** Years 1970 to 9999, whose timestamps have 24 characters. */
const LAST_INSTANT = 253_402_300_799_999;

/** Size of a body without its reason and references, by decision. */
const bareBytes = { approve: bareSize('approve'), reject: bareSize('reject') } as const;

function bareSize(decision: string): number {
  const timestamp = formatInstant(0);
  const body = { block_hash: '0'.repeat(64), decision, reason: '', meme_references: [] };
  return JSON.stringify({ ...body, timestamp, signature: SIGNATURE }).length;
}

export class DirectVote implements SignedRequest, VoteCommand, Admitted {
  readonly kind = 'vote';
  readonly #by: Signatory;
  #body: Uint8Array | null = null;
  #input = '';
  /** Hex; '' until the vote is signed. */
  #signature = '';
  #early: EarlySignature | null = null;
  readonly public_key: string;
  readonly block_hash: string;
  readonly decision: CastVote['decision'];
  readonly reason: string;
  readonly meme_references: string[];
  /** Signed time, milliseconds since 1970. */
  readonly signedAt: number;
  /** Size of the content and credentials. */
  readonly bytes: number;
  [checked]: Admitted[typeof checked] = false;

  private constructor(by: Signatory, fields: CastVote, signedAt: number, bytes: number) {
    this.#by = by;
    this.public_key = by.publicKey;
    this.block_hash = fields.block_hash;
    this.decision = fields.decision;
    this.reason = fields.reason;
    this.meme_references = fields.meme_references;
    this.signedAt = signedAt;
    this.bytes = bytes;
  }

  /** Creates a vote, or null if admission must check it. @param at milliseconds since 1970. */
  static create(by: Signatory, fields: CastVote, at: number): DirectVote | null {
    const { block_hash, decision, reason, meme_references, ballot } = fields;
    // Admission checks the size of a ballot.
    if (ballot !== undefined) return null;
    const bare = bareBytes[decision];
    const isPlain = bare !== undefined && at >= 0 && at <= LAST_INSTANT && isPlainReason(reason);
    if (!isPlain || lowerHash(block_hash) !== block_hash) return null;
    const references = meme_references.length === 0 ? 0 : referenceBytes(meme_references);
    if (references === null) return null;
    const bytes = by.publicKey.length + bare + reason.length + references;
    return new DirectVote(by, fields, Math.floor(at), bytes);
  }

  get command(): this {
    return this;
  }
  get request(): this {
    return this;
  }
  get target(): string {
    return '';
  }
  get timestamp(): string {
    return '';
  }
  /** The signature is in the body. */
  get signature(): string {
    return '';
  }

  /** Signing input of the body. All texts are known to be plain. */
  get input(): string {
    this.#input ||=
      `agentnet-v1-vote\n{"block_hash":"${this.block_hash}","decision":"${this.decision}",` +
      `"meme_references":${this.#references},"reason":"${this.reason}",` +
      `"timestamp":"${formatInstant(this.signedAt)}"}`;
    return this.#input;
  }

  get #references(): string {
    const { meme_references: memes } = this;
    return memes.length === 0 ? '[]' : `["${memes.join('","')}"]`;
  }

  /** Lets a thread sign the vote before its bytes are read. */
  signAhead(signer: AheadSigner): void {
    const by = this.#by;
    if (by instanceof KeySignatory) this.#early = signer.add(this.input, by.keys);
  }

  get body(): Uint8Array {
    this.#body ??= Buffer.from(this.bodyText, 'latin1');
    return this.#body;
  }

  get bodyText(): string {
    const { block_hash, decision, reason } = this;
    return (
      `{"block_hash":"${block_hash}","decision":"${decision}","reason":"${reason}",` +
      `"meme_references":${this.#references},"timestamp":"${formatInstant(this.signedAt)}",` +
      `"signature":"${this.#by.unsigned ?? this.#signed()}"}`
    );
  }

  /** Returns the signature, in hex. */
  #signed(): string {
    this.#signature ||= this.#early?.take() ?? this.#by.sign(this.input);
    this.#early = null;
    return this.#signature;
  }

  get raw(): Readonly<Record<string, unknown>> {
    return JSON.parse(Buffer.from(this.body).toString()) as Record<string, unknown>;
  }

  ownJob(): VerifyJob {
    return {
      publicKey: hexBytes(this.public_key),
      message: Buffer.from(this.input, 'latin1'),
      signature: hexBytes(this.#signed()),
    };
  }

  innerJobs(): [] {
    return [];
  }

  inputSha256(): string {
    return sha256Hex(signingInput(this, this.raw));
  }
}

/** Size of two references in JSON, or null if admission must check them. */
function referenceBytes(references: readonly string[]): number | null {
  if (references.length > MOST_REFERENCES) return null;
  let bytes = references.length - 1;
  for (const one of references) {
    if (!memeId.test(one)) return null;
    bytes += one.length + 2;
  }
  return references.length === 2 && references[0] === references[1] ? null : bytes;
}

/** Reasons known to be plain. Agents use few different reasons. */
const plainReasons = new Set<string>();
const MOST_REASONS = 1_024;

/** Returns true for printable ASCII that JSON encodes without escapes. */
function isPlainReason(reason: string): boolean {
  if (plainReasons.has(reason)) return true;
  if (reason.length > LONGEST_REASON || !/^[ !#-[\]-~]*$/.test(reason)) return false;
  if (plainReasons.size >= MOST_REASONS) plainReasons.clear();
  plainReasons.add(reason);
  return true;
}
