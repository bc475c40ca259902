/**
 * Diagnoses common signing mistakes. Each mistake yields a candidate text. If the signature is
 * valid for a candidate, the client made that mistake. A search costs up to 20 verifications, so
 * callers limit the number of searches.
 */
import type { Admitted } from '../../engine/admit/admit.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { canonical } from '../../engine/protocol/canonical.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage } from '../../engine/protocol/schema/entry.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { httpInput, sha256Hex, transactionInput } from '../../engine/protocol/signing.js';
import { parseInstant } from '../../engine/protocol/time.js';
import type { Body, RequestHead } from '../transport/transport.js';
import type { Carried } from './bodies.js';

interface Mistake {
  mistake: string;
  message: string;
}

/** Maximum number of candidates, and maximum body size, so that building candidates stays cheap. */
const MOST_CANDIDATES = 20;
const MOST_BYTES = 8 * 1024;

export const addMistake = (refusal: Refusal, { mistake, message }: Mistake): Refusal => ({
  ...refusal,
  message,
  details: { ...refusal.details, mistake },
});

/** Returns the mistake that explains an invalid signature, or null. */
export async function findMistake(
  network: ServedNetwork,
  admitted: Admitted,
  host: string,
): Promise<Mistake | null> {
  if (admitted.request.body.length > MOST_BYTES) return null;
  const candidates = candidatesOf(network, admitted, host).slice(0, MOST_CANDIDATES);
  const signature = Buffer.from(admitted.signature, 'hex');
  const held = await Promise.all(
    candidates.map(({ message, publicKey = admitted.command.public_key }) =>
      network.verification
        .text({
          publicKey: Buffer.from(publicKey, 'hex'),
          message: Buffer.from(message as string),
          signature,
        })
        // Mistakes are not diagnosed while the verifier is busy.
        .catch(() => false),
    ),
  );
  const found = candidates[held.indexOf(true)] ?? unreadTags(admitted.request);
  if (!found) return null;
  const { mistake, advice } = found;
  const values = {
    public_key: admitted.command.public_key,
    signature: `${admitted.signature.slice(0, 16)}..`,
    advice,
  };
  return { mistake, message: refuse('SIGNATURE_MISTAKE', values).message };
}

/** Finds a field with which some form libraries send a list, and which the server does not read. */
function unreadTags(request: Carried): Pick<Candidate, 'mistake' | 'advice'> | undefined {
  const field = request.unknownFields?.find((name) => /^tags\[\d{0,4}\]$/.test(name));
  const advice = `the field ${field} is not read; send each tag as a field tags`;
  return field === undefined ? undefined : { mistake: 'tags_field', advice };
}

function candidatesOf(network: ServedNetwork, admitted: Admitted, host: string): Candidate[] {
  const text = Buffer.from(admitted.ownJob().message).toString();
  const { kind } = admitted.command;
  const own =
    carriage[kind].signed === 'header' ? headerMistakes(admitted, host) : jsonMistakes(admitted);
  return [...textMistakes(text), ...own, ...otherKeyMistakes(network, admitted, text)];
}

/** Builds candidates for mistakes that apply to any signing input. */
function textMistakes(text: string): Candidate[] {
  const lines = text.split('\n');
  const [prefix = '', ...rest] = lines;
  return [
    {
      mistake: 'digest_signed',
      advice: 'the SHA-256 of the text was signed; sign the text itself',
      message: Buffer.from(sha256Hex(text), 'hex'),
    },
    {
      mistake: 'digest_signed',
      advice: 'the hex SHA-256 of the text was signed; sign the text itself',
      message: sha256Hex(text),
    },
    {
      mistake: 'prefix_missing',
      advice: `the first line is missing; begin with ${prefix} and a line feed`,
      message: rest.join('\n'),
    },
    {
      mistake: 'trailing_newline',
      advice: 'the signed text ends with a line feed; remove it',
      message: `${text}\n`,
    },
    {
      mistake: 'separator',
      advice: 'lines end with CR LF; end them with LF',
      message: lines.join('\r\n'),
    },
  ];
}

/**
 * Builds candidates for a request signed by the agent in the path while the header names a
 * different key.
 */
function otherKeyMistakes(
  network: ServedNetwork,
  { command }: Admitted,
  text: string,
): Candidate[] {
  const agent = command.kind === 'status' ? network.read.agent(command.agent_id) : undefined;
  if (!agent || agent.public_key === command.public_key) return [];
  const named = command.public_key;
  const advice = `the key of ${agent.id} was used, but X-Agent-Public-Key names ${named}`;
  return [{ mistake: 'other_key', advice, message: text, publicKey: agent.public_key }];
}

