/** Checks the collector on small runs against figures computed by hand. */
import type { Event } from 'folkmoot';
import { expect, test } from 'vitest';
import type { Cause } from '../../../dist/sim/world/observer.js';
import { newPopulation, type Population } from '../../engine/helpers.js';
import { START_MS } from '../../support/citizens.js';
import { agentsIn, type Collected, collect, eventsOf, timeOf } from './fixture.js';

/** Feeds a town's events so far and the causes of its votes, and ends the run now. */
function finished(
  town: Population,
  { collector, rows }: Collected,
  told: Event[] = eventsOf(town.network),
  causes: readonly (Cause | null)[] = [],
) {
  const votes = told.filter(({ type }) => type === 'block_validation');
  for (const event of told) {
    collector.event(event, timeOf(event), causes[votes.indexOf(event)] ?? null);
  }
  const { measures, tables } = collector.finish(town.network.read, START_MS + town.now);
  return {
    measures,
    rows,
    blocks: [...tables['blocks.csv']],
    agents: [...tables['agents.csv']],
    groups: [...tables['groups.csv']],
    series: [...tables['series.csv']],
    messages: [...tables['messages.csv']],
  };
}

/** Four voters, two in each group; the first one proposes. */
async function village() {
  const town = await newPopulation();
  const voters = await town.joinMany(4, ['validator', 'producer']);
  const groups = ['east', 'west'];
  return {
    town,
    voters,
    groups,
    parts: collect(groups, agentsIn(['east', 'east', 'west', 'west'])),
  };
}

test('finality: is the time from proposal to finalization; a rejected block has none', async () => {
  const { town, voters, parts } = await village();
  const first = await town.open(voters[0]!);
  await town.at(1_000);
  await town.votes(voters.slice(0, 3), first, 'approve');
  await town.at(1_500);
  const second = await town.open(voters[1]!, { parent_hash: town.head });
  await town.at(1_700);
  await town.votes(voters.slice(0, 2), second, 'reject');
  const { measures, blocks } = finished(town, parts);
  expect(measures).toMatchObject({ proposed: 2, finalized: 1, rejected: 1, expired: 0, votes: 5 });
  expect(measures).toMatchObject({ finalized_share: 0.5, finality_mean_ms: 1_000 });
  expect(measures).toMatchObject({ finality_p50_ms: 1_000, finality_p99_ms: 1_000 });
  expect(measures).toMatchObject({ votes_per_block: 2.5, participation: 0.625, tps: 0 });
  expect(blocks).toMatchObject([
    { number: 0, height: 1, status: 'finalized', votes: 3, electors: 4, approve: 3, reject: 0 },
    { number: 1, height: 2, status: 'rejected', votes: 2, proposed_ms: 1_500, closed_ms: 1_700 },
  ]);
  expect(blocks.map(({ finality_ms }) => finality_ms)).toEqual([1_000, null]);
  expect(blocks[0]).toMatchObject({ producer_group: 'east', has_meme: 0, soundness: null });
});

test('agreement: counts agreeing pairs of voters, within and between groups', async () => {
  const { town, voters, parts } = await village();
  const hash = await town.open(voters[0]!);
  // East is unanimous, west is split: 3 of 6 pairs agree; 1 of 2 within, 2 of 4 between.
  await town.votes([voters[0]!, voters[1]!], hash, 'approve');
  await town.vote(voters[2]!, hash, 'reject');
  await town.vote(voters[3]!, hash, 'approve');
  const { measures, groups } = finished(town, parts);
  expect(measures).toMatchObject({
    agreement: 0.5,
    agreement_within: 0.5,
    agreement_between: 0.5,
    finalized: 1,
  });
  expect(groups).toMatchObject([
    { group: 'east', agents: 2, votes: 2, approve_share: 1, won_share: 1, agreement: 1 },
    { group: 'west', agents: 2, votes: 2, approve_share: 0.5, won_share: null, agreement: 0 },
  ]);
});

