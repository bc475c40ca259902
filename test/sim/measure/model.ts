/** Recomputes the measures of a run, slowly, from its events, vote rows and records. */
import type { Event, EventData, EventType, Network } from 'folkmoot';
import type { Row } from 'folkmoot/sim';
import type { MeasuredAgent } from '../../../dist/sim/measure/population.js';
import { START_MS } from '../../support/citizens.js';
import { timeOf } from './fixture.js';

type Vote = Row<'votes.csv'>;

export interface Told {
  events: Event[];
  votes: Vote[];
  agents: readonly MeasuredAgent[];
  network: Network;
  endMs: number;
  /** Percent of balanced transactions, by block hash. */
  soundness: ReadonlyMap<string, number>;
}

const mean = (values: number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole);

/** Smallest value with at least the given percent of all values at or below it. */
function nearestRank(values: number[], percent: number) {
  const enough = (limit: number) =>
    100 * values.filter((value) => value <= limit).length >= percent * values.length;
  const fitting = values.filter(enough);
  return fitting.length === 0 ? null : Math.min(...fitting);
}

/** By the original definition: mean difference of all pairs over twice the mean. */
function gini(values: number[]) {
  const sum = values.reduce((total, value) => total + value, 0);
  if (sum === 0) return null;
  let differences = 0;
  for (const a of values) for (const b of values) differences += Math.abs(a - b);
  return differences / (2 * values.length * sum);
}

/** Share of agreeing pairs among the selected ones; null without such a pair. */
function alike(votes: Vote[], fits: (a: Vote, b: Vote) => boolean): number | null {
  let pairs = 0;
  let agreeing = 0;
  for (const [index, a] of votes.entries()) {
    for (const b of votes.slice(index + 1)) {
      if (!fits(a, b)) continue;
      pairs += 1;
      if (a.decision === b.decision) agreeing += 1;
    }
  }
  return ratio(agreeing, pairs);
}

export function blocksOf({ events, votes }: Told) {
  return told(events, 'block_proposal').map(({ data, at }, number) => {
    const last = told(events, 'block_status').find((e) => e.data.block_hash === data.block_hash);
    return {
      hash: data.block_hash,
      proposedAt: at,
      status: last?.data.status ?? 'voting',
      closedAt: last?.at ?? 0,
      transactions: data.transactions.length,
      votes: votes.filter(({ block }) => block === number),
    };
  });
}

function told<T extends EventType>(events: Event[], type: T) {
  return events
    .filter((event) => event.type === type)
    .map((event) => ({ data: event.data as EventData[T], at: timeOf(event) }));
}

export function expectedMeasures(run: Told) {
  const { votes, network, endMs, events } = run;
  const blocks = blocksOf(run);
  const closed = blocks.filter(({ status }) => status !== 'voting');
  const ended = (status: string) => closed.filter((block) => block.status === status);
  const finality = ended('finalized').map(({ proposedAt, closedAt }) => closedAt - proposedAt);
  const over = (fits: (a: Vote, b: Vote) => boolean) =>
    mean(closed.map((block) => alike(block.votes, fits)).filter((value) => value !== null));
  const transactions = ended('finalized').reduce((sum, block) => sum + block.transactions, 0);
  const known = votes.filter(({ without_memes }) => without_memes !== null);
  const turned = known.filter(({ without_memes, decision }) => without_memes !== decision);
  const sum = (column: 'memes_heard' | 'meme_references') =>
    votes.reduce((total, vote) => total + Number(vote[column]), 0);
  const memes = told(events, 'meme_posted').length;
  const scores = [...network.read.agents()].map(({ id }) => network.read.reputation(id)!);
  const electors = (hash: string) => network.read.record('blocks', hash)!.context.electors;
  return {
    proposed: blocks.length,
    finalized: ended('finalized').length,
    rejected: ended('rejected').length,
    expired: ended('expired').length,
    orphaned: ended('orphaned').length,
    open_at_end: blocks.length - closed.length,
    finalized_share: ratio(ended('finalized').length, closed.length),
    rejected_share: ratio(ended('rejected').length, closed.length),
    expired_share: ratio(ended('expired').length, closed.length),
    orphaned_share: ratio(ended('orphaned').length, closed.length),
    sound_finalized_share: finalizedOf(run, (percent) => percent === 100),
    unsound_finalized_share: finalizedOf(run, (percent) => percent < 100),
    finality_mean_ms: mean(finality),
    finality_p50_ms: nearestRank(finality, 50),
    finality_p95_ms: nearestRank(finality, 95),
    finality_p99_ms: nearestRank(finality, 99),
    transactions,
    tps: ratio(transactions * 1000, endMs - START_MS),
    votes: votes.length,
    votes_per_block: mean(closed.map((block) => block.votes.length)),
    participation: mean(closed.map(({ hash, votes: cast }) => cast.length / electors(hash))),
    agreement: over(() => true),
    agreement_within: over((a, b) => a.group !== null && a.group === b.group),
    agreement_between: over((a, b) => a.group !== null && b.group !== null && a.group !== b.group),
    reputation_mean: mean(scores.map((score) => score.overall_score)),
    reputation_gini: gini(scores.map((score) => score.overall_score)),
    ...expectedAlliances(run),
    memes,
    meme_reach_mean: ratio(sum('memes_heard'), memes),
    meme_references: sum('meme_references'),
    influence: ratio(turned.length, known.length),
    // No script runs, so no agent states a decision.
    ...{
      slots_decided: 0,
      slot_decisions: 0,
      slot_conflicts: 0,
      slot_spread_mean_ms: null,
      slot_values_spread: null,
    },
    never_joined: run.agents.filter(({ id }) => !network.read.agent(id)).length,
  };
}