type Signed = Parameters<typeof httpInput>[0];

function headerMistakes({ request, command }: Admitted, host: string): Candidate[] {
  const { target, timestamp, body } = request;
  const { method } = carriage[command.kind];
  const right = { method, target, timestamp, bodySha256: sha256Hex(body) };
  const raw = Buffer.from(body).toString();
  return [
    ...targetMistakes(right, host),
    ...methodMistakes(right),
    ...bodyMistakes(right, raw),
    ...timestampsLike(timestamp).map((like) =>
      one(
        right,
        'timestamp',
        `the timestamp was signed as ${like}; sign the exact value of X-Timestamp`,
        {
          timestamp: like,
        },
      ),
    ),
  ];
}

const one = (
  right: Signed,
  mistake: string,
  advice: string,
  change: Partial<Signed>,
): Candidate => ({ mistake, advice, message: httpInput({ ...right, ...change }) });

function targetMistakes(right: Signed, host: string): Candidate[] {
  const { target } = right;
  const [path = ''] = target.split('?', 1);
  const all = [path, `${path}?`, target.replace(/^\/api\/v1/, ''), `http://${host}${target}`];
  return [...new Set(all)]
    .filter((like) => like !== target)
    .map((like) =>
      one(right, 'target', `the target ${like} was signed; sign ${target}, exactly as sent`, {
        target: like,
      }),
    );
}

function methodMistakes(right: Signed): Candidate[] {
  const { method } = right;
  const other = method === 'POST' ? 'PUT' : 'POST';
  const lower = method.toLowerCase();
  return [
    one(right, 'method', `the method ${other} was signed; sign ${method}`, { method: other }),
    one(right, 'method', `the method was signed in lower case; sign ${method}`, { method: lower }),
  ];
}

/** Texts that a client may hash instead of the body. */
function bodyMistakes(right: Signed, raw: string): Candidate[] {
  const changed = (mistake: string, advice: string, text: string) =>
    one(right, mistake, advice, { bodySha256: sha256Hex(text) });
  const sorted = canonicalOf(raw);
  const empty = 'the digest of an empty body was signed; sign the digest of the sent body';
  const added = 'only the signed body ends with a line feed; send the signed bytes';
  const removed = 'only the sent body ends with a line feed; send the signed bytes';
  const ends = 'the signed body has other line ends than the sent body; send the signed bytes';
  const json = 'canonical JSON was signed; sign the body as sent';
  return [
    ...(raw === '' ? [] : [changed('body', empty, '')]),
    changed('body_newline', added, `${raw}\n`),
    ...(raw.endsWith('\n') ? [changed('body_newline', removed, raw.trimEnd())] : []),
    ...(raw.includes('\n') ? [changed('body_newline', ends, crossed(raw))] : []),
    ...(sorted === raw ? [] : [changed('body_canonical', json, sorted)]),
    one(right, 'body_not_hashed', 'the body itself was signed; sign its hex SHA-256', {
      bodySha256: raw,
    }),
  ];
}

function timestampsLike(timestamp: string): string[] {
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) return [];
  const iso = new Date(at).toISOString();
  const like = [`${at}`, `${Math.trunc(at / 1000)}`, iso, iso.replace(/\.\d+Z$/, 'Z')];
  return [...new Set(like)].filter((text) => text !== timestamp);
}

const crossed = (text: string): string =>
  text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n');

function canonicalOf(raw: string): string {
  try {
    return canonical(JSON.parse(raw));
  } catch {
    return raw;
  }
}

type Members = Record<string, unknown>;

const nameOf = (kind: CommandKind) => (kind === 'propose' ? 'block' : kind);

function jsonMistakes({ request, raw, command }: Admitted): Candidate[] {
  const { kind } = command;
  const { signature: _, ...rest } = raw;
  const members: Members = kind === 'meme' ? { ...rest, timestamp: request.timestamp } : rest;
  const { method, path } = carriage[kind];
  const { timestamp, body } = request;
  const prefix = `agentnet-v1-${nameOf(kind)}`;
  return [
    ...ofCaption(prefix, members),
    ...ofMembers(prefix, members),
    {
      mistake: 'other_kind',
      advice: `signed as a header signature; sign with the prefix ${prefix}`,
      message: httpInput({ method, target: path, timestamp, bodySha256: sha256Hex(body) }),
    },
    ...wrongPrefixes(kind, canonical(members)),
  ];
}

