/** What must hold of a network at any moment, whoever did what to it. */
import { GENESIS_HASH, limits, type Network, type RecordOf, standingOf } from 'folkmoot';
import { expect } from 'vitest';

type Block = RecordOf['blocks'];

/** One expectation for many values: each by itself takes as long as all the rest of the check. */
function expectNone(wrong: readonly unknown[]): void {
  if (wrong.length > 0) expect(wrong).toEqual([]);
}

export function expectInvariants(network: Network): void {
  const blocks = [...network.read.records('blocks')].map(({ value }) => value);
  expectOneChain(network, blocks);
  for (const block of blocks) expectTally(network, block);
  expectOpenBlocks(network, blocks);
  expectScores(network);
  expectFigures(network, blocks);
  expectAlliances(network);
}

/** One finalized block a height, each on the one before. */
function expectOneChain(network: Network, blocks: Block[]): void {
  const final = blocks.filter(({ state }) => state === 'finalized').map(({ context }) => context);
  final.sort((a, b) => a.height - b.height);
  expect(final.map(({ height }) => height)).toEqual(final.map((_, index) => index + 1));
  const hashes = [GENESIS_HASH, ...final.map(({ block_hash }) => block_hash)];
  expect(final.map(({ parent_hash }) => parent_hash)).toEqual(hashes.slice(0, -1));
  const { block_height, head_hash } = network.read.networkState();
  expect({ block_height, head_hash }).toEqual({
    block_height: final.length,
    head_hash: hashes.at(-1),
  });
}

/** Votes are within the electorate, and a tally is the sum of the stored votes. */
function expectTally(network: Network, { state, context }: Block): void {
  const { ordinal, electorate } = context;
  const { agents, weights } = network.read.record('electorates', electorate)!;
  const counted = { approve: 0, reject: 0 };
  const votes = [...network.read.records('votes', { from: [ordinal], to: [ordinal + 1] })];
  for (const { key, value } of votes) {
    const position = agents.indexOf((key as readonly number[])[1]!);
    counted[value.decision] += weights[position] ?? Number.NaN;
  }
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shown = network.read.block(context.block_hash)!.tally;
  expect(shown).toEqual({ ...counted, electorate: total, needed: shown.needed });
  expectDecision(network, { state, ...counted, total, silent: agents.length - votes.length });
}

/** What the policy makes of a tally, said once more in other words. */
function expectDecision(
  { genesis }: Network,
  block: { state: string; approve: number; reject: number; total: number; silent: number },
): void {
  const { state, approve, reject, total, silent } = block;
  if (state === 'orphaned') return;
  if (genesis.policy === 'majority') {
    if (state === 'voting') expect(silent).toBeGreaterThan(0);
    const enough = (approve + reject) * 10_000 >= genesis.participation_bps * total;
    if (state === 'finalized') expect(enough && approve > reject).toBe(true);
    if (state === 'rejected') expect(enough && approve <= reject).toBe(true);
    if (state === 'expired') expect(enough).toBe(false);
    return;
  }
  expect(state === 'finalized').toBe(3 * approve > 2 * total);
  if (genesis.policy === 'bft') expect(state === 'rejected').toBe(3 * reject >= total);
}

function expectOpenBlocks(network: Network, blocks: Block[]): void {
  const open = blocks.filter(({ state }) => state === 'voting').map(({ context }) => context);
  expect(open.length).toBeLessThanOrEqual(limits.openBlocks);
  expect(new Set(open.map(({ producer }) => producer)).size).toBe(open.length);
  const { head_hash, server_time } = network.read.networkState();
  for (const { parent_hash, deadline } of open) {
    expect(parent_hash).toBe(head_hash);
    expect(deadline).toBeGreaterThanOrEqual(Date.parse(server_time));
  }
}

function expectScores(network: Network): void {
  for (const { value } of network.read.records('standings')) {
    const { penalty, missed, ...scores } = standingOf(value);
    const whole = (score: number) => Number.isInteger(score) && score >= 0 && score <= 1_000_000;
    expectNone(Object.entries(scores).filter(([, score]) => !whole(score)));
    expectNone(penalty >= 0 && penalty <= 500_000 && missed >= 0 ? [] : [value]);
  }
  for (const { id } of network.read.agents()) {
    const shown = Object.entries(network.read.reputation(id)!);
    expectNone(shown.filter(([, score]) => !(score >= 0 && score <= 100)));
  }
}

function expectFigures(network: Network, blocks: Block[]): void {
  const open = blocks.filter(({ state }) => state === 'voting');
  const { validators, producers } = network.read.activeAgents();
  expect(network.read.networkState()).toMatchObject({
    active_validators: validators.length,
    active_producers: producers.length,
    pending_transactions: open.reduce((sum, { context }) => sum + context.transactions, 0),
  });
  for (const list of [validators, producers]) {
    expect(list.map(({ id }) => id)).toEqual(list.map(({ id }) => id).sort());
  }
}

function expectAlliances(network: Network): void {
  const counts = new Map<string, number>();
  for (const { value } of network.read.records('alliances')) {
    const { founder, members, invited } = value.context;
    if (value.state !== 'proposed' && value.state !== 'active') continue;
    expect(members[0]).toBe(founder);
    expect(members.length >= 2).toBe(value.state === 'active');
    expect(members.length + invited.length).toBeLessThanOrEqual(32);
    expect(invited).toEqual([...invited].sort());
    for (const id of members) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  for (const count of counts.values()) {
    expect(count).toBeLessThanOrEqual(limits.activeAlliancesPerAgent);
  }
}
