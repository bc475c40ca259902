/**
 * Random lives of a network. Agents' attempts are drawn as data and turned into signed requests.
 */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeTransaction,
  composeVote,
  GENESIS_HASH,
  type GenesisOptions,
  limits,
  type Network,
  type RecordOf,
  type SignedRequest,
  standingOf,
  type VirtualClock,
  weightings,
} from 'folkmoot';
import { type Citizen, citizenOf, instant, paperSignatory } from '../../support/citizens.js';

const CITIZENS = 13;
const FOUNDERS = 12;
const UNKNOWN_BLOCK = 'e'.repeat(64);
const UNKNOWN_MEME = `meme_${'0'.repeat(32)}`;
const UNKNOWN_ALLIANCE = `ally_${'0'.repeat(32)}`;
const personalities = ['lawful', 'greedy'] as const;
const statuses = ['active', 'active', 'active', 'inactive', 'maintenance'] as const;
const durations = ['PT1M', 'PT5M', 'PT1H'];
const capabilities = [['validator'], ['validator', 'producer'], ['producer']] as const;
/** Jumps in milliseconds, in addition to jumps to the next deadline and just beyond it. */
const jumps = [0, 1, 777, 5_000, 20_000, 61_000, 600_000];

const citizens = Array.from({ length: CITIZENS }, (_, index) => citizenOf(paperSignatory(index)));

/** An attempt by an agent. The meaning of the numbers depends on the kind. */
export interface Attempt {
  kind:
    | 'ballot'
    | 'race'
    | 'pact'
    | 'register'
    | 'status'
    | 'vote'
    | 'propose'
    | 'meme'
    | 'discuss'
    | 'alliance'
    | 'repeat'
    | 'jump';
  who: number;
  /** Selects a block, meme or alliance, counted from the newest, or a jump. */
  which: number;
  flag: boolean;
  some: number;
}

const kinds = fc.oneof(
  { weight: 3, arbitrary: fc.constant('ballot' as const) },
  { weight: 1, arbitrary: fc.constant('race' as const) },
  { weight: 1, arbitrary: fc.constant('pact' as const) },
  { weight: 2, arbitrary: fc.constant('register' as const) },
  { weight: 3, arbitrary: fc.constant('status' as const) },
  { weight: 22, arbitrary: fc.constant('vote' as const) },
  { weight: 8, arbitrary: fc.constant('propose' as const) },
  { weight: 3, arbitrary: fc.constant('meme' as const) },
  { weight: 2, arbitrary: fc.constant('discuss' as const) },
  { weight: 8, arbitrary: fc.constant('alliance' as const) },
  { weight: 4, arbitrary: fc.constant('repeat' as const) },
  { weight: 4, arbitrary: fc.constant('jump' as const) },
);

/** Draws without bias, because small numbers are not special here. */
export const attempts = (length: number): fc.Arbitrary<Attempt[]> =>
  fc.array(
    fc.noBias(
      fc.record({
        ...{ kind: kinds, who: fc.nat(CITIZENS - 1), which: fc.nat(9), flag: fc.boolean() },
        some: fc.nat(999),
      }),
    ),
    { minLength: Math.trunc(length / 2), maxLength: length, size: 'max' },
  );

export const genesis: fc.Arbitrary<GenesisOptions> = fc.record({
  network_id: fc.constant('random'),
  // The auditor predicts these policies with its own model.
  policy: fc.constantFrom('bft', 'majority', 'veto'),
  weights: fc.constantFrom(...weightings),
  voting_period_ms: fc.constantFrom(1, 5_000, 30_000),
  min_validators: fc.integer({ min: 1, max: 2 }),
  dormant_after: fc.integer({ min: 0, max: 3 }),
  dormant_share_max: fc.constantFrom(0, 2_000, 3_333, 10_000),
  leak_periods: fc.constantFrom(0, 1, 2, 20),
  participation_bps: fc.constantFrom(0, 5_000, 10_000),
  consistency: fc.constantFrom('conformity' as const, 'off' as const),
});

export interface Timed {
  at: number;
  request: SignedRequest;
}

/** Turns attempts into requests that fit the network's current state. */
export class Life {
  readonly #past: SignedRequest[] = [];
  #stamps = 0;

  constructor(private readonly network: Network) {}

  /** Returns the initial registrations, without which nearly every request would be refused. */
  static founders(): SignedRequest[] {
    return citizens.slice(0, FOUNDERS).map((citizen, index) =>
      composeRegister(citizen, instant(0), {
        personality: isGreedy(index) ? 'greedy' : 'lawful',
        name: 'founder',
        capabilities: index === 10 ? ['producer'] : index === 11 ? ['validator'] : both,
      }),
    );
  }