test('memes: reach, references and influence follow the notes of counted votes', async () => {
  const { town, voters, parts } = await village();
  const one = await town.meme(voters[0]!, 'one');
  const two = await town.meme(voters[1]!, 'two');
  const hash = await town.open(voters[0]!);
  const memes = [one];
  const note = { block: hash, decision: 'approve' as const, memeReferences: memes };
  await town.votes(voters.slice(0, 3), hash, 'approve');
  const turned = { agent: 0, ...note, receivedMemes: [one, two], withoutMemes: 'reject' as const };
  const firm = { agent: 2, ...note, receivedMemes: [two], withoutMemes: 'approve' as const };
  const { measures, groups, rows, agents } = finished(town, parts, eventsOf(town.network), [
    { from: 0, note: turned, memes, bytes: 9 },
    null,
    { from: 2, note: firm, memes, bytes: 9 },
  ]);
  expect(measures).toMatchObject({ memes: 2, meme_reach_mean: 1.5, meme_references: 2 });
  expect(measures).toMatchObject({ influence: 0.5 });
  expect(groups.map(({ influence }) => influence)).toEqual([1, 0]);
  expect(agents.map(({ memes }) => memes)).toEqual([1, 1, 0, 0]);
  expect(rows).toMatchObject([
    { block: 0, agent: 0, group: 'east', memes_heard: 2, meme_references: 1 },
    { agent: 1, memes_heard: null, meme_references: null, without_memes: null },
    { agent: 2, group: 'west', memes_heard: 1, without_memes: 'approve', decision: 'approve' },
  ]);
});

test('transactions: counts those of final blocks by signer, and those that are sound', async () => {
  const { town, voters, parts } = await village();
  const tell = (block: string, soundness: number, senders: number[]) =>
    parts.collector.published({ block, soundness, hasMeme: false, senders });
  const transactions = ['a', 'b', 'c'].map((data) => town.transaction(voters[0]!, data));
  const first = await town.open(voters[0]!, { transactions });
  tell(first, 100, [0, 0, 3]);
  await town.at(1_000);
  await town.votes(voters, first, 'approve');
  const next = { parent_hash: town.head, transactions: [town.transaction(voters[1]!, 'd')] };
  const second = await town.open(voters[1]!, next);
  tell(second, 50, [1]);
  await town.votes(voters, second, 'reject');
  await town.at(2_000);
  const { measures, agents, groups, blocks } = finished(town, parts);
  expect(measures).toMatchObject({ transactions: 3, tps: 1.5 });
  expect(measures).toMatchObject({ sound_finalized_share: 1, unsound_finalized_share: 0 });
  expect(agents.map((agent) => agent.transactions)).toEqual([2, 0, 0, 1]);
  expect(agents.map((agent) => agent.blocks_finalized)).toEqual([1, 0, 0, 0]);
  expect(groups.map((group) => group.transactions_share)).toEqual([0.666667, 0.333333]);
  expect(blocks.map(({ soundness }) => soundness)).toEqual([100, 50]);
});

test('alliances: measures the largest size, the lifetime, and the members at the end', async () => {
  const { town, voters, parts } = await village();
  const [a, b, c, d] = voters;
  await town.allied(a!, [b!, c!], { duration: 'PT1H' });
  await town.at(4_000);
  const brief = await town.allied(d!, [a!], { duration: 'PT1H' });
  await town.at(6_000);
  await town.leave(a!, brief);
  await town.at(10_000);
  const { measures, agents, series } = finished(town, parts);
  expect(measures).toMatchObject({ alliances: 2, alliance_size_mean: 2.5 });
  expect(measures).toMatchObject({ alliance_lifetime_mean_ms: 6_000 });
  expect(agents.map(({ alliances }) => alliances)).toEqual([1, 1, 1, 0]);
  const active = series.filter(({ measure }) => measure === 'alliances_active');
  // An instant in the series comes after all its events.
  expect(active.map(({ t_ms, value }) => [t_ms, value])).toEqual([
    [0, 1],
    [5_000, 2],
    [10_000, 1],
  ]);
});

test('series: follows reputation from events, for all agents and for each group', async () => {
  const { town, voters, parts } = await village();
  const hash = await town.open(voters[0]!);
  await town.at(7_000);
  await town.votes(voters.slice(0, 3), hash, 'approve');
  await town.at(8_000);
  const { series, measures, agents } = finished(town, parts);
  const reputation = series.filter(({ measure }) => measure === 'reputation_mean');
  const at = (t: number, group: string | null) =>
    reputation.find((row) => row.t_ms === t && row.group === group)?.value;
  expect([at(0, null), at(5_000, null), at(5_000, 'west')]).toEqual([50, 50, 50]);
  // Each reputation moves far more than the smallest change that emits an event.
  expect(at(8_000, null)).toBe(measures.reputation_mean);
  expect(at(8_000, 'east')).toBeGreaterThan(at(8_000, 'west') as number);
  expect(agents[3]).toMatchObject({ overall_score: 50, votes: 0, status: 'active', dormant: 0 });
});

