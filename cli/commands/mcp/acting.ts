/** The agents that a model may act as: one for each key, by a name. The keys do not leave here. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { basename } from 'node:path';
import { AgentClient } from '../../../api/client/index.js';
import { keysOf } from '../../options/client.js';
import { UsageError } from '../../output/exit.js';
import { News } from './news/news.js';

/** One of them. */
export interface Acting {
  /** Of the key, not of the agent: what the model calls it by. */
  name: string;
  client: AgentClient;
  news: News;
}

/** Of each call, the names in its requests that the server does not know. */
export const unknownNames = new AsyncLocalStorage<string[]>();

/** Far more than a model can keep apart. */
const MOST = 32;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;

export class ActingAgents {
  readonly urls: readonly string[];
  readonly #agents: ReadonlyMap<string, Acting>;

  private constructor(urls: readonly string[], agents: ReadonlyMap<string, Acting>) {
    this.urls = urls;
    this.#agents = agents;
  }

  /**
   * Reads the keys.
   *
   * @throws {UsageError} where one cannot be read, or two have one name.
   */
  static async read(urls: readonly string[], given: readonly string[]): Promise<ActingAgents> {
    if (given.length > MOST) throw new UsageError(`--key: at most ${MOST}, got ${given.length}`);
    const agents = new Map<string, Acting>();
    const ids = new Set<string>();
    for (const [name, file] of given.map(named)) {
      const onUnknown = (found: readonly string[]) => unknownNames.getStore()?.push(...found);
      const client = new AgentClient({ url: urls, keys: await keysOf(file), onUnknown });
      if (agents.has(name)) {
        throw new UsageError(`--key ${file}: ${name} is named already; expected NAME=${file}`);
      }
      if (ids.has(client.agentId)) throw new UsageError(`--key ${file}: this key is given twice`);
      ids.add(client.agentId);
      agents.set(name, { name, client, news: new News(client) });
    }
    return new ActingAgents(urls, agents);
  }

  get names(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /** By its name; the first one without a name. */
  get(name?: string): Acting | undefined {
    return name === undefined ? [...this.#agents.values()][0] : this.#agents.get(name);
  }

  async close(): Promise<void> {
    for (const { news } of this.#agents.values()) await news.close();
  }
}

/** `NAME=FILE`, or a file whose name up to its first dot is taken. */
function named(text: string): [name: string, file: string] {
  const [, given, rest] = /^([A-Za-z0-9_-]+)=(.+)$/s.exec(text) ?? [];
  const file = rest ?? text;
  const name = given ?? basename(file).split('.')[0]!;
  if (NAME.test(name)) return [name, file];
  throw new UsageError(
    `--key ${text}: expected NAME=FILE, with a name of 1 to 32 letters, digits, _ or -`,
  );
}