function finalizedOf(run: Told, fits: (percent: number) => boolean) {
  const closed = blocksOf(run).filter(({ status, hash }) => {
    const percent = run.soundness.get(hash);
    return status !== 'voting' && percent !== undefined && fits(percent);
  });
  return ratio(closed.filter(({ status }) => status === 'finalized').length, closed.length);
}

function expectedAlliances({ events, endMs }: Told) {
  const updates = told(events, 'alliance_update');
  const ids = new Set(updates.filter(isActive).map(({ data }) => data.alliance_id));
  const lives = [...ids].map((id) => {
    const own = updates.filter(({ data }) => data.alliance_id === id);
    const active = own.filter(isActive);
    const end = own.find(({ data }) => !['proposed', 'active'].includes(data.status));
    const sizes = active.map(({ data }) => data.members.filter((m) => m.role !== 'invited').length);
    const lifetime = (end?.at ?? endMs) - active[0]!.at;
    return { size: Math.max(...sizes), lifetime, lasts: !end };
  });
  return {
    alliances: lives.length,
    alliance_size_mean: mean(lives.map(({ size }) => size)),
    alliance_lifetime_mean_ms: mean(lives.map(({ lifetime }) => lifetime)),
    alliances_at_end: lives.filter(({ lasts }) => lasts).length,
  };
}

const isActive = ({ data }: { data: EventData['alliance_update'] }) => data.status === 'active';

export function expectedGroup(run: Told, group: string) {
  const votes = run.votes.filter((vote) => vote.group === group);
  const closed = blocksOf(run).filter(({ status }) => status !== 'voting');
  const own = closed.map((block) => ({
    status: block.status,
    votes: block.votes.filter((vote) => vote.group === group),
  }));
  const pairs = own.map((block) => alike(block.votes, () => true));
  const approving = (cast: Vote[]) => cast.filter(({ decision }) => decision === 'approve').length;
  const clear = own.filter(
    ({ status, votes: cast }) =>
      (status === 'finalized' || status === 'rejected') && approving(cast) * 2 !== cast.length,
  );
  const won = clear.filter(
    ({ status, votes: cast }) =>
      (status === 'finalized') === approving(cast) > cast.length - approving(cast),
  );
  const members = run.agents.filter((agent) => agent.group === group);
  const scores = members.flatMap(({ id }) => run.network.read.reputation(id)?.overall_score ?? []);
  return {
    group,
    agents: members.length,
    votes: votes.length,
    approve_share: ratio(approving(votes), votes.length),
    won_share: ratio(won.length, clear.length),
    agreement: mean(pairs.filter((value) => value !== null)),
    reputation_mean: mean(scores),
  };
}
