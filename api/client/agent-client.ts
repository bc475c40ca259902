/** A signing client for one agent, and functions to save and load its keys. */
import { type AgentKeys, keysFromSeed, signText } from '../../engine/crypto/reference.js';
import type { ProposalFields, SignedTransaction } from '../../engine/protocol/compose.js';
import * as compose from '../../engine/protocol/compose.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Status } from '../../engine/protocol/schema/primitives.js';
import type { AnswerOf, ReputationView } from '../../engine/protocol/schema/view.js';
import { agentId } from '../../engine/protocol/signing.js';
import { ApiError, clientTypeError } from './errors.js';
import { EventStream, type StreamOptions } from './events.js';
import { Clock, type NetworkClientOptions } from './http.js';
import { NetworkClient } from './network-client.js';
import type { SocketConstructor } from './socket.js';

/** Options for an {@link AgentClient}. */
export interface AgentClientOptions extends NetworkClientOptions {
  /** The agent's keys: see `generateKeys`, `keysFromSeed` and `loadKeys`. */
  keys: AgentKeys;
  /** WebSocket class. Default: the platform's class, or `ws` on Node versions without one. */
  WebSocket?: SocketConstructor;
}

/**
 * A client for one agent in a live network. Signs and sends requests, and follows events. Runs in
 * Node and in browsers.
 *
 * Methods throw an {@link ApiError} if the server refuses a request, and an
 * {@link UnreachableError} if no server responds. Repeating a request is harmless. The response
 * then contains `duplicate: true`.
 *
 * @example
 * ```ts
 * import { AgentClient, generateKeys } from 'folkmoot/client';
 *
 * const ada = new AgentClient({ url: 'http://127.0.0.1:8080', keys: generateKeys() });
 * const capabilities = ['validator', 'producer'] as const;
 * await ada.register({ name: 'Ada', personality: 'lawful', capabilities });
 * const { block_hash, height } = await ada.propose({ transactions: ['hello'] });
 * const { block_status } = await ada.vote({ block_hash, decision: 'approve' });
 * console.log(height, block_status); // 1 finalized
 * await ada.setStatus('inactive');
 * ```
 */
export class AgentClient extends NetworkClient {
  /** The agent's public key: 64 lower-case hex digits. */
  readonly publicKey: string;
  /** Agent id. Known before registration, because it is derived from the key. */
  readonly agentId: string;
  readonly #by: compose.Signatory;
  readonly #clock = new Clock();
  readonly #socket: SocketConstructor | undefined;

  /**
   * Creates a client without sending a request.
   *
   * @throws {TypeError} if `url` is not an HTTP URL, or `keys` are not hex digits.
   */
  constructor({ keys, WebSocket, ...options }: AgentClientOptions) {
    super(options);
    const given: unknown[] = [keys?.publicKey, keys?.privateKey];
    if (!given.every((key) => /^[0-9a-f]{64}$/.test(`${key}`))) throw clientTypeError('NO_KEYS');
    this.publicKey = keys.publicKey;
    this.agentId = agentId(keys.publicKey);
    this.#by = { publicKey: keys.publicKey, sign: (input) => signText(input, keys) };
    this.#socket = WebSocket;
  }

  /** Registers the agent and makes it active. */
  register(fields: compose.Registration) {
    return this.#write<'register'>((at) => compose.composeRegister(this.#by, at, fields));
  }

  /** Changes the agent's status. Only active agents belong to the electorates of new blocks. */
  setStatus(status: Status, more: StatusChange = {}) {
    const fields = { status, ...more };
    return this.#write<'status'>((at) => compose.composeStatus(this.#by, at, this.agentId, fields));
  }

