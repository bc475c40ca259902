/** Expected snapshots, computed from the engine's reads at the same entry. */
import assert from 'node:assert/strict';
import type { KeptNetwork, Moment, Network, Views } from 'folkmoot';
import { ViewLog, type ViewLogOptions } from '../../../../dist/api/view/log/view-log.js';
import {
  type AgentSnapshot,
  type AllianceRow,
  type Snapshot,
  viewLimits,
} from '../../../../dist/api/view/model.js';
import type { AllianceContext } from '../../../../dist/engine/protocol/schema/record.js';

interface Vote {
  block: number;
  agent: number;
  entry: number;
  reject: number;
}

/** Returns all counted votes in order of arrival. */
function votesIn(read: Views): Vote[] {
  const votes = [...read.records('votes')].map(({ key, value }) => {
    const [block, agent] = key as readonly [number, number];
    return { block, agent, entry: value.entry, reject: value.decision === 'reject' ? 1 : 0 };
  });
  return votes.sort((a, b) => a.entry - b.entry);
}

const memesIn = (read: Views) =>
  [...read.records('memes')].map(({ value }) => value).sort((a, b) => a.entry - b.entry);

function agentsOf(read: Views, votes: readonly Vote[]): AgentSnapshot[] {
  const memes = memesIn(read);
  return [...read.records('agent_numbers')].map(({ key, value: { agent_id } }) => {
    const number = key as number;
    const agent = read.agent(agent_id)!;
    // A snapshot shows the score that events last reported, not the current overall score.
    const row = read.record('standings', number)!;
    return {
      number,
      id: agent_id,
      public_key: agent.public_key,
      name: agent.name,
      personality: agent.personality,
      validator: agent.capabilities.includes('validator'),
      producer: agent.capabilities.includes('producer'),
      status: agent.status,
      dormant: agent.dormant,
      reputation: row[6]!,
      votes: votes.filter((vote) => vote.agent === number).length,
      memes: memes.filter(({ creator }) => creator === agent_id).length,
      blocks_produced: agent.blocks_produced,
    };
  });
}

/** Asserts that a snapshot equals the engine's reads at this moment. */
export function assertTrue(snapshot: Snapshot, { read, position, genesis }: Moment): void {
  const votes = votesIn(read);
  const { seq, at, event_seq, digest, log_digest, epoch } = position;
  assert.deepEqual(
    [snapshot.entry, snapshot.at, snapshot.event_seq, snapshot.digest, snapshot.log_digest],
    [seq, at, event_seq, digest, log_digest],
  );
  assert.deepEqual([snapshot.epoch, snapshot.network_id], [epoch, genesis.network_id]);
  assert.equal(snapshot.height, read.networkState().block_height);
  assert.deepEqual(snapshot.agents, agentsOf(read, votes));
  for (const { id, reputation } of snapshot.agents) {
    const overall = read.reputation(id)!.overall_score * 10_000;
    assert.ok(Math.abs(overall - reputation) < 1_000);
  }
  assertBlocks(snapshot, read, votes);
  assertAlliances(snapshot, read);
  const memes = memesIn(read);
  assert.deepEqual(
    snapshot.memes.map(({ id, caption, entry, type }) => [id, caption, entry, type]),
    memes
      .slice(-viewLimits.memesShown)
      .map(({ meme_id, caption, entry, type }) => [meme_id, caption, entry, type]),
  );
  const events = [...read.events(1, event_seq)];
  assertSaid(snapshot, events);
  assertTotals(snapshot, events);
}

