/** A server with five agents, and a tab that watches their network. */
import { join } from 'node:path';
import type { AgentClient } from 'folkmoot/client';
import type { Page } from 'playwright-core';
import { clientOf } from '../../client/helpers.js';
import { temporaryFolder } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import { modes, open } from '../browser.js';
import { isLive } from '../voters.js';

const names = ['ada', 'bob', 'cy', 'dan', 'eve'] as const;
type Name = (typeof names)[number];

export interface Alive {
  url: string;
  tab: Page;
  complaints: string[];
  by: Record<Name, AgentClient>;
  /** Registers a further agent. */
  join(name: string): Promise<AgentClient>;
  /** Makes ada propose a block, and returns the block hash. */
  propose(...transactions: string[]): Promise<string>;
  /** Casts votes by name, in order. */
  vote(block_hash: string, said: Partial<Record<Name, 'approve' | 'reject'>>): Promise<void>;
}

/** Voting period. Four out of five approvals, or two rejections, decide earlier. */
const LONG_MS = '600000';

export async function alive(view: string): Promise<Alive> {
  const data = join(temporaryFolder(), 'data');
  const kept = ['--data', data, '--limits', 'bench', '--voting-period-ms', LONG_MS];
  const server = begin(['serve', '--port', '0', ...kept]);
  const [, url = ''] = await server.printed(/"url":"([^"]+)"/);
  let count = 0;
  const join_ = async (name: string) => {
    count += 1;
    const client = clientOf(url, count);
    const capabilities = ['validator', 'producer'] as const;
    const about = { personality: 'rational', description: `${name} counts`, capabilities };
    await client.register({ ...about, name });
    return client;
  };
  const clients: AgentClient[] = [];
  for (const name of names) clients.push(await join_(name));
  const by = Object.fromEntries(names.map((name, place) => [name, clients[place]!]));
  const { tab, complaints } = await open(`${url}/ui/${view}`, modes.light);
  await isLive(tab);
  return {
    ...{ url, tab, complaints, join: join_ },
    by: by as Alive['by'],
    async propose(...transactions) {
      return (await by.ada!.propose({ transactions })).block_hash;
    },
    async vote(block_hash, said) {
      for (const [name, decision] of Object.entries(said)) {
        await by[name]!.vote({ block_hash, decision, reason: `${name} says ${decision}` });
      }
    },
  };
}
