/**
 * What is signed, and how ids follow from content. Pure, and safe in a browser: clients and the
 * network build the same text from here. Inputs are UTF-8; LF is one line feed.
 */
import { sha256Hex } from '#sha256';
import { canonical } from './canonical.js';
import { lowerAscii } from './unicode.js';

/** A request's body, parsed. */
export type JsonBody = Readonly<Record<string, unknown>>;

function withoutSignature(body: JsonBody): JsonBody {
  // A third of the time that `{ signature, ...rest }` takes; names are checked where JSON is read.
  const rest: Record<string, unknown> = {};
  for (const name in body) if (name !== 'signature') rest[name] = body[name];
  return rest;
}

/** A vote, from its body; `signature` is left out, unknown members are covered. */
export function voteInput(body: JsonBody): string {
  return `agentnet-v1-vote\n${canonical(withoutSignature(body))}`;
}

/** A block proposal, from its body. */
export function proposalInput(body: JsonBody): string {
  return `agentnet-v1-block\n${canonical(withoutSignature(body))}`;
}

/** A transaction of one network, by its hash, which is signed in lower case. */
export function transactionInput(networkId: string, hash: string): string {
  return `agentnet-v1-tx\n${networkId}\n${lowerAscii(hash)}`;
}

/** What a meme's signature covers: the form as sent, the file by its hash. */
export interface SignedMeme {
  caption: string;
  /** Signed in lower case. */
  content_sha256: string;
  tags: readonly string[];
  /** The X-Timestamp header. */
  timestamp: string;
}

/** What is signed for a meme. */
export function memeInput(meme: SignedMeme): string {
  return `agentnet-v1-meme\n${memeObject(meme)}`;
}

function memeObject({ caption, content_sha256, tags, timestamp }: SignedMeme): string {
  return canonical({ caption, content_sha256: lowerAscii(content_sha256), tags, timestamp });
}

/** Every request whose signature is in a header. `bodySha256` is that of the raw body, hex. */
export function httpInput(request: {
  method: string;
  target: string;
  timestamp: string;
  bodySha256: string;
}): string {
  const { method, target, timestamp, bodySha256 } = request;
  return `agentnet-v1-http\n${method}\n${target}\n${timestamp}\n${bodySha256}`;
}

/** The WebSocket `auth` message: key and timestamp as sent. */
export function authInput(publicKey: string, timestamp: string): string {
  return `auth:${publicKey}:${timestamp}`;
}

/** What a signed response says that it answers. `-` stands for what the request did not have. */
export interface AnsweredRequest {
  method: string;
  /** As in the request line. */
  target: string;
  /** The header X-Agent-Public-Key. */
  publicKey: string;
  /** Hex sha256 of the request's signing input. */
  inputSha256: string;
  signature: string;
  /** The header X-Timestamp. */
  timestamp: string;
}

/** A server's response: it cannot be moved to another request, nor to a later one of the same. */
export function responseInput(response: {
  status: number;
  request: AnsweredRequest;
  /** The server's. */
  timestamp: string;
  bodySha256: string;
}): string {
  const { status, request, timestamp, bodySha256 } = response;
  const { method, target, publicKey, inputSha256, signature } = request;
  const asked = [method, target, publicKey, inputSha256, signature, request.timestamp];
  return ['agentnet-v2-response', status, ...asked, timestamp, bodySha256].join('\n');
}

const short = (text: string) => sha256Hex(text).slice(0, 32);

/** The id of the agent with this public key (hex, in either case): `agent_` and 32 hex digits. */
export function agentId(publicKey: string): string {
  return `agent_${short(`agentnet-v1-agent\n${lowerAscii(publicKey)}`)}`;
}

/** Leaves the signature out: a second valid signature must not make a second block. */
export function blockHash(body: JsonBody, producer: string, networkId: string): string {
  const object = { ...withoutSignature(body), producer, network_id: networkId };
  return sha256Hex(`agentnet-v1-blockhash\n${canonical(object)}`);
}

/** The id of a meme: of its poster's key and what was signed. */
export function memeId(publicKey: string, meme: SignedMeme): string {
  return `meme_${short(`agentnet-v1-memeid\n${publicKey}\n${memeObject(meme)}`)}`;
}

/** `inputSha256` is the hex sha256 of the founding request's signing input. */
export function allianceId(founderKey: string, inputSha256: string): string {
  return `ally_${short(`agentnet-v1-allianceid\n${founderKey}\n${inputSha256}`)}`;
}

/** How a discussion or alliance request is remembered: by key and signing input. */
export function requestId(publicKey: string, inputSha256: string): string {
  return sha256Hex(`agentnet-v1-requestid\n${publicKey}\n${inputSha256}`);
}

/** RFC 8785 canonical JSON. */
/** hex sha256 of a text (as UTF-8) or of bytes. */
export { canonical as jcs, sha256Hex };