function assertBlocks(snapshot: Snapshot, read: Views, votes: readonly Vote[]): void {
  const numbers = new Map(snapshot.agents.map(({ id, number }) => [id, number]));
  const all = [...read.records('block_numbers')].map(({ key, value }) => {
    const view = read.block(value.block_hash)!;
    return {
      ...{ number: key as number, view, context: read.record('blocks', value.block_hash)!.context },
    };
  });
  const closed = all.filter(({ view }) => view.status !== 'voting').slice(-viewLimits.blocksShown);
  const shown = all.filter((one) => one.view.status === 'voting' || closed.includes(one));
  const expected = shown.map(({ number, view, context }) => ({
    number,
    hash: view.block_hash,
    parent: view.parent_hash,
    height: view.height,
    producer: numbers.get(view.producer.id),
    transactions: view.transactions,
    total: view.tally.electorate,
    electors: context.electors,
    proposed_at: context.proposed_at,
    deadline: context.deadline,
    entry: context.entry,
    status: view.status,
    approve: view.tally.approve,
    reject: view.tally.reject,
    closed_at: view.closed_at === null ? null : Date.parse(view.closed_at),
    ballots: votes.filter(({ block }) => block === number).map((v) => 2 * v.agent + v.reject),
  }));
  assert.deepEqual(
    snapshot.blocks.map(({ needed: _, ...rest }) => rest),
    expected,
  );
  for (const [index, { view }] of shown.entries()) {
    // With `majority`, the needed weight grows with each rejection.
    assert.ok(snapshot.blocks[index]!.needed <= view.tally.needed || view.tally.reject > 0);
  }
}

function assertAlliances(snapshot: Snapshot, read: Views): void {
  const ids = snapshot.agents.map(({ id }) => id);
  const isOpen = (status: string) => status === 'proposed' || status === 'active';
  const byId = new Map(snapshot.alliances.map((one) => [one.id, one]));
  const all = [...read.records('alliances')].map(({ value }) => value);
  const open = all.filter(({ state }) => isOpen(state));
  assert.equal(snapshot.alliances.filter(({ status }) => isOpen(status)).length, open.length);
  assert.equal(snapshot.totals.alliances, all.length);
  const over = all.length - open.length;
  assert.equal(byId.size - open.length, Math.min(over, viewLimits.alliancesShown));
  for (const { state, context } of all) {
    const row = byId.get(context.alliance_id);
    if (row) assertAlliance(row, state, context, ids);
    else assert.ok(!isOpen(state));
  }
}

function assertAlliance(
  row: AllianceRow,
  state: string,
  context: AllianceContext,
  ids: readonly string[],
): void {
  const named = (numbers: readonly number[]) => numbers.map((number) => ids[number]);
  assert.deepEqual(
    [row.status, row.purpose, row.duration, row.proposed_at, row.at, ids[row.founder]],
    [
      state,
      context.purpose,
      context.duration,
      context.proposed_at,
      context.changed_at,
      context.founder,
    ],
  );
  const members = named(row.members);
  if (state === 'proposed' || state === 'active') {
    assert.deepEqual(named(row.invited), context.invited);
    assert.deepEqual(members, context.members);
    return;
  }
  assert.deepEqual(row.invited, []);
  // Agents that left at the end were members until that point.
  assert.deepEqual(
    members.filter((id) => !context.gone.includes(id!)),
    context.members,
  );
}

type Events = Iterable<ReturnType<Views['events']> extends Iterable<infer E> ? E : never>;

function assertSaid(snapshot: Snapshot, events: Events): void {
  const said: [string, string][] = [];
  for (const { type, data } of events) {
    if (type === 'consensus_discussion') said.push(['remark', data.message]);
    if (type === 'block_validation' && data.reason) said.push(['reason', data.reason]);
    if (type === 'meme_posted') said.push(['meme', data.content.caption]);
  }
  assert.deepEqual(
    snapshot.said.map(({ kind, text }) => [kind, text]),
    said.slice(-viewLimits.saidShown),
  );
}

function assertTotals(snapshot: Snapshot, events: Events): void {
  const { alliances: _, ...totals } = snapshot.totals;
  const counted = Object.fromEntries(Object.keys(totals).map((name) => [name, 0]));
  for (const { type, data } of events) {
    if (type === 'block_proposal') counted.proposed! += 1;
    if (type === 'block_validation') counted.votes! += 1;
    if (type === 'meme_posted') counted.memes! += 1;
    if (type === 'consensus_discussion') counted.remarks! += 1;
    if (type !== 'block_status') continue;
    counted[data.status]! += 1;
    if (data.status === 'finalized') counted.transactions! += data.transactions;
  }
  assert.deepEqual(totals, counted);
}

// ---- Views for networks that tests open through the public package.

/** The types in the sources and in the built files differ only by name. */
export const viewOf = (network: Network | KeptNetwork, options?: ViewLogOptions): ViewLog =>
  new ViewLog(network as never, options);