  /**
   * Returns the time to advance, or the next requests, each composed after the previous request was
   * accepted.
   */
  next(attempt: Attempt): number | Iterable<SignedRequest> {
    return attempt.kind === 'jump' ? this.#jump(attempt) : this.#requests(attempt);
  }

  *#requests(attempt: Attempt): Iterable<SignedRequest> {
    for (const one of this.#attempts(attempt)) {
      const request = this.#compose(one);
      this.#past.push(request);
      yield request;
    }
  }

  /** Concurrent requests from many agents. Without them few blocks are decided. */
  *#attempts(attempt: Attempt): Iterable<Attempt> {
    if (attempt.kind === 'ballot') yield* this.#ballot(attempt);
    else if (attempt.kind === 'race') yield* everyone({ ...attempt, kind: 'propose' });
    else if (attempt.kind === 'pact') yield* this.#pact(attempt);
    else yield attempt;
  }

  /** Most agents vote, mostly the same way; or one personality votes against all others. */
  *#ballot({ which, flag, some }: Attempt): Iterable<Attempt> {
    for (const index of citizens.keys()) {
      if (index === some % 20) continue;
      const who = (index + which) % CITIZENS;
      const isFor = some % 5 === 0 ? !isGreedy(who) : flag === (some >> (index % 8)) % 4 > 0;
      yield { kind: 'vote', who, which: which % 2, flag: true, some: isFor ? 5 : 14 };
    }
  }

  /** Forms alliances between all agents, one after another. */
  *#pact(attempt: Attempt): Iterable<Attempt> {
    for (let round = 0; round < 1 + (attempt.some % 6); round += 1) {
      yield { ...attempt, kind: 'alliance', some: ALL_INVITED };
      yield* everyone({ ...attempt, kind: 'alliance', which: 0, flag: false, some: ACCEPTS });
    }
  }

  #jump({ which, flag, some }: Attempt): number {
    if (flag) return jumps[some % jumps.length]!;
    const due = this.network.nextDeadline();
    const now = Date.parse(this.network.read.networkState().server_time);
    return due === null ? which : Math.max(0, due - now) + (which % 3);
  }

  #stamp(): string {
    this.#stamps += 1;
    return instant(this.#stamps);
  }

  #compose(attempt: Attempt): SignedRequest {
    const { kind, who, which, flag, some } = attempt;
    const by = citizens[who]!;
    const stamp = this.#stamp();
    const past = kind === 'repeat' ? this.#repeated(attempt) : undefined;
    if (past) return past;
    if (kind === 'register') {
      const personality = personalities[which % 2]!;
      const fields = {
        ...{ personality, name: flag ? 'a' : 'b', capabilities: capabilities[which % 3]! },
      };
      return composeRegister(by, stamp, fields);
    }
    if (kind === 'status') {
      const status = statuses[some % statuses.length]!;
      const id = (some % 11 === 0 ? citizens.at(which - 5)! : by).id;
      return composeStatus(by, some % 7 === 0 ? instant(1) : stamp, id, { status });
    }
    if (kind === 'meme') {
      const file = new TextEncoder().encode(`gm ${some % 5}`);
      return composeMeme(by, flag ? stamp : instant(0), { caption: '', tags: [], file });
    }
    if (kind === 'alliance') return this.#alliance(by, stamp, attempt);
    const meme_references = this.#memes(some);
    if (kind === 'vote') {
      const decision = some % 20 < 11 ? 'approve' : 'reject';
      const block_hash = this.#block(which, flag);
      return composeVote(by, stamp, { block_hash, decision, meme_references } as const);
    }
    if (kind === 'discuss') {
      const fields = { block_hash: this.#block(which, flag), message: 'hm', meme_references };
      return composeDiscuss(by, stamp, { ...fields, sentiment: 'neutral' });
    }
    return this.#proposal(by, stamp, attempt);
  }

  /**
   * Returns one of the last requests of a given kind, so that the many votes do not crowd out other
   * kinds.
   */
  #repeated({ which, some }: Attempt): SignedRequest | undefined {
    const kinds = [...new Set(this.#past.map(({ kind }) => kind))];
    const alike = this.#past.filter(({ kind }) => kind === kinds[which % kinds.length]);
    return alike.at(-1 - (some % Math.min(20, alike.length)));
  }

  #proposal(by: Citizen, stamp: string, { flag, some }: Attempt) {
    const head = this.network.read.networkState().head_hash;
    const parent_hash = some % 13 === 0 ? GENESIS_HASH : head;
    const drawn = Array.from({ length: some % 4 }, (_, index) => `tx ${(some * (index + 3)) % 40}`);
    const transactions = drawn.map((data) => composeTransaction(by, 'random', data, flag));
    const additions = { [`key${some % 3}`]: some };
    const state_diff = { additions, deletions: { [`key${(some % 3) + 1}x`]: null, key9: null } };
    return composeProposal(by, stamp, { parent_hash, transactions, state_diff });
  }

  #alliance(by: Citizen, stamp: string, { who, which, flag, some }: Attempt) {
    const known = [...this.network.read.records('alliances')].map(({ value }) => value);
    const open = known.filter(({ state }) => state === 'proposed' || state === 'active');
    const context = (some % 7 === 0 ? known : open)[which % 3]?.context;
    const id = which === 9 ? UNKNOWN_ALLIANCE : (context?.alliance_id ?? UNKNOWN_ALLIANCE);
    const among = (ids: readonly string[] = []) => {
      const found = ids[some % Math.max(1, ids.length)];
      return (flag && citizens.find((citizen) => citizen.id === found)) || by;
    };
    if (some % 5 < 3) {
      return composeAllianceRespond(among(context?.invited), stamp, id, some % 4 > 0);
    }
    if (some % 5 === 3) return composeAllianceLeave(among(context?.members), stamp, id);
    const others = citizens.filter((_, index) => (some >> index) % 2 === 1 && index !== who);
    // Sometimes includes the founder, or the last citizen, who may not have joined.
    const targets = [...others, ...(others.length === 0 || which > 7 ? [citizens.at(-1)!] : [])];
    if (which === 7) targets.push(by);
    return composeAlliancePropose(by, stamp, {
      target_ids: targets.map((target) => target.id),
      purpose: 'win',
      duration: durations[which % 3]!,
    });
  }

  /**
   * Returns a block in voting or one of the newest blocks, and sometimes a block that does not
   * exist.
   */
  #block(which: number, open: boolean): string {
    if (which === 9) return UNKNOWN_BLOCK;
    const voting = [...this.network.read.records('open', { from: ['block'], to: ['block~'] })];
    const found = voting[which % Math.max(1, voting.length)]?.key as [string, string] | undefined;
    if (open && found) return found[1];
    const newest = [...this.network.read.records('block_numbers', { reverse: true, limit: 6 })];
    return newest[which % 4]?.value.block_hash ?? UNKNOWN_BLOCK;
  }

  #memes(some: number): string[] {
    if (some % 3 > 0) return [];
    if (some % 51 === 0) return [UNKNOWN_MEME];
    const known = [...this.network.read.records('memes')].map(({ key }) => String(key));
    return known.filter((_, index) => (some >> index) % 2 === 1).slice(0, 16);
  }
}

