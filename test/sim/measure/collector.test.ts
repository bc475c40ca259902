/** Checks the collector on small runs against figures computed by hand. */
import type { Event } from 'folkmoot';
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
    ...{ measures, rows, blocks: [...tables['blocks.csv']], agents: [...tables['agents.csv']] },
    ...{ groups: [...tables['groups.csv']], series: [...tables['series.csv']] },
    messages: [...tables['messages.csv']],
  };
}

/** Four voters, two in each group; the first one proposes. */
async function village() {
  const town = await newPopulation();
  const voters = await town.joinMany(4, ['validator', 'producer']);
  const groups = ['east', 'west'];
  return {
    ...{ town, voters, groups, parts: collect(groups, agentsIn(['east', 'east', 'west', 'west'])) },
  };
}

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
  const { collector } = collect(['all'], [...agents.slice(0, 2), flooder]);
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
  await town.vote(voters[0]!, await town.open(voters[0]!), 'approve');
  const changed = { from: 0, note: null, memes: ['one'], bytes: 9 };
  const { rows, measures } = finished(town, parts, eventsOf(town.network), [changed]);
  expect(measures).toMatchObject({ meme_references: 1, influence: null });
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ agent: 0, without_memes: null, meme_references: 1 });
});
