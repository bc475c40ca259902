/** The end of a run: its measures, and the rows of its tables, out of what was collected. */
import type { MessageKind } from '../world/messages.js';
import type { BlockFigure } from './collect/blocks.js';
import type { MessageFigures } from './collect/traffic.js';
import type { Collected, RunReads } from './collected.js';
import type { Measures, Row, TableName } from './dictionary.js';
import { agentRows, blockRows, groupRows, type Scores } from './rows.js';
import { gini, Mean, share } from './statistics.js';

/** votes.csv is written while the run goes; reported.csv is of scripts, edges.csv of the world. */
export type TableRows = {
  [T in Exclude<TableName, 'votes.csv' | 'reported.csv' | 'edges.csv'>]: Iterable<Row<T>>;
};

export interface Finished {
  measures: Measures;
  /** From when on is measured, milliseconds of the run; null when the warm-up did not end. */
  measuredFromMs: number | null;
  messages: Record<MessageKind, MessageFigures>;
  tables: TableRows;
}

export function finish(reads: RunReads, collected: Collected): Finished {
  const { measuredFrom, startMs } = collected;
  const scores = scoresOf(reads);
  return {
    measures: measuresOf(reads, collected, scores),
    measuredFromMs: measuredFrom === null ? null : measuredFrom - startMs,
    messages: collected.messages.figures(),
    tables: {
      'blocks.csv': blockRows(reads, collected),
      'agents.csv': agentRows(reads, collected),
      'groups.csv': [...groupRows(collected, scores)],
      'series.csv': collected.series.rows(),
      'messages.csv': collected.messages.rows(),
    },
  };
}

function measuresOf(reads: RunReads, collected: Collected, scores: Scores): Measures {
  const { counts, closed, activity, agreement, memes } = collected;
  const { proposed, finalized, rejected, expired, orphaned, votes, transactions } = counts;
  const { measuredFrom, endMs } = collected;
  const seconds = (endMs - (measuredFrom ?? endMs)) / 1000;
  return {
    proposed,
    finalized,
    rejected,
    expired,
    orphaned,
    open_at_end: proposed - blocksClosed(collected.blocks),
    finalized_share: share(finalized, closed),
    rejected_share: share(rejected, closed),
    expired_share: share(expired, closed),
    orphaned_share: share(orphaned, closed),
    ...collected.outcomes.measures(),
    transactions,
    tps: share(transactions, seconds),
    votes,
    ...turnout(reads, collected.blocks),
    longest_wait_ms: collected.longestWaitMs,
    late_votes: activity.total('late_votes'),
    equivocations: activity.total('equivocations'),
    agreement: agreement.all,
    agreement_within: agreement.within,
    agreement_between: agreement.between,
    ...reputations(scores),
    ...collected.alliances.measures(endMs),
    memes: counts.memes,
    meme_reach_mean: memes.meanReach(counts.memes),
    meme_references: memes.references,
    influence: memes.influence,
    never_joined: collected.population.agents.filter(({ id }) => !scores.has(id)).length,
    ...collected.messages.measures(closed),
    ...activity.deciders(),
  };
}

function turnout(reads: RunReads, blocks: readonly BlockFigure[]) {
  const votes = new Mean();
  const participation = new Mean();
  for (const block of blocks) {
    if (block.status === 'voting' || block.warmup) continue;
    votes.add(block.votes);
    const { electors } = reads.record('blocks', block.hash)!.context;
    if (electors > 0) participation.add(block.votes / electors);
  }
  return { votes_per_block: votes.value, participation: participation.value };
}

const blocksClosed = (blocks: readonly BlockFigure[]): number =>
  blocks.filter(({ status, warmup }) => status !== 'voting' && !warmup).length;

/** By id; of all agents of the network, those of others too. */
function scoresOf(reads: RunReads): Scores {
  const scores = new Map<string, number>();
  for (const { id, reputation_score } of reads.agents()) scores.set(id, reputation_score);
  return scores;
}

function reputations(scores: Scores) {
  const mean = new Mean();
  for (const score of scores.values()) mean.add(score);
  return { reputation_mean: mean.value, reputation_gini: gini([...scores.values()]) };
}
