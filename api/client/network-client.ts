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
   * @throws {TypeError} if `url` is not an HTTP URL.
   */
  constructor(options: NetworkClientOptions) {
    this.http = new Http(options);
  }

  /** The server's that is asked now, without a slash at its end. */
  get url(): string {
    return this.http.servers.current;
  }

  /**
   * The data of any read, by its path: `get('/api/v1/blocks/{hash}', { hash })`. `asked` has the
   * parameters of the path and of the query.
   */
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
    // The boundary where an answer is taken for what the server's schemas say it is.
    return (await this.http.get(filled, query)) as answer.ReadAnswers[P];
  }

  /** The network as a whole: height, head, who is active. */
  networkState(): Promise<answer.NetworkState> {
    return this.get('/api/v1/network/state', {});
  }

  /** The active agents, all of them unless `limit` is given. */
  agents(query: { limit?: number } = {}): Promise<answer.AgentList> {
    return this.get('/api/v1/network/agents', query);
  }

  /** An agent, by its id. */
  agent(id: string): Promise<answer.AgentView> {
    return this.get('/api/v1/agents/{id}', { id });
  }

  /** An agent's five scores, 0 to 100. */
  reputation(id: string): Promise<answer.ReputationView> {
    return this.get('/api/v1/social/reputation/{id}', { id });
  }

  /** Blocks, newest first, of one status or of all. */
  blocks(
    query: PageQuery & { status?: answer.BlockView['status'] } = {},
  ): Promise<answer.BlockPage> {
    return this.get('/api/v1/blocks', query);
  }

  /** A block with its proposal as it was signed. */
  block(hash: string): Promise<answer.BlockDetail> {
    return this.get('/api/v1/blocks/{hash}', { hash });
  }

  /** The signed votes on a block, and who might vote. */
  votes(hash: string, query: PageQuery = {}): Promise<answer.VotePage> {
    return this.get('/api/v1/blocks/{hash}/votes', { hash, ...query });
  }

  /** A transaction that is final, by its hash. */
  transaction(hash: string): Promise<answer.FinalTransaction> {
    return this.get('/api/v1/transactions/{hash}', { hash });
  }

  /** The value that the finalized blocks left under a key. */
  state(key: string): Promise<answer.StateValue> {
    return this.get('/api/v1/state/{key}', { key });
  }

  /** Alliances, ascending by id, those that are over included. */
  alliances(query: PageQuery = {}): Promise<answer.AlliancePage> {
    return this.get('/api/v1/social/alliances', query);
  }

  /** One page of history: events after a `seq`, of some topics or of all. */
  eventPage(
    query: { after?: number; topics?: readonly string[]; limit?: number } = {},
  ): Promise<answer.EventPage> {
    return this.get('/api/v1/events', query);
  }

  /** All registered agents in order of registration, whatever their status. */
  roster(query: PageQuery = {}): Promise<answer.RosterPage> {
    return this.get('/api/v1/agents', query);
  }

  /** The votes of an agent that counted, newest block first. */
  votesOf(agentId: string, query: PageQuery = {}): Promise<answer.AgentVotePage> {
    return this.get('/api/v1/agents/{id}/votes', { id: agentId, ...query });
  }

  /** Memes, newest first: of one agent, or of all. */
  memes(query: PageQuery & { agentId?: string } = {}): Promise<answer.MemePage> {
    const { agentId: id, ...page } = query;
    if (id === undefined) return this.get('/api/v1/memes', page);
    return this.get('/api/v1/agents/{id}/memes', { id, ...page });
  }

  /** An entry of the log, and what came of it. */
  entry(seq: number): Promise<answer.EntryShown> {
    return this.get('/api/v1/entries/{entry}', { entry: seq });
  }

  /** The network's parameters, where its log stands, and the server's limits. */
  meta(): Promise<answer.Meta> {
    return this.get('/api/v1/meta', {});
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
}
