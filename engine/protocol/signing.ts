/**
 * Signing inputs and content ids, used by clients and the network. Pure; runs in browsers. Inputs
 * are UTF-8; LF is one line feed.
 */
import { sha256Hex } from '#sha256';
import { canonical } from './canonical.js';
import { lowerAscii } from './text.js';

/** The parsed body of a request. */
export type JsonBody = Readonly<Record<string, unknown>>;

function withoutSignature(body: JsonBody): JsonBody {
  // Runs three times as fast as `{ signature, ...rest }`. parseJson has already validated the
  // names.
  const rest: Record<string, unknown> = {};
  for (const name in body) if (name !== 'signature') rest[name] = body[name];
  return rest;
}

/** Builds a vote's signing input from its body without `signature`, with unknown members. */
export function voteInput(body: JsonBody): string {
  return `agentnet-v1-vote\n${canonical(withoutSignature(body))}`;
}

/** Builds a block proposal's signing input from its body. */
export function proposalInput(body: JsonBody): string {
  return `agentnet-v1-block\n${canonical(withoutSignature(body))}`;
}

/** Builds a transaction's signing input. The hash is signed in lower case. */
export function transactionInput(networkId: string, hash: string): string {
  return `agentnet-v1-tx\n${networkId}\n${lowerAscii(hash)}`;
}

/** Members that a meme's signature covers. */
export interface SignedMeme {
  caption: string;
  /** Signed in lower case. */
  content_sha256: string;
  tags: readonly string[];
  /** The X-Timestamp header. */
  timestamp: string;
}

/** Builds a meme's signing input. */
export function memeInput(meme: SignedMeme): string {
  return `agentnet-v1-meme\n${memeObject(meme)}`;
}

function memeObject({ caption, content_sha256, tags, timestamp }: SignedMeme): string {
  return canonical({ caption, content_sha256: lowerAscii(content_sha256), tags, timestamp });
}

/** Builds the signing input of a header signature. `bodySha256`: sha256 of the raw body, in hex. */
export function httpInput(request: {
  method: string;
  target: string;
  timestamp: string;
  bodySha256: string;
}): string {
  const { method, target, timestamp, bodySha256 } = request;
  return `agentnet-v1-http\n${method}\n${target}\n${timestamp}\n${bodySha256}`;
}

/** Builds the signing input of the WebSocket `auth` message, with key and timestamp as sent. */
export function authInput(publicKey: string, timestamp: string): string {
  return `auth:${publicKey}:${timestamp}`;
}

/** The request that a signed response belongs to. `-` stands for an absent member. */
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

/** Builds a response's signing input, which binds the response to one request. */
export function responseInput(response: {
  status: number;
  request: AnsweredRequest;
  /** Server time. */
  timestamp: string;
  bodySha256: string;
}): string {
  const { status, request, timestamp, bodySha256 } = response;
  const { method, target, publicKey, inputSha256, signature } = request;
  const asked = [method, target, publicKey, inputSha256, signature, request.timestamp];
  return ['agentnet-v2-response', status, ...asked, timestamp, bodySha256].join('\n');
}

const short = (text: string) => sha256Hex(text).slice(0, 32);

/** Computes the agent id for a public key (hex, any case): `agent_` and 32 hex digits. */
export function agentId(publicKey: string): string {
  return `agent_${short(`agentnet-v1-agent\n${lowerAscii(publicKey)}`)}`;
}

/** Computes a block hash, without the signature: a second signature creates no second block. */
export function blockHash(body: JsonBody, producer: string, networkId: string): string {
  const object = { ...withoutSignature(body), producer, network_id: networkId };
  return sha256Hex(`agentnet-v1-blockhash\n${canonical(object)}`);
}

/** Computes a meme id from the creator's key and the signed members. */
export function memeId(publicKey: string, meme: SignedMeme): string {
  return `meme_${short(`agentnet-v1-memeid\n${publicKey}\n${memeObject(meme)}`)}`;
}

/** Computes an alliance id. `inputSha256`: sha256 of the founding request's signing input, hex. */
export function allianceId(founderKey: string, inputSha256: string): string {
  return `ally_${short(`agentnet-v1-allianceid\n${founderKey}\n${inputSha256}`)}`;
}

/** Computes the id of a discussion or alliance request from the key and the signing input. */
export function requestId(publicKey: string, inputSha256: string): string {
  return sha256Hex(`agentnet-v1-requestid\n${publicKey}\n${inputSha256}`);
}

/** `jcs` is RFC 8785 canonical JSON; `sha256Hex` hashes a text (as UTF-8) or bytes. */
export { canonical as jcs, sha256Hex };
