/**
 * Results of a run: its measures and the rows for its tables, computed at the end from the
 * collected data and the network reads.
 */
import type { Views } from '../../engine/node/views.js';
import type { Tie } from '../../engine/rules/rule.js';
import type { DecisionAudit } from '../audit/decisions.js';
import type { Finding, Findings } from '../audit/findings.js';
import { type Personality, traitNames } from '../scenario/schema/personalities.js';
import type { MessageKind } from '../world/messages.js';
import type { Agreement, BlockFigure, Outcomes } from './blocks.js';
import type { Measures, Row, TableName } from './dictionary.js';
import type { Memes, MessageFigures, Messages } from './messages.js';
import {
  type Activity,
  type Alliances,
  deciderDeeds,
  NOT_IN_POPULATION,
  type Population,
  toDeciderFigures,
} from './population.js';
import { gini, Mean, type Series, share } from './statistics.js';

/** Tables that are written elsewhere: during the run, by scripts, the world or deliberations. */
type OtherTable =
  | ('votes.csv' | 'reported.csv' | 'edges.csv')
  | ('calls.csv' | 'samples.csv' | 'statements.csv');

export type TableRows = { [T in Exclude<TableName, OtherTable>]: Iterable<Row<T>> };

export interface RunResults {
  measures: Measures;
  /** End of the warm-up in milliseconds of virtual time; null if the warm-up did not end. */
  measuredFromMs: number | null;
  messages: Record<MessageKind, MessageFigures>;
  findings: readonly Finding[];
  tied: readonly TiedBlock[];
  tables: TableRows;
  /** Tables of deliberations. Absent without them. */
  deliberation?: { samples: Row<'samples.csv'>[]; statements: Row<'statements.csv'>[] };
  /** Questions to external deciders. Absent without them. */
  calls?: Row<'calls.csv'>[];
}

/** Finalized block whose choice the order of its options decided. */
export interface TiedBlock extends Tie {
  /** Number of the block in the run, from 0. */
  number: number;
  block_hash: string;
}