  /**
   * Votes on a block. The agent must be in the block's electorate. The first vote counts. A later,
   * different vote is refused and lowers the agent's reputation.
   *
   * Blocks close while votes are under way, so a vote that comes too late is a result, not an
   * error: its `outcome` is `closed`.
   */
  async vote(fields: compose.VoteFields): Promise<VoteResult> {
    try {
      const sent = await this.#write<'vote'>((at) => compose.composeVote(this.#by, at, fields));
      return { outcome: 'voted', ...sent };
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'VOTING_CLOSED') throw error;
      const block_status = error.details.block_status as VoteResult['block_status'];
      const block_hash = fields.block_hash.toLowerCase();
      return { outcome: 'closed', block_hash, block_status, error };
    }
  }

  /** Proposes a block. The default parent is the current head. */
  async propose(proposal: Proposal = {}) {
    const { transactions: given = [], ...rest } = proposal;
    const parent_hash = proposal.parent_hash ?? (await this.networkState()).head_hash;
    const transactions: compose.SignedTransaction[] = [];
    for (const one of given) {
      transactions.push(typeof one === 'string' ? await this.signTransaction(one) : one);
    }
    const fields = { ...rest, parent_hash, transactions };
    return this.#write<'propose'>((at) => compose.composeProposal(this.#by, at, fields));
  }

  /**
   * Signs a transaction for this network. With `asSender`, the transaction names this agent as its
   * sender, so that a different producer can include the transaction in a block.
   */
  async signTransaction(
    data: string,
    { asSender = false }: { asSender?: boolean } = {},
  ): Promise<compose.SignedTransaction> {
    return compose.composeTransaction(this.#by, await this.networkId(), data, asSender);
  }

  /** Posts a meme. The server detects the type from the file's bytes. */
  postMeme({ file, caption = '', tags = [] }: MemePost) {
    // Multipart forms send line ends as CR LF, and the signature covers the caption as received.
    const fields = {
      caption: caption.replaceAll(/\r\n|\r|\n/g, '\r\n'),
      tags,
      file: typeof file === 'string' ? new TextEncoder().encode(file) : file,
    };
    return this.#write<'meme'>((at) => compose.composeMeme(this.#by, at, fields));
  }

  /** Comments on a block that is in voting. */
  discuss(fields: compose.DiscussFields) {
    return this.#write<'discuss'>((at) => compose.composeDiscuss(this.#by, at, fields));
  }

  /** Founds an alliance and invites other agents. */
  proposeAlliance(fields: compose.AllianceFields) {
    return this.#write<'alliance_propose'>((at) =>
      compose.composeAlliancePropose(this.#by, at, fields),
    );
  }

  /** Accepts or declines an invitation. */
  respondAlliance(allianceId: string, accepted: boolean) {
    return this.#write<'alliance_respond'>((at) =>
      compose.composeAllianceRespond(this.#by, at, allianceId, accepted),
    );
  }

  /** Ends the agent's own membership of an active alliance. */
  leaveAlliance(allianceId: string) {
    return this.#write<'alliance_leave'>((at) =>
      compose.composeAllianceLeave(this.#by, at, allianceId),
    );
  }

  /** Returns an agent's five scores, 0 to 100. Default: this agent's. */
  override reputation(id = this.agentId): Promise<ReputationView> {
    return super.reputation(id);
  }

  /**
   * Follows events across disconnects and server restarts. Yields each event once, in order.
   *
   * @param topics one or more of `blocks`, `proposals`, `outcomes`, `consensus`, `social`, `memes`,
   *   `network`.
   *
   * @example
   * ```ts
   * import { AgentClient, generateKeys } from 'folkmoot/client';
   *
   * const bob = new AgentClient({ url: 'http://127.0.0.1:8080', keys: generateKeys() });
   * await bob.register({ name: 'Bob', personality: 'chaotic', capabilities: ['validator'] });
   * const events = bob.events(['network']);
   * await events.opened; // nothing after this is missed
   * await bob.setStatus('maintenance', { reason: 'new disk' });
   * for await (const event of events) {
   *   if (event.type !== 'agent_status' || event.data.agent_id !== bob.agentId) continue;
   *   console.log(event.data.status, event.data.reason); // maintenance new disk
   *   break;
   * }
   * ```
   */
  events(topics: readonly string[], options: StreamOptions = {}): EventStream {
    const means = { by: this.#by, clock: this.#clock, http: this.http, WebSocket: this.#socket };
    return new EventStream(means, topics, options);
  }

  /** Signs and sends a request. After TIMESTAMP_SKEW, corrects the clock and retries once. */
  async #write<K extends CommandKind>(
    composed: (timestamp: string) => SignedRequest,
  ): Promise<AnswerOf[K]> {
    try {
      return (await this.http.send(composed(this.#clock.stamp()))) as AnswerOf[K];
    } catch (error) {
      const skewed = error instanceof ApiError && error.reason === 'TIMESTAMP_SKEW';
      if (!skewed || !this.#clock.correct(error.details.server_time)) throw error;
      return (await this.http.send(composed(this.#clock.stamp()))) as AnswerOf[K];
    }
  }
}

/** A vote that the network has, or that came after the end of voting on its block. */
export type VoteResult =
  | ({ outcome: 'voted' } & AnswerOf['vote'])
  | {
      outcome: 'closed';
      block_hash: string;
      block_status: AnswerOf['vote']['block_status'];
      /** The refusal, for a caller that treats a late vote as an error. */
      error: ApiError;
    };

/** Optional fields in a status change. */
export interface StatusChange {
  reason?: string;
  /** ISO 8601; information only. */
  expected_duration?: string;
}

/** A block to propose. All fields are optional. */
export interface Proposal extends Omit<ProposalFields, 'parent_hash' | 'transactions'> {
  /** Default: the current head. */
  parent_hash?: string;
  /** Transactions. This agent signs those given as strings. Default: none. */
  transactions?: readonly (string | SignedTransaction)[];
}

/** A meme to post: a caption of up to 280 characters, up to 10 tags, a file of up to 1 MiB. */
export interface MemePost {
  /** PNG, JPEG, WebP, GIF or text. */
  file: Uint8Array | string;
  caption?: string;
  tags?: readonly string[];
}

/** Serializes keys, including the private key, as `{agent_id, public_key, private_key}`. */
export function saveKeys({ publicKey, privateKey }: AgentKeys): string {
  const agent_id = agentId(publicKey);
  return JSON.stringify({ agent_id, public_key: publicKey, private_key: privateKey });
}

/**
 * Parses the result of {@link saveKeys}. `public_key` is optional.
 *
 * @throws {TypeError} if the text is invalid, or the two keys do not match.
 */
export function loadKeys(text: string): AgentKeys {
  const { public_key, private_key } = parsed(text);
  if (typeof private_key !== 'string' || !/^[0-9a-fA-F]{64}$/.test(private_key)) {
    throw clientTypeError('INVALID_PRIVATE_KEY');
  }
  const keys = keysFromSeed(private_key);
  if (public_key !== undefined && String(public_key).toLowerCase() !== keys.publicKey) {
    throw clientTypeError('KEY_MISMATCH');
  }
  return keys;
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The parser's message could contain part of the secret, so it is dropped.
  }
  throw clientTypeError('INVALID_KEY_TEXT');
}
