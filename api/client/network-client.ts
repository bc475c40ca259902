/** A client without a key, which reads and delivers requests that others signed. */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type * as answer from './answers.js';
import { Http, type NetworkClientOptions } from './http.js';

export type { NetworkClientOptions };

/** Page size and starting point in a list. */
export interface PageQuery {
  /** 1 to 1,000. */
  limit?: number;
  /** `next_cursor` from the previous page. */
  cursor?: string;
}

/**
 * A client without a key. Reads the network, and delivers requests that others signed.
 *
 * Methods throw an {@link ApiError} if the server refuses a request, and an
 * {@link UnreachableError} if no server responds.
 */
export class NetworkClient {
  protected readonly http: Http;
  #meta: Promise<answer.Meta> | null = null;

  /** Creates a client without any request. @throws {TypeError} if `url` is not an HTTP URL. */
  constructor(options: NetworkClientOptions) {
    this.http = new Http(options);
  }

  /** URL of the current server, without a trailing slash. */
  get url(): string {
    return this.http.servers.current;
  }

  /** Reads a path: `get('/api/v1/blocks/{hash}', { hash })`. `asked`: path and query parameters. */
  async get<P extends keyof answer.ReadAnswers>(
    path: P,
    asked: answer.ReadParameters[P],
  ): Promise<answer.ReadAnswers[P]> {
    const query: Record<string, unknown> = { ...asked };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = encodeURIComponent(String(query[name]));
      query[name] = undefined;
      return value;
    });
    // Trusts the server to follow its response schema.
    return (await this.http.get(filled, query)) as answer.ReadAnswers[P];
  }

  /** Returns height, head and other network-wide state. */
  networkState(): Promise<answer.NetworkState> {
    return this.get('/api/v1/network/state', {});
  }

  /** Returns the active agents, or at most `limit` agents if a limit is given. */
  agents(query: { limit?: number } = {}): Promise<answer.AgentList> {
    return this.get('/api/v1/network/agents', query);
  }

  /** Returns an agent by id. */
  agent(id: string): Promise<answer.AgentView> {
    return this.get('/api/v1/agents/{id}', { id });
  }

  /** Returns an agent's five scores, 0 to 100. */
  reputation(id: string): Promise<answer.ReputationView> {
    return this.get('/api/v1/social/reputation/{id}', { id });
  }

  /** Returns a page of blocks, newest first. */
  blocks(
    query: PageQuery & { status?: answer.BlockView['status'] } = {},
  ): Promise<answer.BlockPage> {
    return this.get('/api/v1/blocks', query);
  }

  /** Returns a block with its signed proposal. */
  block(hash: string): Promise<answer.BlockDetail> {
    return this.get('/api/v1/blocks/{hash}', { hash });
  }

  /** Returns the signed votes on a block, and its electorate. */
  votes(hash: string, query: PageQuery = {}): Promise<answer.VotePage> {
    return this.get('/api/v1/blocks/{hash}/votes', { hash, ...query });
  }

  /** Returns a finalized transaction by hash. */
  transaction(hash: string): Promise<answer.FinalTransaction> {
    return this.get('/api/v1/transactions/{hash}', { hash });
  }

  /** Returns the value of a state key. */
  state(key: string): Promise<answer.StateValue> {
    return this.get('/api/v1/state/{key}', { key });
  }

  /** Returns all alliances, including ended alliances, ascending by id. */
  alliances(query: PageQuery = {}): Promise<answer.AlliancePage> {
    return this.get('/api/v1/social/alliances', query);
  }

  /** Returns a page of events after a given `seq`. */
  eventPage(
    query: { after?: number; topics?: readonly string[]; limit?: number } = {},
  ): Promise<answer.EventPage> {
    return this.get('/api/v1/events', query);
  }

  /** Returns all registered agents in order of registration. */
  roster(query: PageQuery = {}): Promise<answer.RosterPage> {
    return this.get('/api/v1/agents', query);
  }

  /** Returns an agent's counted votes, newest block first. */
  votesOf(agentId: string, query: PageQuery = {}): Promise<answer.AgentVotePage> {
    return this.get('/api/v1/agents/{id}/votes', { id: agentId, ...query });
  }

  /** Returns memes from one agent or all agents, newest first. */
  memes(query: PageQuery & { agentId?: string } = {}): Promise<answer.MemePage> {
    const { agentId: id, ...page } = query;
    if (id === undefined) return this.get('/api/v1/memes', page);
    return this.get('/api/v1/agents/{id}/memes', { id, ...page });
  }

  /** Returns a log entry and its events. */
  entry(seq: number): Promise<answer.EntryView> {
    return this.get('/api/v1/entries/{entry}', { entry: seq });
  }

  /** Returns network parameters, current position and limits. */
  meta(): Promise<answer.Meta> {
    return this.get('/api/v1/meta', {});
  }

  /** Returns the id of the network, for which transactions are signed. Read once, then cached. */
  async networkId(): Promise<string> {
    this.#meta ??= this.meta();
    try {
      return (await this.#meta).network_id;
    } catch (error) {
      this.#meta = null;
      throw error;
    }
  }

  /** Sends a request that its agent has already signed. */
  async send(request: SignedRequest): Promise<answer.AnswerOf[CommandKind]> {
    return (await this.http.send(request)) as answer.AnswerOf[CommandKind];
  }
}