export function computeResults(reads: RunReads, collected: Collected): RunResults {
  const { measuredFrom, startMs } = collected;
  const scores = new Map<string, number>();
  for (const { id, reputation_score } of reads.agents()) scores.set(id, reputation_score);
  const tied = collected.blocks.flatMap(({ hash, number, status }): TiedBlock[] => {
    const tie = status === 'finalized' ? reads.findTie?.(hash) : null;
    return tie ? [{ number, block_hash: hash, ...tie }] : [];
  });
  return {
    measures: measuresOf(reads, collected, scores),
    measuredFromMs: measuredFrom === null ? null : measuredFrom - startMs,
    messages: collected.messages.figures(),
    findings: collected.findings.all,
    tied,
    tables: {
      'blocks.csv': blockRows(reads, collected, tied),
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
  const ended = collected.blocks.filter(({ status, warmup }) => status !== 'voting' && !warmup);
  return {
    proposed,
    finalized,
    rejected,
    expired,
    orphaned,
    open_at_end: proposed - ended.length,
    finalized_share: share(finalized, closed),
    rejected_share: share(rejected, closed),
    expired_share: share(expired, closed),
    orphaned_share: share(orphaned, closed),
    ...collected.outcomes.measures(),
    transactions,
    tps: share(transactions, seconds),
    votes,
    ...turnout(reads, ended),
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
    ...collected.slots.measures(measuredFrom),
  };
}

function turnout(reads: RunReads, blocks: readonly BlockFigure[]) {
  const votes = new Mean();
  const participation = new Mean();
  for (const block of blocks) {
    votes.add(block.votes);
    const { electors } = reads.record('blocks', block.hash)!.context;
    if (electors > 0) participation.add(block.votes / electors);
  }
  return { votes_per_block: votes.value, participation: participation.value };
}

function reputations(scores: Scores) {
  const mean = new Mean();
  for (const score of scores.values()) mean.add(score);
  return { reputation_mean: mean.value, reputation_gini: gini([...scores.values()]) };
}

function* blockRows(
  reads: RunReads,
  collected: Collected,
  tied: readonly TiedBlock[],
): Iterable<Row<'blocks.csv'>> {
  const winners = new Map(tied.map((one) => [one.number, JSON.stringify(one.winners)]));
  for (const figure of collected.blocks) {
    yield { ...blockRow(reads, collected, figure), tied: winners.get(figure.number) ?? null };
  }
}

function blockRow(
  reads: RunReads,
  { population, startMs, labels }: Collected,
  figure: BlockFigure,
): Omit<Row<'blocks.csv'>, 'tied'> {
  const { hash, status, proposedAt, closedAt } = figure;
  const block = reads.block(hash)!;
  const { tally, producer, choice = null } = block;
  const ordinal = population.ordinalOf(producer.id);
  const group = population.groupOf(ordinal);
  return {
    number: figure.number,
    height: block.height,
    block_hash: hash,
    parent_hash: block.parent_hash,
    producer: producer.id,
    producer_name: reads.agent(producer.id)!.name,
    producer_group: group === NOT_IN_POPULATION ? null : population.groups[group]!,
    status,
    transactions: block.transactions,
    soundness: figure.soundness,
    has_meme: figure.hasMeme ? 1 : 0,
    electorate: tally.electorate,
    electors: reads.record('blocks', hash)!.context.electors,
    approve: tally.approve,
    reject: tally.reject,
    choice,
    choice_label: choice !== null && Object.hasOwn(labels, choice) ? labels[choice]! : null,
    standings: block.standings ? JSON.stringify(block.standings) : null,
    votes: figure.votes,
    proposed_ms: proposedAt - startMs,
    closed_ms: status === 'voting' ? null : closedAt - startMs,
    finality_ms: status === 'finalized' ? closedAt - proposedAt : null,
    warmup: Number(figure.warmup),
  };
}

function* agentRows(reads: RunReads, collected: Collected): Iterable<Row<'agents.csv'>> {
  const { population, activity, alliances } = collected;
  const memberships = alliances.memberships();
  for (const agent of population.agents) {
    const { ordinal, id, name, group, personality, strategy, capabilities, traits } = agent;
    const view = reads.agent(id);
    const scores = reads.reputation(id);
    yield {
      ...{ ordinal, agent_id: view ? id : null, name, group, personality, strategy },
      capabilities: capabilities.join('+'),
      status: view?.status ?? null,
      dormant: view ? Number(view.dormant) : null,
      ...activity.of(ordinal),
      alliances: memberships.get(id) ?? 0,
      overall_score: scores?.overall_score ?? null,
      meme_quality: scores?.meme_quality ?? null,
      decision_consistency: scores?.decision_consistency ?? null,
      peer_ratings: scores?.peer_ratings ?? null,
      alliance_strength: scores?.alliance_strength ?? null,
      ...toTraitColumns(traits),
    };
  }
}

type TraitColumns = { [K in keyof Personality as `trait_${K}`]: number };

const toTraitColumns = (traits: Personality): TraitColumns =>
  Object.fromEntries(
    traitNames.map((name) => [`trait_${name}`, traits[name]]),
  ) as unknown as TraitColumns;

/** Reputation by id of each registered agent. */
type Scores = ReadonlyMap<string, number>;

function* groupRows(collected: Collected, scores: Scores): Iterable<Row<'groups.csv'>> {
  const { population, activity, agreement, memes, counts } = collected;
  const sizes = population.sizes();
  const votes = activity.byGroup('votes');
  const approvals = activity.byGroup('approvals');
  const transactions = activity.byGroup('transactions');
  const asked = new Map(deciderDeeds.map((deed) => [deed, activity.byGroup(deed)]));
  const reputations = reputationsByGroup(collected, scores);
  for (const [number, group] of population.groups.entries()) {
    const { agreement: within, wonShare } = agreement.ofGroup(number);
    yield {
      group,
      agents: sizes[number]!,
      votes: votes[number]!,
      approve_share: share(approvals[number]!, votes[number]!),
      won_share: wonShare,
      agreement: within,
      influence: memes.influenceOn(number),
      reputation_mean: reputations[number]!.value,
      transactions_share: share(transactions[number]!, counts.transactions),
      ...toDeciderFigures((deed) => asked.get(deed)![number]!),
    };
  }
}

function reputationsByGroup({ population }: Collected, scores: Scores): Mean[] {
  const means = population.groups.map(() => new Mean());
  for (const { ordinal, id } of population.agents) {
    const score = scores.get(id);
    if (score !== undefined) means[population.groupOf(ordinal)]!.add(score);
  }
  return means;
}

/** Numbers of blocks by their course, of votes and memes, and of finalized transactions. */
const noCount = {
  ...{ proposed: 0, finalized: 0, rejected: 0, expired: 0, orphaned: 0 },
  ...{ votes: 0, memes: 0, transactions: 0 },
};

export type Counts = typeof noCount;
export const noCounts = (): Counts => ({ ...noCount });

/** Number of blocks that are no longer in voting. */
export const countClosed = ({ finalized, rejected, expired, orphaned }: Counts): number =>
  finalized + rejected + expired + orphaned;

/** Network reads at the end of a run. */
export interface RunReads extends Pick<Views, 'agent' | 'agents' | 'block' | 'reputation'> {
  record(table: 'blocks', hash: string): { context: { electors: number } } | undefined;
  /** Absent if the ballots cannot be read. */
  findTie?(hash: string): Tie | null;
}

interface Collected {
  startMs: number;
  /** End of the warm-up; null if the run ended first. */
  measuredFrom: number | null;
  endMs: number;
  /** Counts since the end of the warm-up. */
  counts: Counts;
  closed: number;
  longestWaitMs: number;
  population: Population;
  blocks: readonly BlockFigure[];
  activity: Activity;
  agreement: Agreement;
  memes: Memes;
  outcomes: Outcomes;
  alliances: Alliances;
  series: Series;
  messages: Messages;
  slots: DecisionAudit;
  findings: Findings;
  labels: Readonly<Record<string, string>>;
}
