/**
 * The common mistakes in what was signed: each gives a text, and the one whose signature holds is
 * what the client did. A search costs a handful of verifications, so callers bound how often.
 */
import {
  type Admitted,
  type CommandKind,
  canonical,
  carriage,
  type Network,
  type Refusal,
} from '../../../engine/internal.js';
import { httpInput, sha256Hex } from '../../../engine/protocol/signing.js';

/** A text that may have been signed, and what to do about it. */
interface Candidate {
  mistake: string;
  advice: string;
  message: string | Uint8Array;
  /** Of somebody else, lower case. */
  publicKey?: string;
}

export interface Mistake {
  mistake: string;
  message: string;
}

/** How many texts are tried at the most, and of which bodies: to build them must be cheap. */
const MOST_CANDIDATES = 20;
const MOST_BYTES = 8 * 1024;

export const withMistake = (refusal: Refusal, { mistake, message }: Mistake): Refusal => ({
  ...refusal,
  message,
  details: { ...refusal.details, mistake },
});

/** The mistake that explains a signature which does not fit, or null. */
export async function mistakeOf(
  network: Network,
  admitted: Admitted,
  host: string,
): Promise<Mistake | null> {
  if (admitted.request.body.length > MOST_BYTES) return null;
  const candidates = candidatesOf(network, admitted, host).slice(0, MOST_CANDIDATES);
  const signature = Buffer.from(admitted.signature, 'hex');
  const verdicts = await Promise.all(
    candidates.map(({ message, publicKey = admitted.command.public_key }) =>
      network.verification
        .text({
          publicKey: Buffer.from(publicKey, 'hex'),
          message: Buffer.from(message as string),
          signature,
        })
        // A verifier that is busy has better things to do.
        .catch(() => false),
    ),
  );
  const found = candidates[verdicts.indexOf(true)];
  if (!found) return null;
  const { mistake, advice } = found;
  return { mistake, message: `the signature does not fit; what was signed is known: ${advice}` };
}

function candidatesOf(network: Network, admitted: Admitted, host: string): Candidate[] {
  const text = Buffer.from(admitted.ownJob().message).toString();
  const { kind } = admitted.command;
  const own = carriage[kind].signed === 'header' ? ofHeader(admitted, host) : ofJson(admitted);
  return [...ofText(text), ...own, ...ofOthers(network, admitted, text)];
}

/** What can happen to any text. */
function ofText(text: string): Candidate[] {
  const lines = text.split('\n');
  const [prefix = '', ...rest] = lines;
  return [
    {
      mistake: 'digest_signed',
      advice: 'the sha256 of the text was signed; sign the text itself',
      message: Buffer.from(sha256Hex(text), 'hex'),
    },
    {
      mistake: 'digest_signed',
      advice: 'the hex sha256 of the text was signed; sign the text itself',
      message: sha256Hex(text),
    },
    {
      mistake: 'prefix_missing',
      advice: `the first line is missing; begin with ${prefix} and a line feed`,
      message: rest.join('\n'),
    },
    {
      mistake: 'trailing_newline',
      advice: 'a line feed was signed at the end; the text ends without one',
      message: `${text}\n`,
    },
    {
      mistake: 'separator',
      advice: 'lines were ended with CR LF; they end with LF',
      message: lines.join('\r\n'),
    },
  ];
}

