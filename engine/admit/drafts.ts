/**
 * Checks request bodies after schema validation. A checked body is a draft, which becomes a command
 * once its signer is known.
 */
import type { VerifyJob } from '../crypto/verifier.js';
import type { RefusalKey } from '../protocol/refusals.js';
import type { Command, CommandKind, ProposeCommand } from '../protocol/schema/command.js';
import type {
  Capability,
  Decision,
  MemeType,
  Sentiment,
  Status,
} from '../protocol/schema/primitives.js';
import { type Refusal, type RefusalArgs, refuse } from '../protocol/schema/reason.js';
import type { RequestBody } from '../protocol/schema/request.js';
import {
  agentId,
  allianceId,
  blockHash,
  jcs,
  memeId,
  requestId,
  sha256Hex,
  transactionInput,
} from '../protocol/signing.js';
import { excerpt, lowerAscii, lowerCase, lowerHash, pointerStep } from '../protocol/text.js';
import { durationMs, isDuration, parseInstant } from '../protocol/time.js';
import { badTimestampHeader, hexBytes, refuseSignature, timestampHint } from './credentials.js';

export interface Signer {
  /** Hex, lower case. */
  publicKey: string;
  /** Computes the sha256 of the signing input, hex. */
  inputSha256(): string;
}

/** A valid body. `jobs` builds the verification jobs for the signatures inside the body. */
interface Draft {
  command(signer: Signer): Command;
  jobs?(signer: Signer): VerifyJob[];
}

export type DraftResult = Draft | { refusal: Refusal };

/** Request parts that a command needs in addition to the body. */
export interface RequestContext {
  networkId: string;
  /** Path parameter, or ''. */
  id: string;
  /** Header X-Timestamp. */
  timestamp: string;
  /** Parsed body, including unknown members. */
  raw: Readonly<Record<string, unknown>>;
  file: Uint8Array | undefined;
  media: Media | null;
}

export type Drafter<K extends CommandKind> = (
  body: RequestBody[K],
  around: RequestContext,
) => DraftResult;

export function refuseDraft<K extends RefusalKey>(
  key: K,
  ...args: RefusalArgs<K>
): { refusal: Refusal } {
  return { refusal: refuse(key, ...args) };
}

/** Lower-cases tags and removes duplicates. */
function cleanTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(lowerCase))];
}

/** Removes duplicates. */
function cleanReferences(references: readonly string[] | undefined): string[] {
  const once: string[] = [];
  for (const one of references ?? []) if (!once.includes(one)) once.push(one);
  return once;
}

export function draftRegister(body: RequestBody['register']): DraftResult {
  return {
    command: ({ publicKey }) => ({
      kind: 'register',
      public_key: publicKey,
      agent_id: agentId(publicKey),
      personality: lowerAscii(body.personality),
      name: body.name,
      description: body.description ?? '',
      capabilities: body.capabilities as Capability[],
    }),
  };
}

export function draftStatus(body: RequestBody['status'], around: RequestContext): DraftResult {
  const expected = body.expected_duration;
  // An empty string counts as absent.
  if (expected && !isDuration(expected)) {
    const pointer = '/expected_duration';
    return refuseDraft('EXPECTED_DURATION_INVALID', { duration: excerpt(expected) }, { pointer });
  }
  const signedAt = parseInstant(around.timestamp);
  if (signedAt === null) return { refusal: badTimestampHeader(around.timestamp) };
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'status',
      public_key: publicKey,
      agent_id: around.id,
      status: body.status as Status,
      reason: body.reason ?? '',
      expected_duration: expected ?? '',
      signed_at: signedAt,
      input_sha256: inputSha256(),
    }),
  };
}

export function draftVote(body: RequestBody['vote']): DraftResult {
  if (parseInstant(body.timestamp) === null) return badBodyTimestamp(body.timestamp);
  return {
    command: ({ publicKey }) => ({
      kind: 'vote',
      public_key: publicKey,
      block_hash: lowerHash(body.block_hash)!,
      decision: body.decision as Decision,
      reason: body.reason ?? '',
      meme_references: cleanReferences(body.meme_references),
      ...(body.ballot === undefined ? {} : { ballot: body.ballot }),
    }),
  };
}

export function draftPropose(body: RequestBody['propose'], around: RequestContext): DraftResult {
  for (const member of ['producer', 'network_id']) {
    if (Object.hasOwn(around.raw, member)) {
      return refuseDraft('MEMBER_FORBIDDEN', { member }, { pointer: `/${member}` });
    }
  }
  if (parseInstant(body.timestamp) === null) return badBodyTimestamp(body.timestamp);
  const refusal =
    refuseDiff(body.state_diff) ??
    refuseOptions(body.options) ??
    refuseTransactions(body.transactions);
  if (refusal) return { refusal };
  const changes = changesOf(body.state_diff);
  const meme = body.meme_content;
  return {
    command: ({ publicKey }) => ({
      kind: 'propose',
      public_key: publicKey,
      block_hash: blockHash(around.raw, publicKey, around.networkId),
      parent_hash: lowerAscii(body.parent_hash),
      transactions: body.transactions.map(({ hash, data, sender }) => ({
        hash: lowerAscii(hash),
        type: typeOf(data),
        signer: lowerAscii(sender ?? publicKey),
      })),
      ...changes,
      ...optionsOf(body.options),
      meme_content: meme ? { ...meme, tags: cleanTags(meme.tags) } : {},
      failed_transaction: -1,
    }),
    jobs: ({ publicKey }) => transactionJobs(body.transactions, publicKey, around.networkId),
  };
}