test('others: agents outside the scenario count in totals and have no group', async () => {
  const town = await newPopulation();
  const voters = await town.joinMany(4, ['validator', 'producer']);
  const parts = collect(['east'], agentsIn(['east', 'east']));
  const hash = await town.open(voters[3]!);
  await town.vote(voters[0]!, hash, 'approve');
  await town.vote(voters[2]!, hash, 'approve');
  await town.vote(voters[3]!, hash, 'approve');
  await town.meme(voters[2]!, 'hi');
  const { measures, groups, blocks, rows } = finished(town, parts);
  expect(measures).toMatchObject({ votes: 3, memes: 1, agreement: 1, agreement_within: null });
  expect(groups).toMatchObject([{ agents: 2, votes: 1, agreement: null, won_share: 1 }]);
  expect(blocks[0]).toMatchObject({ producer_group: null, producer_name: 'someone', votes: 3 });
  expect(rows.map(({ agent, group }) => [agent, group])).toEqual([
    [0, 'east'],
    [null, null],
    [null, null],
  ]);
});

test('agents: an unregistered agent keeps its row without id and scores', async () => {
  const town = await newPopulation();
  await town.joinMany(1);
  const { agents, measures } = finished(town, collect(['all'], agentsIn(['all', 'all'])));
  expect(agents[0]).toMatchObject({ ordinal: 0, status: 'active', overall_score: 50 });
  expect(agents[1]).toMatchObject({ agent_id: null, status: null, overall_score: null, votes: 0 });
  expect(measures).toMatchObject({ finalized_share: null, agreement: null, reputation_gini: 0 });
});

test('refusals: counts late votes and equivocations, by agent', async () => {
  const town = await newPopulation();
  await town.joinMany(2);
  const parts = collect(['all'], agentsIn(['all', 'all']));
  parts.collector.refused(0, 'vote', 'VOTING_CLOSED', START_MS);
  parts.collector.refused(0, 'vote', 'NOT_ACTIVE', START_MS);
  parts.collector.refused(1, 'vote', 'equivocation', START_MS);
  parts.collector.refused(1, 'discuss', 'VOTING_CLOSED', START_MS);
  parts.collector.traffic('request.vote', 'sent', 5, 100);
  parts.collector.traffic('request.vote', 'duplicated', 1, 100);
  parts.collector.traffic('gossip.vote', 'sent', 2, 30);
  parts.collector.traffic('gossip.vote', 'lost', 1, 30);
  const { measures, agents, messages } = finished(town, parts);
  expect(measures).toMatchObject({ late_votes: 1, equivocations: 1, message_bytes: 660 });
  expect(measures).toMatchObject({ messages_sent: 7, messages_lost: 1, messages_duplicated: 1 });
  expect(measures).toMatchObject({ messages_delivered: 7, messages_per_block: null });
  expect(messages.filter(({ sent }) => Number(sent) > 0)).toEqual([
    { kind: 'request.vote', sent: 5, delivered: 6, lost: 0, duplicated: 1, bytes: 600 },
    { kind: 'gossip.vote', sent: 2, delivered: 1, lost: 1, duplicated: 0, bytes: 60 },
  ]);
  expect(agents.map(({ late_votes }) => late_votes)).toEqual([1, 0]);
});

test('longest_wait_ms: lasts from a refusal for lack of room to an accepted proposal', async () => {
  const town = await newPopulation();
  const makers = await town.joinMany(3, ['validator', 'producer']);
  const agents = agentsIn(['all', 'all', 'all']);
  const flooder = { ...agents[2]!, strategy: 'slot_holder' };
  const parts = collect(['all'], [...agents.slice(0, 2), flooder]);
  const { collector } = parts;
  collector.refused(0, 'propose', 'STALE_PARENT', START_MS);
  collector.refused(0, 'propose', 'TOO_MANY_OPEN', START_MS + 1_000);
  collector.refused(0, 'propose', 'BLOCKS_USED', START_MS + 3_000);
  collector.refused(2, 'propose', 'BLOCKS_USED', START_MS);
  await town.at(6_000);
  await town.open(makers[0]!);
  await town.at(20_000);
  for (const event of eventsOf(town.network)) collector.event(event, timeOf(event));
  expect(collector.finish(town.network.read, START_MS + 8_000).measures.longest_wait_ms).toBe(
    5_000,
  );
  // A waiting producer counts until the end; a flooder does not count.
  collector.refused(1, 'propose', 'TOO_MANY_OPEN', START_MS + 1_000);
  expect(collector.finish(town.network.read, START_MS + 8_000).measures.longest_wait_ms).toBe(
    7_000,
  );
});

test('memes: a vote changed in transit has references and no influence', async () => {
  const { town, voters, parts } = await village();
  const hash = await town.open(voters[0]!);
  await town.vote(voters[0]!, hash, 'approve');
  const changed = { from: 0, note: null, memes: ['one'], bytes: 9 };
  const { rows, measures } = finished(town, parts, eventsOf(town.network), [changed]);
  expect(measures).toMatchObject({ meme_references: 1, influence: null });
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ agent: 0, without_memes: null, meme_references: 1 });
});