/** Form libraries send line ends as CR LF, while a client may have signed them as in its text. */
function ofCaption(prefix: string, members: Members): Candidate[] {
  const { caption } = members;
  if (typeof caption !== 'string' || !caption.includes('\n')) return [];
  const ends = caption.includes('\r\n') ? 'CR LF' : 'LF';
  return [
    {
      mistake: 'caption_line_ends',
      advice: `the caption arrived with ${ends}; sign it with ${ends}`,
      message: `${prefix}\n${canonical({ ...members, caption: crossed(caption) })}`,
    },
  ];
}

/** Builds texts that a client may have signed by mistake: other JSON formatting or members. */
function ofMembers(prefix: string, members: Members): Candidate[] {
  const json = (mistake: string, advice: string, text: string): Candidate => ({
    mistake,
    advice: `${advice}; sign RFC 8785 canonical JSON of all members but signature`,
    message: `${prefix}\n${text}`,
  });
  const { timestamp: _, ...timeless } = members;
  const order = 'members were signed in the order sent';
  const blanks = 'JSON with whitespace was signed';
  const member = 'the member signature was signed';
  return [
    json('json_not_canonical', order, JSON.stringify(members)),
    json('json_not_canonical', blanks, spaced(members, false)),
    json('json_not_canonical', blanks, spaced(members, true)),
    json('signature_member', member, canonical({ ...members, signature: '' })),
    json('signature_member', member, canonical({ ...members, signature: null })),
    json('timestamp', 'the signed members lack timestamp', canonical(timeless)),
  ];
}

/** Formats JSON like Python's json.dumps. */
function spaced(value: unknown, sorted: boolean): string {
  if (Array.isArray(value)) return `[${value.map((item) => spaced(item, sorted)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value);
  if (sorted) members.sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = members.map(([name, one]) => `${JSON.stringify(name)}: ${spaced(one, sorted)}`);
  return `{${texts.join(', ')}}`;
}

function wrongPrefixes(kind: CommandKind, json: string): Candidate[] {
  const right = nameOf(kind);
  return ['vote', 'block', 'propose', 'meme']
    .filter((name) => name !== right)
    .map((name) => ({
      mistake: 'prefix',
      advice: `the signed text begins with agentnet-v1-${name}; begin with agentnet-v1-${right}`,
      message: `agentnet-v1-${name}\n${json}`,
    }));
}

/** A text that may have been signed by mistake, with advice. */
interface Candidate {
  mistake: string;
  advice: string;
  message: string | Uint8Array;
  /** A different agent's key, in lower case. */
  publicKey?: string;
}

export interface SignedInput {
  /** Returns null if the input is not yet known. */
  inputSha256(): string | null;
  signedAt: number | null;
}

export const unknownInput: SignedInput = { inputSha256: () => null, signedAt: null };

/** Derives the signing input for header-signed requests from the head and raw body. */
export function inputByHead(
  kind: CommandKind,
  { method, target, headers }: RequestHead,
  body: Body,
): SignedInput {
  const timestamp = headers.get('x-timestamp') ?? '';
  const signedAt = carriage[kind].signed === 'body' ? null : parseInstant(timestamp);
  const inputSha256 = () =>
    carriage[kind].signed !== 'header' || signedAt === null || body === 'unread'
      ? null
      : sha256Hex(httpInput({ method, target, timestamp, bodySha256: sha256Hex(body) }));
  return { inputSha256, signedAt };
}

/** Adds the expected signing input to a refusal, for debugging the client. */
export function explainSignature(
  refusal: Refusal,
  kind: CommandKind,
  { inputSha256, signedAt }: SignedInput,
  { target, body, now }: { target: string; body: Body; now: number },
): Refusal {
  const details = {
    ...refusal.details,
    kind,
    expected_input_sha256: inputSha256(),
    body_sha256: body === 'unread' ? null : sha256Hex(body),
    request_target: target,
    server_time: formatInstant(now),
    skew_ms: signedAt === null ? null : signedAt - now,
  };
  return { ...refusal, details };
}

export function explainTransaction(
  refusal: Refusal,
  { command }: Admitted,
  networkId: string,
): Refusal {
  const index = Number(/^\/transactions\/(\d+)\/signature$/.exec(refusal.pointer ?? '')?.[1]);
  const one = command.kind === 'propose' ? command.transactions[index] : undefined;
  if (!one) return refusal;
  const { hash, signer } = one;
  const values = { index, signer, network_id: networkId, hash };
  const { message } = refuse('TRANSACTION_SIGNED_TEXT', values);
  const details = {
    ...refusal.details,
    kind: 'transaction',
    index,
    network_id: networkId,
    signer,
    expected_input_sha256: sha256Hex(transactionInput(networkId, hash)),
  };
  return { ...refusal, message, details };
}