/** Requests whose signature is in a header: method, target, timestamp and the body's digest. */
function ofHeader({ request, command }: Admitted, host: string): Candidate[] {
  const { target, timestamp, body } = request;
  const method: string = carriage[command.kind].method;
  const good = { method, target, timestamp, bodySha256: sha256Hex(body) };
  const one = (mistake: string, advice: string, change: Partial<typeof good>): Candidate => ({
    mistake,
    advice,
    message: httpInput({ ...good, ...change }),
  });
  const raw = Buffer.from(body).toString();
  const changed = (mistake: string, advice: string, text: string) =>
    one(mistake, advice, { bodySha256: sha256Hex(text) });
  const targets = [...new Set(targetsLike(target, host))].filter((other) => other !== target);
  const other = method === 'POST' ? 'PUT' : 'POST';
  return [
    ...targets.map((like) =>
      one('target', `the target ${like} was signed; sign ${target}, as it is sent`, {
        target: like,
      }),
    ),
    one('method', `the method ${other} was signed; sign ${method}`, { method: other }),
    one('method', `the method was signed in lower case; sign ${method}`, {
      method: method.toLowerCase(),
    }),
    ...(raw === '' ? [] : [changed('body', 'the digest of an empty body was signed', '')]),
    changed(
      'body_newline',
      'the signed body ended with a line feed, the sent one does not',
      `${raw}\n`,
    ),
    ...(raw.endsWith('\n')
      ? [
          changed(
            'body_newline',
            'the sent body ends with a line feed, the signed one does not',
            raw.trimEnd(),
          ),
        ]
      : []),
    ...(raw.includes('\n')
      ? [
          changed(
            'body_newline',
            'the body was signed with other line ends than it is sent with',
            crossed(raw),
          ),
        ]
      : []),
    ...(canonicalOf(raw) === raw
      ? []
      : [
          changed(
            'body_canonical',
            'canonical JSON was signed; sign the body as it is sent',
            canonicalOf(raw),
          ),
        ]),
    one('body_not_hashed', 'the body was signed; sign its hex sha256', { bodySha256: raw }),
    ...timestampsLike(timestamp).map((like) =>
      one('timestamp', `the timestamp was signed as ${like}; sign it as X-Timestamp has it`, {
        timestamp: like,
      }),
    ),
  ];
}

function targetsLike(target: string, host: string): string[] {
  const [path = ''] = target.split('?', 1);
  return [path, `${path}?`, target.replace(/^\/api\/v1/, ''), `http://${host}${target}`];
}

/** The same instant as other programs write it. */
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

/** Requests that sign canonical JSON of their members. */
function ofJson({ request, raw, command }: Admitted): Candidate[] {
  const { kind } = command;
  const prefix = `agentnet-v1-${kind === 'propose' ? 'block' : kind}\n`;
  const { signature: _, ...rest } = raw;
  const members: Record<string, unknown> =
    kind === 'meme' ? { ...rest, timestamp: request.timestamp } : rest;
  const json = (mistake: string, advice: string, text: string): Candidate => ({
    mistake,
    advice: `${advice}; sign RFC 8785 canonical JSON of all members but signature`,
    message: `${prefix}${text}`,
  });
  const { timestamp: __, ...timeless } = members;
  const { method, path } = carriage[kind];
  const { timestamp, body } = request;
  const asHttp = httpInput({ method, target: path, timestamp, bodySha256: sha256Hex(body) });
  return [
    json(
      'json_not_canonical',
      'members were signed in the order they are sent',
      JSON.stringify(members),
    ),
    json('json_not_canonical', 'JSON with blanks was signed', spaced(members, false)),
    json('json_not_canonical', 'JSON with blanks was signed', spaced(members, true)),
    json(
      'signature_member',
      'a member signature was signed',
      canonical({ ...members, signature: '' }),
    ),
    json(
      'signature_member',
      'a member signature was signed',
      canonical({ ...members, signature: null }),
    ),
    json('timestamp', 'the timestamp was left out', canonical(timeless)),
    {
      mistake: 'other_kind',
      advice: `this request is signed as ${prefix.trim()}, not by header`,
      message: asHttp,
    },
    ...wrongPrefixes(kind, canonical(members)),
  ];
}

/** As Python's json.dumps writes it. */
function spaced(value: unknown, sorted: boolean): string {
  if (Array.isArray(value)) return `[${value.map((item) => spaced(item, sorted)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value);
  if (sorted) members.sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = members.map(([name, one]) => `${JSON.stringify(name)}: ${spaced(one, sorted)}`);
  return `{${texts.join(', ')}}`;
}

function wrongPrefixes(kind: CommandKind, json: string): Candidate[] {
  const right = kind === 'propose' ? 'block' : kind;
  return ['vote', 'block', 'propose', 'meme']
    .filter((name) => name !== right)
    .map((name) => ({
      mistake: 'prefix',
      advice: `the first line agentnet-v1-${name} was signed; it is agentnet-v1-${right}`,
      message: `agentnet-v1-${name}\n${json}`,
    }));
}

/** The key of the agent in the path, where another one is named in the header. */
function ofOthers(network: Network, { command }: Admitted, text: string): Candidate[] {
  const agent = command.kind === 'status' ? network.read.agent(command.agent_id) : undefined;
  if (!agent || agent.public_key === command.public_key) return [];
  const named = command.public_key;
  const advice = `the key of ${agent.id} was used, but X-Agent-Public-Key names ${named}`;
  return [{ mistake: 'other_key', advice, message: text, publicKey: agent.public_key }];
}