export function draftDiscuss(body: RequestBody['discuss']): DraftResult {
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'discuss',
      public_key: publicKey,
      request_id: requestId(publicKey, inputSha256()),
      block_hash: lowerHash(body.block_hash)!,
      message: body.message,
      sentiment: body.sentiment as Sentiment,
      meme_references: cleanReferences(body.meme_references),
    }),
  };
}

const badBodyTimestamp = (timestamp: string) => {
  const values = { timestamp: excerpt(timestamp), hint: timestampHint(timestamp) };
  return refuseDraft('TIMESTAMP_INVALID', values, { pointer: '/timestamp' });
};

type Transactions = RequestBody['propose']['transactions'];

const DATA_BYTES = 4 * 1024;

function refuseTransactions(transactions: Transactions): Refusal | null {
  for (const [index, transaction] of transactions.entries()) {
    const pointer = `/transactions/${index}`;
    const bytes = Buffer.byteLength(transaction.data);
    if (bytes > DATA_BYTES) {
      const values = { bytes, limit: DATA_BYTES };
      return refuse('TRANSACTION_DATA_TOO_LARGE', values, { pointer: `${pointer}/data` });
    }
    const hash = lowerAscii(transaction.hash);
    const expected = sha256Hex(transaction.data);
    if (hash !== expected) {
      const more = { pointer: `${pointer}/hash` };
      return refuse('TRANSACTION_HASH_MISMATCH', { hash, expected }, more);
    }
  }
  for (const [index, transaction] of transactions.entries()) {
    const refusal = refuseSignature(
      signatureOf(transaction),
      'member signature of the transaction',
    );
    if (refusal) return { ...refusal, pointer: `/transactions/${index}/signature` };
  }
  return null;
}

function transactionJobs(
  transactions: Transactions,
  producer: string,
  networkId: string,
): VerifyJob[] {
  return transactions.map((transaction) => ({
    publicKey: hexBytes(transaction.sender ?? producer),
    message: Buffer.from(transactionInput(networkId, transaction.hash)),
    signature: hexBytes(String(signatureOf(transaction))),
  }));
}

function signatureOf(transaction: object): unknown {
  return 'signature' in transaction ? transaction.signature : undefined;
}

/** Returns the member `type` of JSON data if its value is a plain word, or `custom`. */
function typeOf(data: string): string {
  if (!/^[\t\n\r ]*\{/.test(data)) return 'custom';
  try {
    const { type } = JSON.parse(data) as { type?: unknown };
    return typeof type === 'string' && /^[a-z_]{1,32}$/.test(type) ? type : 'custom';
  } catch {
    return 'custom';
  }
}

type StateDiff = RequestBody['propose']['state_diff'];

const KEYS = 1_000;
const VALUE_BYTES = 4 * 1024;

/** @param above pointer to the object that contains `state_diff` */
function refuseDiff(diff: StateDiff, above = ''): Refusal | null {
  const additions = diff?.additions ?? {};
  const deletions = diff?.deletions ?? {};
  const count = Object.keys(additions).length + Object.keys(deletions).length;
  if (count > KEYS) {
    const pointer = `${above}/state_diff`;
    return refuse('STATE_DIFF_TOO_MANY_KEYS', { count, limit: KEYS }, { pointer });
  }
  const both = Object.keys(additions).find((key) => Object.hasOwn(deletions, key));
  if (both !== undefined) {
    const pointer = `${above}${below('additions', both)}`;
    return refuse('STATE_KEY_CONFLICT', { key: excerpt(both) }, { pointer });
  }
  return tooLarge('additions', additions, above) ?? tooLarge('deletions', deletions, above);
}

const below = (member: string, key: string) => `/state_diff/${member}/${pointerStep(key)}`;

function tooLarge(member: string, values: Record<string, unknown>, above: string): Refusal | null {
  for (const [key, value] of Object.entries(values)) {
    const bytes = Buffer.byteLength(jcs(value));
    if (bytes <= VALUE_BYTES) continue;
    const pointer = `${above}${below(member, key)}`;
    return refuse('STATE_VALUE_TOO_LARGE', { pointer, bytes, limit: VALUE_BYTES }, { pointer });
  }
  return null;
}

type Options = RequestBody['propose']['options'];

function refuseOptions(options: Options = []): Refusal | null {
  const names = new Set<string>();
  for (const [index, { name, state_diff }] of options.entries()) {
    const pointer = `/options/${index}`;
    if (names.has(name)) return refuse('OPTION_REPEATED', { name }, { pointer: `${pointer}/name` });
    names.add(name);
    const problem = refuseDiff(state_diff, pointer);
    if (problem) return problem;
  }
  return null;
}

function optionsOf(options: Options): Pick<ProposeCommand, 'options'> {
  if (!options) return {};
  return { options: options.map(({ name, state_diff }) => ({ name, ...changesOf(state_diff) })) };
}

function changesOf(diff: StateDiff) {
  return {
    additions: diff?.additions ?? {},
    deletions: Object.keys(diff?.deletions ?? {}).sort(),
  };
}

const SHORTEST_MS = 60_000;
const LONGEST_MS = 30 * 86_400_000;

export function draftMeme(body: RequestBody['meme'], around: RequestContext): DraftResult {
  const { file, media, timestamp } = around;
  if (!file) return refuseDraft('MEME_FILE_MISSING', {}, { pointer: '/meme_file' });
  const content_sha256 = lowerAscii(body.content_sha256);
  const expected = sha256Hex(file);
  if (expected !== content_sha256) {
    const values = { hash: content_sha256, expected };
    return refuseDraft('MEME_HASH_MISMATCH', values, { pointer: '/content_sha256' });
  }
  if (!media) return refuseDraft('MEME_TYPE', {}, { pointer: '/meme_file' });
  const { caption, tags } = body;
  return {
    command: ({ publicKey }) => ({
      kind: 'meme',
      public_key: publicKey,
      meme_id: memeId(publicKey, { ...body, timestamp }),
      caption,
      tags: cleanTags(tags),
      content_sha256,
      ...media,
      size: file.length,
    }),
  };
}

export function draftAlliancePropose(body: RequestBody['alliance_propose']): DraftResult {
  const duration = body.duration ?? 'PT1H';
  const milliseconds = durationMs(duration);
  if (milliseconds === null || milliseconds < SHORTEST_MS || milliseconds > LONGEST_MS) {
    const pointer = '/duration';
    return refuseDraft('ALLIANCE_DURATION_INVALID', { duration: excerpt(duration) }, { pointer });
  }
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'alliance_propose',
      public_key: publicKey,
      request_id: requestId(publicKey, inputSha256()),
      alliance_id: allianceId(publicKey, inputSha256()),
      target_ids: body.target_ids,
      purpose: body.purpose,
      duration,
      duration_ms: milliseconds,
    }),
  };
}

