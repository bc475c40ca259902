/** Runs small scenarios; returns the requests, votes and tables. */
import { join } from 'node:path';
import type { CommandKind } from 'folkmoot';
import { completeScenario, type Row, type SimResult, type TableName } from 'folkmoot/sim';
import { simulateWithFaults } from 'folkmoot/testing';
import { START_MS } from '../support/citizens.js';
import { temporaryFolder } from '../support/fixture.js';
import { csvRows } from '../support/runs.js';

export type Raw = Record<string, unknown>;
type Cells<T extends TableName> = Record<keyof Row<T>, string>;

/** A request as its agent sent it, delivered or not. */
export interface SentRequest {
  kind: CommandKind;
  publicKey: string;
  /** Sender's clock as RFC 3339, and milliseconds of the run. */
  timestamp: string;
  ms: number;
  body: Record<string, unknown>;
}

export interface Lived {
  result: SimResult;
  folder: string;
  /** In the order in which the requests were sent. */
  sent: SentRequest[];
  votes: Cells<'votes.csv'>[];
  blocks: Cells<'blocks.csv'>[];
  agents: Cells<'agents.csv'>[];
}

export const quiet = {
  ...{ memes: { rate: 0 }, discussion: { rate: 0 }, alliances: { rate: 0 }, breaks: { rate: 0 } },
};

/** Fast and equal links, so that a test measures the agents alone. */
export const nearby = { latency: { distribution: 'constant', mean_ms: 20, spread_ms: 0 } };

/** Every vote counts: a block is decided when all have voted, or at its deadline. */
export const allVote = { policy: 'majority', participation: 0, dormant_after: 0 };

/** Runs groups in a quiet world; the given sections replace the defaults. */
export async function live(agents: Raw[], sections: Raw = {}, folder?: string): Promise<Lived> {
  const scenario = completeScenario(
    {
      title: 'a test',
      signatures: 'none',
      agents,
      social: quiet,
      links: nearby,
      topology: { kind: 'complete' },
      producers: { schedule: 'round_robin', block_interval_ms: 5_000 },
      consensus: allVote,
      length: { blocks: 6 },
      measure: { votes: true },
      ...sections,
    },
    folder,
  );
  const out = join(temporaryFolder(), 'run');
  const sent: SentRequest[] = [];
  const result = await simulateWithFaults(
    scenario,
    { out, ...(folder === undefined ? {} : { folder }) },
    {
      inTransit(request) {
        const { kind, public_key: publicKey } = request;
        const body = JSON.parse(Buffer.from(request.body).toString()) as Raw;
        const timestamp = request.timestamp || (body.timestamp as string);
        sent.push({ kind, publicKey, timestamp, ms: Date.parse(timestamp) - START_MS, body });
        return request;
      },
    },
  );
  const rows = <T extends TableName>(name: T) => csvRows(join(out, name)) as Cells<T>[];
  const tables = {
    ...{ votes: rows('votes.csv'), blocks: rows('blocks.csv'), agents: rows('agents.csv') },
  };
  return { result, folder: out, sent, ...tables };
}

/** Votes of a group, each with its block. */
export function votesOf({ votes, blocks }: Lived, group: string) {
  const those = votes.filter((vote) => vote.group === group);
  return those.map((vote) => ({ ...vote, of: blocks[Number(vote.block)]! }));
}

/** Requests of a kind that a group sent. The first registration of each name identifies a key. */
export function sentBy({ sent, agents }: Lived, group: string, kind: CommandKind): SentRequest[] {
  const names = new Set(agents.filter((one) => one.group === group).map(({ name }) => name));
  const keys = new Set(
    sent
      .filter((one) => one.kind === 'register' && names.has(one.body.name as string))
      .map(({ publicKey }) => publicKey),
  );
  return sent.filter((one) => one.kind === kind && keys.has(one.publicKey));
}
