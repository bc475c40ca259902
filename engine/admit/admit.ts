/**
 * Admission converts a raw request either to a command with the signatures to verify, or to a
 * refusal. It is pure, so a request gives the same command live, in a simulation and in replay.
 */
import type { VerifyJob } from '../crypto/verifier.js';
import { signingInput } from '../protocol/compose.js';
import { type JsonResult, parseJson, refuseJson } from '../protocol/json.js';
import { limits } from '../protocol/limits.js';
import type { Command, CommandKind } from '../protocol/schema/command.js';
import {
  carriage,
  isTargetOf,
  pathParameter,
  type SignedRequest,
  targetId,
} from '../protocol/schema/entry.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import type { RequestBody } from '../protocol/schema/request.js';
import { findBodyProblem, refuseMember } from '../protocol/schema/validate.js';
import { sha256Hex } from '../protocol/signing.js';
import { excerpt } from '../protocol/text.js';
import { parseInstant } from '../protocol/time.js';
import { UnsignedRequest } from '../protocol/unsigned.js';
import { hexBytes, parseCredentials } from './credentials.js';
import {
  type Drafter,
  type DraftResult,
  draftAllianceLeave,
  draftAlliancePropose,
  draftAllianceRespond,
  draftDiscuss,
  draftMeme,
  draftPropose,
  draftRegister,
  draftStatus,
  draftVote,
  type RequestContext,
  refuseDraft,
  type Signer,
  sniff,
} from './drafts.js';

/** Marks requests that passed verification. */
export const checked: unique symbol = Symbol('checked');

/** A well-formed request that is not verified yet. */
export interface Admitted {
  request: SignedRequest;
  command: Command;
  /** The request's signature, in hex as sent. */
  signature: string;
  /** Parsed body, including unknown members. */
  raw: Readonly<Record<string, unknown>>;
  /** Builds the verification job for the request's own signature. */
  ownJob(): VerifyJob;
  /** Builds the verification jobs for the transactions in a proposal. */
  innerJobs(): VerifyJob[];
  /** Signed timestamp, milliseconds since 1970. */
  signedAt: number;
  /** Computes the sha256 of the signing input, for refusals. */
  inputSha256(): string;
  /**
   * True after verification; `later` if the request may be applied before its verification. Present
   * from the start, so that setting the member is cheap.
   *
   * @internal
   */
  [checked]: boolean | 'later';
}

export type Admission = Admitted | { refusal: Refusal };

const drafters: { [K in CommandKind]: Drafter<K> } = {
  register: draftRegister,
  status: draftStatus,
  vote: draftVote,
  propose: draftPropose,
  meme: draftMeme,
  discuss: draftDiscuss,
  alliance_propose: draftAlliancePropose,
  alliance_respond: draftAllianceRespond,
  alliance_leave: draftAllianceLeave,
};

/** Admits a request of any kind. Never throws, not even for a plain object with invalid members. */
export const admit = (request: SignedRequest, networkId: string): Admission =>
  admitChecked(request, networkId, 'refuse');

/**
 * Admits a request in a log. A replay follows what the network did, so a member may appear twice,
 * as older versions permitted.
 */
export const admitLogged = (request: SignedRequest, networkId: string): Admission =>
  admitChecked(request, networkId, 'last');

function admitChecked(
  request: SignedRequest,
  networkId: string,
  repeated: 'refuse' | 'last',
): Admission {
  const malformed = refuseMembers(request);
  if (malformed) return { refusal: malformed };
  if (!Object.hasOwn(carriage, request.kind)) {
    const kinds = Object.keys(carriage).join(', ');
    return refuseDraft('REQUEST_KIND_UNKNOWN', { kind: excerpt(request.kind), kinds });
  }
  const tooLarge = refuseSize(request);
  if (tooLarge) return { refusal: tooLarge };
  const media = request.file ? sniff(request.file) : null;
  const parsed = parse(request, repeated);
  if ('message' in parsed) return { refusal: refuseJson(parsed) };
  const { kind } = request;
  const problem = findBodyProblem(kind, parsed.value);
  if (problem) return { refusal: refuseMember(problem) };
  const raw = parsed.value as Record<string, unknown>;
  const id = carriage[kind].signed === 'header' ? idIn(request) : '';
  if (typeof id !== 'string') return id;
  const { timestamp, file } = request;
  const drafted = draft(kind, raw, { networkId, id, timestamp, raw, file, media });
  return 'refusal' in drafted ? drafted : sign(request, raw, drafted);
}

const none: VerifyJob[] = [];

