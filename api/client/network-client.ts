/** What needs no key: the reads, and to hand over what somebody has signed. */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type * as answer from './answers.js';
import { Http, type NetworkClientOptions } from './http.js';

export type { NetworkClientOptions };

/** How much of a list, and from where. */
export interface PageQuery {
  /** 1 to 1,000. */
  limit?: number;
  /** The `next_cursor` of the page before. */
  cursor?: string;
}

const part = encodeURIComponent;

/**
 * What needs no key: the reads, and to hand over what somebody has signed.
 *
 * Every method throws an {@link ApiError} when refused, an {@link UnreachableError} when nobody
 * answers.
 */
export class NetworkClient {
  protected readonly http: Http;
  #meta: Promise<answer.Meta> | null = null;

  /**
   * Sends nothing yet.
   *
   * @throws {TypeError} when `url` is none of HTTP.
   */
  constructor(options: NetworkClientOptions) {
    this.http = new Http(options);
  }

  /** The server's that is asked now, without a slash at its end. */
  get url(): string {
    return this.http.servers.current;
  }

  /** The network as a whole: height, head, who is active. */
  networkState() {
    return this.#get<answer.NetworkState>('/network/state');
  }

  /** The active agents, all of them unless `limit` is given. */
  agents(query: { limit?: number } = {}) {
    return this.#get<answer.AgentList>('/network/agents', query);
  }

  /** An agent, by its id. */
  agent(id: string) {
    return this.#get<answer.AgentView>(`/agents/${part(id)}`);
  }

  /** An agent's five scores, 0 to 100. */
  reputation(id: string) {
    return this.#get<answer.ReputationView>(`/social/reputation/${part(id)}`);
  }

  /** Blocks, newest first, of one status or of all. */
  blocks(query: PageQuery & { status?: answer.BlockView['status'] } = {}) {
    return this.#get<answer.BlockPage>('/blocks', query);
  }

  /** A block with its proposal as it was signed. */
  block(hash: string) {
    return this.#get<answer.BlockDetail>(`/blocks/${part(hash)}`);
  }

  /** The signed votes on a block, and who might vote. */
  votes(hash: string, query: PageQuery = {}) {
    return this.#get<answer.VotePage>(`/blocks/${part(hash)}/votes`, query);
  }

  /** A transaction that is final, by its hash. */
  transaction(hash: string) {
    return this.#get<answer.FinalTransaction>(`/transactions/${part(hash)}`);
  }

  /** What the finalized blocks have left under a key. */
  state(key: string) {
    return this.#get<answer.StateValue>(`/state/${part(key)}`);
  }

  /** Alliances, ascending by id, those that are over included. */
  alliances(query: PageQuery = {}) {
    return this.#get<answer.AlliancePage>('/social/alliances', query);
  }

  /** One page of history: events after a `seq`, of some topics or of all. */
  eventPage(query: { after?: number; topics?: readonly string[]; limit?: number } = {}) {
    return this.#get<answer.EventPage>('/events', query);
  }

  /** All registered agents in order of registration, whatever their status. */
  roster(query: PageQuery = {}) {
    return this.#get<answer.RosterPage>('/agents', query);
  }

  /** The votes of an agent that counted, newest block first. */
  votesOf(agentId: string, query: PageQuery = {}) {
    return this.#get<answer.AgentVotePage>(`/agents/${part(agentId)}/votes`, query);
  }

  /** Memes, newest first: of one agent, or of all. */
  memes(query: PageQuery & { agentId?: string } = {}) {
    const { agentId, ...page } = query;
    const path = agentId === undefined ? '/memes' : `/agents/${part(agentId)}/memes`;
    return this.#get<answer.MemePage>(path, page);
  }

  /** An entry of the log, and what came of it. */
  entry(seq: number) {
    return this.#get<answer.EntryShown>(`/entries/${seq}`);
  }

  /** The network's parameters, where its log stands, and the server's limits. */
  meta() {
    return this.#get<answer.Meta>('/meta');
  }

  /** The network's name, which transactions are signed for: asked once. */
  async networkId(): Promise<string> {
    this.#meta ??= this.meta();
    try {
      return (await this.#meta).network_id;
    } catch (error) {
      this.#meta = null;
      throw error;
    }
  }

  /** Sends a request that its agent has composed and signed already. */
  async send(request: SignedRequest): Promise<answer.AnswerOf[CommandKind]> {
    return (await this.http.send(request)) as answer.AnswerOf[CommandKind];
  }

  /** The boundary where an answer is taken for what the server's schemas say it is. */
  async #get<T>(path: string, query: object = {}): Promise<T> {
    return (await this.http.get(`/api/v1${path}`, query)) as T;
  }
}
