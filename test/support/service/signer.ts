/** Signs requests with node:crypto, without using server code. */
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';

/** An Ed25519 key. `sign` returns hex. */
export interface Agent {
  publicKey: string;
  agentId: string;
  sign(text: string): string;
}

export type Fields = Record<string, unknown>;

export interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Prefix of a 32-byte private key (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Derives a key from a text. */
export function agentOf(seed: string): Agent {
  const secret = createHash('sha256').update(seed).digest();
  const der = Buffer.concat([PKCS8, secret]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  const publicKey = Buffer.from(x, 'base64url').toString('hex');
  return {
    publicKey,
    agentId: `agent_${sha256(`agentnet-v1-agent\n${publicKey}`).slice(0, 32)}`,
    sign: (text) => sign(null, Buffer.from(text), key).toString('hex'),
  };
}

/** Encodes a value by RFC 8785. Supports only short numbers. */
export function jcs(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jcs(member)}`).join(',')}}`;
}

let last = 0;

/** Returns a unique ascending timestamp, as status updates require. */
export function stamp(): string {
  last = Math.max(last + 1, Date.now());
  return new Date(last).toISOString();
}

/** Builds a request with the signature in the header. */
export function signed(
  by: Agent,
  method: string,
  path: string,
  fields: Fields | string,
  at = stamp(),
): Request {
  const body = typeof fields === 'string' ? fields : JSON.stringify(fields);
  const text = `agentnet-v1-http\n${method}\n${path}\n${at}\n${sha256(body)}`;
  const headers = {
    ...(body === '' ? {} : { 'Content-Type': 'application/json' }),
    'X-Agent-Public-Key': by.publicKey,
    'X-Timestamp': at,
    'X-Agent-Signature': by.sign(text),
  };
  return { method, path, headers, body };
}

/** Builds a request with the signature in the body. */
function signedInside(by: Agent, path: string, kind: string, fields: Fields): Request {
  const signature = by.sign(`agentnet-v1-${kind}\n${jcs(fields)}`);
  return {
    method: 'POST',
    path,
    headers: { 'Content-Type': 'application/json', 'X-Agent-Public-Key': by.publicKey },
    body: JSON.stringify({ ...fields, signature }),
  };
}

export function register(by: Agent, fields: Fields = {}, at?: string): Request {
  const body = {
    public_key: by.publicKey,
    personality: 'rational',
    name: 'Ada',
    description: 'Counts.',
    capabilities: ['validator', 'producer'],
    ...fields,
  };
  return signed(by, 'POST', '/api/v1/agents/register', body, at);
}

export function status(by: Agent, fields: Fields, agentId = by.agentId, at?: string): Request {
  return signed(by, 'PUT', `/api/v1/agents/${agentId}/status`, fields, at);
}

export function vote(by: Agent, fields: Fields, timestamp = stamp()): Request {
  const body = { decision: 'approve', timestamp, ...fields };
  return signedInside(by, '/api/v1/consensus/vote', 'vote', body);
}

export function propose(by: Agent, fields: Fields, timestamp = stamp()): Request {
  const body = { transactions: [], timestamp, ...fields };
  return signedInside(by, '/api/v1/blocks/propose', 'block', body);
}

/** Computes the block hash of a proposal. */
export function blockHash(request: Request, by: Agent, network_id: string): string {
  const { signature: _, ...body } = JSON.parse(String(request.body)) as Fields;
  return sha256(`agentnet-v1-blockhash\n${jcs({ ...body, producer: by.publicKey, network_id })}`);
}

/** Builds a transaction. `named` adds the signer's key (default: the producer). */
export function transaction(by: Agent, networkId: string, data: string, named = false): Fields {
  const hash = sha256(data);
  const signature = by.sign(`agentnet-v1-tx\n${networkId}\n${hash}`);
  return { hash, data, ...(named ? { sender: by.publicKey } : {}), signature };
}

export interface MemeFields {
  file: string | Uint8Array;
  caption?: string;
  tags?: readonly string[];
  /** True to send the tags as one field with a JSON array, instead of a repeated field. */
  tagsAsJson?: boolean;
}

export const BOUNDARY = 'a-boundary-of-forms';

export function meme(by: Agent, fields: MemeFields, timestamp = stamp()): Request {
  const { file, caption = '', tags = [], tagsAsJson = false } = fields;
  const object = { caption, content_sha256: sha256(file), tags, timestamp };
  const signature = by.sign(`agentnet-v1-meme\n${jcs(object)}`);
  const named: [string, string][] = [
    ['caption', caption],
    ...(tagsAsJson ? [JSON.stringify(tags)] : tags).map((tag): [string, string] => ['tags', tag]),
    ['signature', signature],
  ];
  return {
    method: 'POST',
    path: '/api/v1/social/memes',
    headers: {
      'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
      'X-Agent-Public-Key': by.publicKey,
      'X-Timestamp': timestamp,
    },
    body: formOf(named, file),
  };
}

/** Builds a form from these fields, with meme_file as the last part. */
export function formOf(fields: readonly [string, string][], file: string | Uint8Array): Uint8Array {
  const disposition = (name: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${name}`;
  const texts = fields.map(([of, value]) => `${disposition(`name="${of}"`)}\r\n\r\n${value}\r\n`);
  const head = `${disposition('name="meme_file"; filename="meme"')}\r\n`;
  const type = 'Content-Type: application/octet-stream\r\n\r\n';
  const end = `\r\n--${BOUNDARY}--\r\n`;
  const parts = [...texts, head, type, file, end];
  return Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)));
}

export function discuss(by: Agent, fields: Fields, at?: string): Request {
  const body = { message: 'Look here.', sentiment: 'neutral', ...fields };
  return signed(by, 'POST', '/api/v1/consensus/discuss', body, at);
}

const ALLIANCES = '/api/v1/social/alliances';

export const ally = {
  propose: (by: Agent, fields: Fields, at?: string) =>
    signed(by, 'POST', `${ALLIANCES}/propose`, { purpose: 'Peace', ...fields }, at),
  respond: (by: Agent, id: string, accepted = true, at?: string) =>
    signed(by, 'POST', `${ALLIANCES}/${id}/respond`, { accepted }, at),
  leave: (by: Agent, id: string, at?: string) =>
    signed(by, 'POST', `${ALLIANCES}/${id}/leave`, '', at),
};

export function debugSocket(by: Agent, id: string, at?: string): Request {
  return signed(by, 'GET', `/api/v1/debug/ws/${id}`, '', at);
}

/** Asks the server how it would verify a request. */
export const verification = ({ method, path: target, headers, body }: Request): Request => ({
  method: 'POST',
  path: '/api/v1/debug/verify',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ method, target, headers, body: Buffer.from(body as string).toString() }),
});

export function auth(by: Pick<Agent, 'publicKey' | 'sign'>, timestamp = stamp()): Fields {
  const signature = by.sign(`auth:${by.publicKey}:${timestamp}`);
  return { type: 'auth', public_key: by.publicKey, timestamp, signature };
}
