/** What needs no key: the reads, and to hand over what somebody has signed. */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type * as answer from './answers.js';
import { Http, type HttpOptions } from './http.js';

export type NetworkClientOptions = HttpOptions;

/** How much of a list, and from where. */
export interface PageQuery {
  /** 1 to 1,000. */
  limit?: number;
  /** The `next_cursor` of the page before. */
  cursor?: string;
}

const part = encodeURIComponent;

/** Every method throws an `ApiError` when refused, an `UnreachableError` when nobody answers. */
export class NetworkClient {
  protected readonly http: Http;
  #meta: Promise<answer.Meta> | null = null;

  constructor(options: NetworkClientOptions) {
    this.http = new Http(options);
  }

  get url(): string {
    return this.http.url;
  }

  networkState() {
    return this.#get<answer.NetworkState>('/network/state');
  }

  /** The active agents, all of them unless `limit` is given. */
  agents(query: { limit?: number } = {}) {
    return this.#get<answer.AgentList>('/network/agents', query);
  }

  agent(id: string) {
    return this.#get<answer.AgentView>(`/agents/${part(id)}`);
  }

  reputation(id: string) {
    return this.#get<answer.ReputationView>(`/social/reputation/${part(id)}`);
  }

  blocks(query: PageQuery & { status?: answer.BlockView['status'] } = {}) {
    return this.#get<answer.BlockPage>('/blocks', query);
  }

  block(hash: string) {
    return this.#get<answer.BlockDetail>(`/blocks/${part(hash)}`);
  }

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

  alliances(query: PageQuery = {}) {
    return this.#get<answer.AlliancePage>('/social/alliances', query);
  }

  /** One page of history: events after a `seq`, of some topics or of all. */
  eventPage(query: { after?: number; topics?: readonly string[]; limit?: number } = {}) {
    return this.#get<answer.EventPage>('/events', query);
  }

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