function sign(
  request: SignedRequest,
  raw: Record<string, unknown>,
  drafted: Exclude<DraftResult, { refusal: Refusal }>,
): Admission {
  const credentials = parseCredentials(request, raw);
  if ('refusal' in credentials) return credentials;
  const { publicKey, signature } = credentials;
  const inputSha256 = () => sha256Hex(signingInput(request, raw));
  const signer: Signer = { publicKey, inputSha256 };
  // Jobs are built on demand, because a network without verification needs no jobs.
  const ownJob = (): VerifyJob => ({
    publicKey: hexBytes(publicKey),
    message: Buffer.from(signingInput(request, raw)),
    signature: hexBytes(signature),
  });
  const innerJobs = () => drafted.jobs?.(signer) ?? none;
  // The timestamp was already validated with the draft or the credentials.
  const signedAt = parseInstant(String(request.timestamp || raw.timestamp)) ?? 0;
  const command = drafted.command(signer);
  return {
    request,
    command,
    signature,
    raw,
    ownJob,
    innerJobs,
    signedAt,
    inputSha256,
    [checked]: false,
  };
}

/** Returns the id in the request-target, '' for a kind without an id, or a refusal. */
function idIn({ kind, target }: SignedRequest): string | { refusal: Refusal } {
  if (!isTargetOf(kind, target)) {
    const values = { target: excerpt(target), kind, path: carriage[kind].path };
    return refuseDraft('REQUEST_TARGET_MISMATCH', values);
  }
  const id = targetId(kind, target) ?? '';
  if (id !== '' || !carriage[kind].path.includes('{id}')) return id;
  const unknown = kind === 'status' ? 'AGENT_UNKNOWN' : 'ALLIANCE_UNKNOWN';
  return refuseDraft(unknown, { id: excerpt(pathParameter(kind, target)) });
}

function draft<K extends CommandKind>(kind: K, body: unknown, around: RequestContext): DraftResult {
  return drafters[kind](body as RequestBody[K], around);
}

function parse(request: SignedRequest, repeated: 'refuse' | 'last'): JsonResult {
  if (request.kind === 'alliance_leave' && request.body.length === 0) return { value: {} };
  const said = UnsignedRequest.composedBody(request);
  return said ? { value: said } : parseJson(request.body, repeated);
}

/** String members that every request has. The log stores them as received. */
const texts = ['kind', 'public_key', 'target', 'timestamp', 'signature'] as const;

/** Refuses members with a wrong type, which only an untyped caller in this process can pass. */
function refuseMembers(request: SignedRequest): Refusal | null {
  if (typeof request !== 'object' || request === null) {
    return refuse('REQUEST_NOT_OBJECT', { type: typeof request });
  }
  for (const name of texts) {
    const found: unknown = request[name];
    if (typeof found === 'string') continue;
    return refuse('REQUEST_MEMBER_NOT_STRING', { name, type: typeof found });
  }
  if (!isBytes(request.body)) {
    return refuse('REQUEST_MEMBER_NOT_BYTES', { name: 'body', type: typeof request.body });
  }
  if (request.file === undefined || isBytes(request.file)) return null;
  return refuse('REQUEST_MEMBER_NOT_BYTES', { name: 'file', type: typeof request.file });
}

/** Reads an internal slot that exists on arrays from a different realm, but not on proxies. */
const typedArrayName = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)!.get!;

const isBytes = (value: unknown): value is Uint8Array =>
  typedArrayName.call(value) === 'Uint8Array';

/**
 * Copies a request, because the logged request must equal the admitted request even if the caller
 * reuses the object and its buffers during verification. Keeps values that are not bytes, because
 * `admit` refuses them.
 */
export function copyRequest(request: SignedRequest): SignedRequest {
  const { kind, public_key, target, timestamp, signature, body, file } = request ?? {};
  const around = { kind, public_key, target, timestamp, signature, body: bytesOf(body) };
  return file === undefined ? around : { ...around, file: bytesOf(file) };
}

/** Copies bytes. A detached buffer has length 0, so its copy is empty. */
const bytesOf = (value: Uint8Array): Uint8Array =>
  isBytes(value) ? new Uint8Array(value.length === 0 ? [] : value) : value;

function refuseSize(request: SignedRequest): Refusal | null {
  const { kind, body, file } = request;
  const long = texts.find((name) => request[name].length > limits.bodyBytes);
  if (long) {
    const { length } = request[long];
    return refuse('FIELD_TOO_LARGE', { name: long, length, limit: limits.bodyBytes });
  }
  const most = kind === 'propose' ? limits.proposalBytes : limits.bodyBytes;
  if (body.length > most) {
    return refuse('BODY_TOO_LARGE', { bytes: body.length, limit: most });
  }
  if (file && file.length > limits.memeFileBytes) {
    const values = { bytes: file.length, limit: limits.memeFileBytes };
    return refuse('FILE_TOO_LARGE', values, { pointer: '/meme_file' });
  }
  return null;
}
