/**
 * Invariants of a network, at any time and after any requests. They use node:assert, because the
 * runner's assertions, called after every command, would take as long as everything else.
 */
import assert from 'node:assert/strict';
import { GENESIS_HASH, limits, type Network, type RecordOf, standingOf } from 'folkmoot';

type Block = RecordOf['blocks'];

export function expectInvariants(network: Network): void {
  const blocks = [...network.read.records('blocks')].map(({ value }) => value);
  expectOneChain(network, blocks);
  for (const block of blocks) expectTally(network, block);
  expectOpenBlocks(network, blocks);
  expectScores(network);
  expectFigures(network, blocks);
  expectAlliances(network);
}

/** Expects one finalized block per height, each on top of the preceding block. */
function expectOneChain(network: Network, blocks: Block[]): void {
  const final = blocks.filter(({ state }) => state === 'finalized').map(({ context }) => context);
  final.sort((a, b) => a.height - b.height);
  assert.deepEqual(
    final.map(({ height }) => height),
    final.map((_, index) => index + 1),
  );
  const hashes = [GENESIS_HASH, ...final.map(({ block_hash }) => block_hash)];
  assert.deepEqual(
    final.map(({ parent_hash }) => parent_hash),
    hashes.slice(0, -1),
  );
  const { block_height, head_hash } = network.read.networkState();
  assert.deepEqual([block_height, head_hash], [final.length, hashes.at(-1)]);
}

/** Expects votes only from the electorate, and a tally that is the sum of the stored votes. */
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
  assert.deepEqual(shown, { ...counted, electorate: total, needed: shown.needed });
  expectDecision(network, { state, ...counted, total, silent: agents.length - votes.length });
}

/** Expects a tally's outcome under the policy, computed independently. */
function expectDecision(
  { genesis }: Network,
  block: { state: string; approve: number; reject: number; total: number; silent: number },
): void {
  const { state, approve, reject, total, silent } = block;
  if (state === 'orphaned') return;
  if (genesis.policy === 'majority') {
    if (state === 'voting') assert.ok(silent > 0);
    const enough = (approve + reject) * 10_000 >= genesis.participation_bps * total;
    if (state === 'finalized') assert.ok(enough && approve > reject);
    if (state === 'rejected') assert.ok(enough && approve <= reject);
    if (state === 'expired') assert.ok(!enough);
    return;
  }
  assert.equal(state === 'finalized', 3 * approve > 2 * total);
  if (genesis.policy === 'bft') assert.equal(state === 'rejected', 3 * reject >= total);
}

function expectOpenBlocks(network: Network, blocks: Block[]): void {
  const open = blocks.filter(({ state }) => state === 'voting').map(({ context }) => context);
  assert.ok(open.length <= limits.openBlocks);
  assert.equal(new Set(open.map(({ producer }) => producer)).size, open.length);
  const { head_hash, server_time } = network.read.networkState();
  for (const { parent_hash, deadline } of open) {
    assert.equal(parent_hash, head_hash);
    assert.ok(deadline >= Date.parse(server_time));
  }
}

function expectScores(network: Network): void {
  for (const { value } of network.read.records('standings')) {
    const { penalty, missed, judged, ...scores } = standingOf(value);
    for (const score of Object.values(scores)) {
      assert.ok(Number.isInteger(score) && score >= 0 && score <= 1_000_000);
    }
    assert.ok(penalty >= 0 && penalty <= 500_000 && missed >= 0 && judged >= 0);
  }
  for (const { id } of network.read.agents()) {
    for (const score of Object.values(network.read.reputation(id)!)) {
      assert.ok(score >= 0 && score <= 100);
    }
  }
}

function expectFigures(network: Network, blocks: Block[]): void {
  const open = blocks.filter(({ state }) => state === 'voting');
  const { validators, producers } = network.read.activeAgents();
  const state = network.read.networkState();
  assert.equal(state.active_validators, validators.length);
  assert.equal(state.active_producers, producers.length);
  const pending = open.reduce((sum, { context }) => sum + context.transactions, 0);
  assert.equal(state.pending_transactions, pending);
  for (const list of [validators, producers]) {
    const ids = list.map(({ id }) => id);
    assert.deepEqual(ids, ids.toSorted());
  }
}

function expectAlliances(network: Network): void {
  const counts = new Map<string, number>();
  for (const { value } of network.read.records('alliances')) {
    const { founder, members, invited } = value.context;
    if (value.state !== 'proposed' && value.state !== 'active') continue;
    assert.equal(members[0], founder);
    assert.equal(members.length >= 2, value.state === 'active');
    assert.ok(members.length + invited.length <= 32);
    assert.deepEqual(invited, invited.toSorted());
    for (const id of members) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  for (const count of counts.values()) {
    assert.ok(count <= limits.activeAlliancesPerAgent);
  }
}
