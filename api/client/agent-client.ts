/**
 * An agent of a live network: it signs requests, sends them and follows events. It owns the key
 * that it is given; a key may come from a file.
 */
import { type AgentKeys, keysFromSeed, signText } from '../../engine/crypto/browser-keys.js';
import type { ProposalFields, SignedTransaction } from '../../engine/protocol/compose.js';
import * as compose from '../../engine/protocol/compose.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Status } from '../../engine/protocol/schema/primitives.js';
import type { AnswerOf, ReputationView } from '../../engine/protocol/schema/view.js';
import { agentId } from '../../engine/protocol/signing.js';
import { ApiError } from './errors.js';
import { EventStream, type StreamOptions } from './events.js';
import { Clock, type NetworkClientOptions } from './http.js';
import { NetworkClient } from './network-client.js';
import type { SocketConstructor } from './socket.js';

/** Where the server is, and whose key signs. */
export interface AgentClientOptions extends NetworkClientOptions {
  /** The agent's keys: see `generateKeys`, `keysFromSeed` and `loadKeys`. */
  keys: AgentKeys;
  /** Default: that of the platform; on a Node without one, `ws`. */
  WebSocket?: SocketConstructor;
}

/**
 * An agent of a live network: signs, sends, and follows events. Works in Node and in browsers.
 *
 * Every method throws an {@link ApiError} when refused, an {@link UnreachableError} when nobody
 * answers. To do the same again is harmless: the answer then has `duplicate: true`.
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
  /** The key that it signs with: 64 lower-case hex digits. */
  readonly publicKey: string;
  /** Follows from the key: known before registration. */
  readonly agentId: string;
  readonly #by: compose.Signatory;
  readonly #clock = new Clock();
  readonly #socket: SocketConstructor | undefined;

  /**
   * Sends nothing yet.
   *
   * @throws {TypeError} if `url` is not an HTTP URL.
   */
  constructor({ keys, WebSocket, ...options }: AgentClientOptions) {
    super(options);
    this.publicKey = keys.publicKey;
    this.agentId = agentId(keys.publicKey);
    this.#by = { publicKey: keys.publicKey, sign: (input) => signText(input, keys) };
    this.#socket = WebSocket;
  }

  /** Registers the agent; it is active at once. */
  register(fields: compose.Registration) {
    return this.#write<'register'>((at) => compose.composeRegister(this.#by, at, fields));
  }

  /** Says whether the agent takes part: only an active one is waited for by votes. */
  setStatus(status: Status, more: StatusChange = {}) {
    const fields = { status, ...more };
    return this.#write<'status'>((at) => compose.composeStatus(this.#by, at, this.agentId, fields));
  }

  /**
   * Votes on a block in whose electorate the agent is. The first vote counts; another one is
   * refused and costs reputation.
   */
  vote(fields: compose.VoteFields) {
    return this.#write<'vote'>((at) => compose.composeVote(this.#by, at, fields));
  }

  /** Proposes a block on the head, unless another parent is named. */
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
   * A transaction of this network, signed. `asSender` names this agent in it, so that another
   * producer can put it into a block.
   */
  async signTransaction(
    data: string,
    { asSender = false }: { asSender?: boolean } = {},
  ): Promise<compose.SignedTransaction> {
    return compose.composeTransaction(this.#by, await this.networkId(), data, asSender);
  }

  /** Posts a meme: the server recognises its type by the bytes of the file. */
  postMeme({ file, caption = '', tags = [] }: MemePost) {
    // What is signed is what arrives, and a form's line ends travel as CR LF.
    const fields = {
      caption: caption.replaceAll(/\r\n|\r|\n/g, '\r\n'),
      tags,
      file: typeof file === 'string' ? new TextEncoder().encode(file) : file,
    };
    return this.#write<'meme'>((at) => compose.composeMeme(this.#by, at, fields));
  }

  /** Says something about a block. */
  discuss(fields: compose.DiscussFields) {
    return this.#write<'discuss'>((at) => compose.composeDiscuss(this.#by, at, fields));
  }

  /** Founds an alliance and invites others to it. */
  proposeAlliance(fields: compose.AllianceFields) {
    return this.#write<'alliance_propose'>((at) =>
      compose.composeAlliancePropose(this.#by, at, fields),
    );
  }

  /** Answers an invitation. */
  respondAlliance(allianceId: string, accepted: boolean) {
    return this.#write<'alliance_respond'>((at) =>
      compose.composeAllianceRespond(this.#by, at, allianceId, accepted),
    );
  }

  /** Leaves an alliance. */
  leaveAlliance(allianceId: string) {
    return this.#write<'alliance_leave'>((at) =>
      compose.composeAllianceLeave(this.#by, at, allianceId),
    );
  }

  /** An agent's five scores, 0 to 100: its own unless another agent is named. */
  override reputation(id = this.agentId): Promise<ReputationView> {
    return super.reputation(id);
  }

  /**
   * Events as they happen, across drops and restarts, each once and in order.
   *
   * @param topics some of `blocks`, `proposals`, `outcomes`, `consensus`, `social`, `memes`,
   * `network`.
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

  /** Signs and sends; once, a clock that is off is set by the server's, and the call repeated. */
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

/** Optional fields of a status change. */
export interface StatusChange {
  reason?: string;
  /** ISO 8601; information only. */
  expected_duration?: string;
}

/** A block to propose: everything in it may be left out. */
export interface Proposal extends Omit<ProposalFields, 'parent_hash' | 'transactions'> {
  /** Default: the head, asked for. */
  parent_hash?: string;
  /** Texts are signed by this agent. Default: none. */
  transactions?: readonly (string | SignedTransaction)[];
}

/** A meme to post: a caption of up to 280 characters, up to 10 tags, a file of up to 1 MiB. */
export interface MemePost {
  /** PNG, JPEG, WebP, GIF, or a text. */
  file: Uint8Array | string;
  caption?: string;
  tags?: readonly string[];
}

/** The text to keep, secret and all: `{agent_id, public_key, private_key}`. */
export function saveKeys({ publicKey, privateKey }: AgentKeys): string {
  const agent_id = agentId(publicKey);
  return JSON.stringify({ agent_id, public_key: publicKey, private_key: privateKey });
}

/**
 * The keys of a kept text; `public_key` may be left out.
 * @throws {TypeError} when it is not such a text, or its two keys do not belong together.
 */
export function loadKeys(text: string): AgentKeys {
  const { public_key, private_key } = parsed(text);
  if (typeof private_key !== 'string' || !/^[0-9a-fA-F]{64}$/.test(private_key)) {
    throw new TypeError('keys: private_key is not 64 hex characters');
  }
  const keys = keysFromSeed(private_key);
  if (public_key !== undefined && String(public_key).toLowerCase() !== keys.publicKey) {
    throw new TypeError('keys: public_key is not that of private_key');
  }
  return keys;
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Told below: the parser's own words could repeat a piece of the secret.
  }
  throw new TypeError('keys: expected JSON {public_key, private_key}, as keygen --out writes it');
}