export function draftAllianceRespond(
  body: RequestBody['alliance_respond'],
  around: RequestContext,
): DraftResult {
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'alliance_respond',
      public_key: publicKey,
      request_id: requestId(publicKey, inputSha256()),
      alliance_id: around.id,
      accepted: body.accepted,
    }),
  };
}

export function draftAllianceLeave(
  _: RequestBody['alliance_leave'],
  around: RequestContext,
): DraftResult {
  return {
    command: ({ publicKey, inputSha256 }) => ({
      kind: 'alliance_leave',
      public_key: publicKey,
      request_id: requestId(publicKey, inputSha256()),
      alliance_id: around.id,
    }),
  };
}

export interface Media {
  type: MemeType;
  /** Content-Type of responses. */
  media_type: string;
}

const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const gif = [...'GIF'].map((char) => char.charCodeAt(0));
const jpeg = [0xff, 0xd8, 0xff];
/** Fourth byte of a lossless JPEG, which browsers do not support. */
const LOSSLESS = 0xf7;
const riff = [...'RIFF'].map((char) => char.charCodeAt(0));
const webp = [...'WEBP'].map((char) => char.charCodeAt(0));
const byteOrderMark = [0xef, 0xbb, 0xbf];

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Lists blank characters explicitly, because `\s` depends on the platform's Unicode version. */
const blankThenTag =
  /^[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*</;

/** Detects the media type of a file. Returns null for an unsupported type. */
export function sniff(file: Uint8Array): Media | null {
  const image = imageOf(file);
  if (image === 'gif') return { type: 'gif', media_type: 'image/gif' };
  if (image) return { type: 'image', media_type: `image/${image}` };
  return isPlainText(file) ? { type: 'text', media_type: 'text/plain; charset=utf-8' } : null;
}

/** Detects an image by its first bytes, ignoring byte order marks. */
function imageOf(file: Uint8Array): 'png' | 'jpeg' | 'webp' | 'gif' | null {
  let from = 0;
  while (has(file, byteOrderMark, from)) from += byteOrderMark.length;
  if (has(file, gif, from)) return 'gif';
  if (has(file, png, from)) return 'png';
  if (has(file, jpeg, from) && file[from + jpeg.length] !== LOSSLESS) return 'jpeg';
  return has(file, riff, from) && has(file, webp, from + 8) ? 'webp' : null;
}

const has = (file: Uint8Array, bytes: readonly number[], from: number): boolean =>
  bytes.every((byte, index) => file[from + index] === byte);

/** Returns true for UTF-8 text that browsers do not treat as markup. */
function isPlainText(file: Uint8Array): boolean {
  if (file.length === 0) return false;
  try {
    const text = decoder.decode(file);
    return !control.test(text) && !blankThenTag.test(text);
  } catch {
    return false;
  }
}
