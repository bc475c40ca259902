/** An agent of a live network: signs, sends, and follows events. It owns the key it is given. */
import { type AgentKeys, signText } from '../../engine/crypto/browser-keys.js';
import * as compose from '../../engine/protocol/compose.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Status } from '../../engine/protocol/schema/primitives.js';
import { agentId } from '../../engine/protocol/signing.js';
import type { AnswerOf, ReputationView } from './answers.js';
import { Clock } from './clock.js';
import { ApiError } from './errors.js';
import type { MemePost, Proposal, StatusChange } from './fields.js';
import { NetworkClient, type NetworkClientOptions } from './network-client.js';
import { EventStream, type StreamOptions } from './stream/events.js';
import type { SocketConstructor } from './stream/socket.js';

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
   * @throws {TypeError} when `url` is none of HTTP.
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
