/** The rows of blocks.csv, agents.csv and groups.csv, in the dictionary's words. */
import type { BlockFigure } from './collect/blocks.js';
import { NOBODY } from './collect/population.js';
import type { Collected, RunReads } from './collected.js';
import type { Row } from './dictionary.js';
import { Mean, share } from './statistics.js';

export function* blockRows(reads: RunReads, collected: Collected): Iterable<Row<'blocks.csv'>> {
  for (const figure of collected.blocks) yield blockRow(reads, collected, figure);
}

function blockRow(
  reads: RunReads,
  { population, startMs }: Collected,
  figure: BlockFigure,
): Row<'blocks.csv'> {
  const { hash, status, proposedAt, closedAt } = figure;
  const block = reads.block(hash)!;
  const { tally, producer } = block;
  const ordinal = population.ordinalOf(producer.id);
  const group = population.groupOf(ordinal);
  return {
    number: figure.number,
    height: block.height,
    block_hash: hash,
    parent_hash: block.parent_hash,
    producer: producer.id,
    producer_name: reads.agent(producer.id)!.name,
    producer_group: group === NOBODY ? null : population.groups[group]!,
    status,
    transactions: block.transactions,
    soundness: figure.soundness,
    has_meme: figure.hasMeme ? 1 : 0,
    electorate: tally.electorate,
    electors: reads.record('blocks', hash)!.context.electors,
    approve: tally.approve,
    reject: tally.reject,
    votes: figure.votes,
    proposed_ms: proposedAt - startMs,
    closed_ms: status === 'voting' ? null : closedAt - startMs,
    finality_ms: status === 'finalized' ? closedAt - proposedAt : null,
    warmup: Number(figure.warmup),
  };
}

export function* agentRows(reads: RunReads, collected: Collected): Iterable<Row<'agents.csv'>> {
  const { population, activity, alliances } = collected;
  const memberships = alliances.memberships();
  for (const {
    ordinal,
    id,
    name,
    group,
    personality,
    strategy,
    capabilities,
    traits,
  } of population.agents) {
    const view = reads.agent(id);
    const scores = reads.reputation(id);
    yield {
      ordinal,
      agent_id: view ? id : null,
      name,
      group,
      personality,
      strategy,
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
      trait_technical: traits.technical,
      trait_social: traits.social,
      trait_meme: traits.meme,
      trait_random: traits.random,
      trait_threshold: traits.threshold,
      trait_care: traits.care,
      trait_memes: traits.memes,
      trait_remarks: traits.remarks,
      trait_invites: traits.invites,
      trait_accepts: traits.accepts,
      trait_abstains: traits.abstains,
      trait_think_ms: traits.think_ms,
    };
  }
}

/** The reputation of each agent that registered, by its id. */
export type Scores = ReadonlyMap<string, number>;

export function* groupRows(collected: Collected, scores: Scores): Iterable<Row<'groups.csv'>> {
  const { population, activity, agreement, memes, counts } = collected;
  const sizes = population.sizes();
  const votes = activity.byGroup('votes');
  const approvals = activity.byGroup('approvals');
  const transactions = activity.byGroup('transactions');
  const [questions, calls, failures, read, wrote] = deciderDeeds.map((deed) =>
    activity.byGroup(deed),
  ) as [number[], number[], number[], number[], number[]];
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
      decider_questions: questions[number]!,
      decider_calls: calls[number]!,
      decider_failures: failures[number]!,
      decider_input_tokens: read[number]!,
      decider_output_tokens: wrote[number]!,
    };
  }
}

const deciderDeeds = [
  'decider_questions',
  'decider_calls',
  'decider_failures',
  'decider_input_tokens',
  'decider_output_tokens',
] as const;

function reputationsByGroup({ population }: Collected, scores: Scores): Mean[] {
  const means = population.groups.map(() => new Mean());
  for (const { ordinal, id } of population.agents) {
    const score = scores.get(id);
    if (score !== undefined) means[population.groupOf(ordinal)]!.add(score);
  }
  return means;
}