/** Hooks for a run that differs from verifying and applying each request directly. */
interface Leading {
  /** Performs a request. By default, the request is verified, applied and made durable. */
  take?: (request: SignedRequest) => Promise<unknown>;
  /** Called after each clock jump. By default, deadlines fire and are made durable. */
  jumped?: () => unknown;
  look?: (index: number) => unknown;
}

/** Verifies a request and applies it, without waiting for the disk. */
export async function applied(network: Network, request: SignedRequest): Promise<void> {
  const verified = await network.verify(request);
  if (!('refusal' in verified)) network.apply(verified);
}

/** Fires due deadlines, and waits until their effects can be read. */
export async function settled(network: Network): Promise<void> {
  network.fireDeadlines();
  await network.durable;
}

/** Runs a life on a network, starting with the founders' registrations. */
export async function lead(
  network: Network,
  clock: VirtualClock,
  script: readonly Attempt[],
  { take, jumped = () => settled(network), look = () => {} }: Leading = {},
): Promise<void> {
  const life = new Life(network);
  const atOnce = async (request: SignedRequest) => {
    await applied(network, request);
    await network.durable;
  };
  const one = take ?? atOnce;
  for (const request of Life.founders()) await one(request);
  for (const [index, attempt] of script.entries()) {
    const next = life.next(attempt);
    if (typeof next === 'number') {
      clock.set(clock.now() + next);
      await jumped();
    } else for (const request of next) await one(request);
    await look(index);
  }
}

const isGreedy = (index: number) => index % 4 === 0;
const both = ['validator', 'producer'] as const;

function* everyone(attempt: Attempt): Iterable<Attempt> {
  for (const who of citizens.keys()) yield { ...attempt, who };
}

/** Value of `some` that founds an alliance with many invitees, who accept. */
const ALL_INVITED = 1_019;
const ACCEPTS = 1;

// ---- Invariants of a network, at any time and after any requests. They use node:assert, because
// the runner's assertions, called after every command, would take as long as everything else.

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
