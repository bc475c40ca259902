/**
 * Diagnoses common signing mistakes. Each mistake yields a candidate text. If the signature is
 * valid for a candidate, the client made that mistake. A search costs up to 14 verifications, so
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

/** Maximum body size, so that building candidates stays cheap. */
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
  const candidates = candidatesOf(admitted, host);
  const signature = Buffer.from(admitted.signature, 'hex');
  const publicKey = Buffer.from(admitted.command.public_key, 'hex');
  const held = await Promise.all(
    candidates.map(({ message }) =>
      network.verification
        .text({ publicKey, message: Buffer.from(message as string), signature })
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

/** A text that may have been signed by mistake, with advice. */
interface Candidate {
  mistake: string;
  advice: string;
  message: string | Uint8Array;
}

function candidatesOf({ request, command, raw, ownJob }: Admitted, host: string): Candidate[] {
  const text = Buffer.from(ownJob().message).toString();
  const { target, timestamp, body } = request;
  const { method, signed } = carriage[command.kind];
  const candidates = collect(textMistakes, text, (like) => like);
  if (signed === 'header') {
    const head = { method, target, timestamp, bodySha256: sha256Hex(body) };
    const from = { head, host, raw: Buffer.from(body).toString() };
    const input = (change: Partial<Head>) => httpInput({ ...head, ...change });
    return [...candidates, ...collect(headerMistakes, from, input)];
  }
  const [prefix] = text.split('\n', 1);
  const { signature: _, ...rest } = raw;
  const members = command.kind === 'meme' ? { ...rest, timestamp } : rest;
  const input = (json: string) => `${prefix}\n${json}`;
  return [...candidates, ...collect(memberMistakes, members, input)];
}

/** A mistake, the advice, and what a client that makes the mistake signs. */
type Row<From, Like> = readonly [
  mistake: string,
  advice: string,
  variants: (from: From) => readonly Like[],
];

const collect = <From, Like>(
  rows: readonly Row<From, Like>[],
  from: From,
  input: (like: Like) => string | Uint8Array,
): Candidate[] =>
  rows.flatMap(([mistake, advice, variants]) =>
    variants(from).map((like) => ({ mistake, advice, message: input(like) })),
  );

/** Mistakes in any signed text. */
const textMistakes: readonly Row<string, string | Uint8Array>[] = [
  [
    'digest_signed',
    'the SHA-256 of the text was signed; sign the text itself',
    (text) => [sha256Hex(text), Buffer.from(sha256Hex(text), 'hex')],
  ],
  [
    'prefix_missing',
    'the first line is missing; begin with the prefix agentnet-v1-... and a line feed',
    (text) => [text.slice(text.indexOf('\n') + 1)],
  ],
  ['trailing_newline', 'the signed text ends with a line feed; remove it', (text) => [`${text}\n`]],
];

type Head = Parameters<typeof httpInput>[0];

/** Mistakes in the signed lines of a request with a header signature. */
const headerMistakes: readonly Row<{ head: Head; host: string; raw: string }, Partial<Head>>[] = [
  [
    'target',
    'another target was signed; sign the target exactly as sent, with /api/v1 and its query',
    ({ head: { target }, host }) =>
      [target.split('?', 1)[0]!, target.replace(/^\/api\/v1/, ''), `http://${host}${target}`]
        .filter((like) => like !== target)
        .map((like) => ({ target: like })),
  ],
  [
    'body_newline',
    'the signed and the sent body differ in the line feed at the end; send the signed bytes',
    ({ raw }) => [`${raw}\n`, raw.trimEnd()].map((text) => ({ bodySha256: sha256Hex(text) })),
  ],
  [
    'body_not_hashed',
    'the body itself was signed; sign its hex SHA-256',
    ({ raw }) => [{ bodySha256: raw }],
  ],
  [
    'timestamp',
    'another form of the timestamp was signed; sign the exact value of X-Timestamp',
    ({ head: { timestamp } }) => timestampsLike(timestamp).map((like) => ({ timestamp: like })),
  ],
];

function timestampsLike(timestamp: string): string[] {
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) return [];
  const iso = new Date(at).toISOString();
  const like = [`${at}`, `${Math.trunc(at / 1000)}`, iso, iso.replace(/\.\d+Z$/, 'Z')];
  return like.filter((text) => text !== timestamp);
}

type Members = Record<string, unknown>;

const canonicalAdvice = 'sign RFC 8785 canonical JSON of all members but signature';

/** Mistakes in the JSON of a request with a member `signature`. */
const memberMistakes: readonly Row<Members, string>[] = [
  [
    // Form libraries send line ends as CR LF, while a client may sign the ends in its text.
    'caption_line_ends',
    'the caption arrived with other line ends than were signed; sign it with the ends as sent',
    ({ caption, ...members }) =>
      typeof caption === 'string' && caption.includes('\n')
        ? [canonical({ ...members, caption: swapLineEnds(caption) })]
        : [],
  ],
  [
    'json_not_canonical',
    `unsorted members or JSON with whitespace were signed; ${canonicalAdvice}`,
    (members) => [JSON.stringify(members), spaced(members), spaced(JSON.parse(canonical(members)))],
  ],
  [
    'signature_member',
    `the member signature was signed; ${canonicalAdvice}`,
    (members) => ['', null].map((signature) => canonical({ ...members, signature })),
  ],
  [
    'timestamp',
    `the signed members lack timestamp; ${canonicalAdvice}`,
    ({ timestamp: _, ...members }) => [canonical(members)],
  ],
];

const swapLineEnds = (text: string): string =>
  text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n');

/** Formats JSON like Python's json.dumps. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value);
  const texts = members.map(([name, one]) => `${JSON.stringify(name)}: ${spaced(one)}`);
  return `{${texts.join(', ')}}`;
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
