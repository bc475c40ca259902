/**
 * All vector cases, in suite order. This file contains the cases about a network: proposals, votes,
 * quotas, alliances, attendance and consensus policies.
 */

import type { GenesisOptions } from '../../engine/admit/genesis.js';
import type { Outcome } from '../../engine/core/state.js';
import {
  type AllianceFields,
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
  type ProposalFields,
} from '../../engine/protocol/compose.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import { type Decision, GENESIS_HASH } from '../../engine/protocol/schema/primitives.js';
import type { AnswerOf } from '../../engine/protocol/schema/view.js';
import { bodies, contents, credentials, letterCase, times, words } from './admission-cases.js';
import { ballotCases } from './ballot-cases.js';
import type { Actor, Case, Harness } from './harness.js';

const life: Case = {
  name: 'life',
  about: 'each kind of request and its duplicate; changes of reputation',
  async play(harness) {
    const [ada, bob, cem, dan] = await harness.joinMany(4);
    const image = await posted(harness, bob!, 'a meme');
    const transactions = [
      composeTransaction(ada!, harness.networkId, '{"type":"pay"}', false),
      composeTransaction(cem!, harness.networkId, ' {"type":"Pay"}', true),
    ];
    const state_diff = { additions: { b: [1.5, null], a: { z: 1, é: 'x' } }, deletions: { c: 0 } };
    const meme_content = { type: 'text', content: 'gm', tags: ['B', 'a', 'b'] };
    const first = await open(harness, ada!, { transactions, state_diff, meme_content });
    await discuss(harness, bob!, first, [image]);
    await vote(harness, cem!, first, 'reject', [image]);
    for (const by of [ada!, bob!, dan!]) await vote(harness, by, first, 'approve', [image]);
    await vote(harness, cem!, first, 'approve');
    const next = { additions: { c: 1 }, deletions: { a: null, absent: null } };
    const second = await open(harness, bob!, { state_diff: next });
    await votes(harness, [ada!, bob!, cem!], second);
    await votes(harness, [ada!, bob!, cem!], await open(harness, cem!), 'reject');
    await harness.status(cem!, 'maintenance');
    const { alliance_id } = await harness.do<AnswerOf['alliance_propose']>(
      founding(harness, ada!, [bob!]),
    );
    await harness.ask(answering(harness, bob!, alliance_id, true));
    await harness.ask(leaving(harness, bob!, alliance_id));
    for (const { request, input } of [...harness.played]) {
      if (request) await harness.ask(request, `line ${input.line} repeated`);
    }
    await harness.pass(600_000);
    await harness.ask(leaving(harness, bob!, alliance_id), 'a different request');
  },
};

const refusals: Case = {
  name: 'refusals',
  about: 'refusals about agents, votes, proposals, memes and discussions',
  genesis: { min_validators: 2 },
  async play(harness) {
    const lone = await harness.join();
    await harness.ask(proposal(harness, lone), 'too few validators');
    const [ada, bob, producer, validator] = [
      await harness.join(),
      await harness.join(),
      await harness.join(['producer']),
      await harness.join(['validator']),
    ];
    const unknown = { block_hash: 'b'.repeat(64), decision: 'approve' } as const;
    await harness.ask(composeVote(ada, harness.stamp(), unknown), 'unknown block');
    const unknownId = `agent_${'0'.repeat(32)}`;
    await harness.ask(
      composeStatus(ada, harness.stamp(), unknownId, { status: 'active' }),
      'unknown',
    );
    await harness.ask(
      composeStatus(ada, harness.stamp(), bob.id, { status: 'active' }),
      'a different agent',
    );
    await harness.status(bob, 'active');
    const old = '2024-12-31T00:00:00Z';
    await harness.ask(
      composeStatus(bob, old, bob.id, { status: 'inactive' }),
      'older than the last update',
    );
    const profile = { name: 'other', personality: 'p', capabilities: ['validator'] as const };
    await harness.ask(composeRegister(ada, harness.stamp(), profile), 'different profile');
    await harness.ask(proposal(harness, validator), 'not a producer');
    await harness.ask(proposal(harness, ada, { parent_hash: 'c'.repeat(64) }), 'unknown parent');
    const one = composeTransaction(ada, harness.networkId, 'one', false);
    const block = await open(harness, ada, { transactions: [one] });
    await harness.ask(proposal(harness, ada), 'second open block');
    await vote(harness, producer, block);
    const late = await harness.join(['validator']);
    await vote(harness, late, block);
    await vote(harness, ada, block, 'approve', [`meme_${'0'.repeat(32)}`]);
    await discuss(harness, ada, block, [`meme_${'0'.repeat(32)}`]);
    await discuss(harness, ada, 'b'.repeat(64));
    await harness.status(bob, 'inactive');
    await vote(harness, bob, block);
    await harness.ask(proposal(harness, bob), 'not active');
    await meme(harness, bob, Buffer.from('gm'));
    await discuss(harness, bob, block);
    await harness.status(bob, 'active');
    await votes(harness, [lone, ada, bob], block);
    await vote(harness, validator, block);
    await discuss(harness, ada, block);
    for (const times of [1, 2]) await vote(harness, ada, block, 'reject', times === 1 ? [] : []);
    await harness.ask(proposal(harness, ada, { parent_hash: GENESIS_HASH }), 'stale parent');
    await harness.ask(proposal(harness, ada, { transactions: [one] }), 'final transaction');
    await crowd(harness);
  },
};

/** Proposes more blocks than may be open at once. */
async function crowd(harness: Parameters<Case['play']>[0]): Promise<void> {
  const producers = await harness.joinMany(9, ['producer']);
  for (const by of producers)
    await harness.ask(composeProposal(by, harness.stamp(), onHead(harness)));
}

const onHead = (harness: { head: string }) => ({ parent_hash: harness.head, transactions: [] });

const quota: Case = {
  name: 'quota',
  about: 'files of 1 MiB until the quota of 64 MiB is used up',
  async play(harness) {
    const ada = await harness.join();
    for (let index = 0; index < 65; index += 1) {
      await meme(harness, ada, new Uint8Array(1_048_576).fill(0x61), [`t${index}`]);
    }
    await meme(harness, ada, Buffer.from('a'), ['one-more']);
  },
};

function proposal(
  harness: Harness,
  by: Actor,
  fields: Partial<ProposalFields> = {},
): SignedRequest {
  const { parent_hash = harness.head } = fields;
  return composeProposal(by, harness.stamp(), { transactions: [], ...fields, parent_hash });
}

/** Proposes a block and returns its hash. */
async function open(
  harness: Harness,
  by: Actor,
  fields: Partial<ProposalFields> = {},
): Promise<string> {
  const answer = await harness.do<AnswerOf['propose']>(proposal(harness, by, fields));
  return answer.block_hash;
}

const vote = (
  harness: Harness,
  by: Actor,
  block_hash: string,
  decision: Decision = 'approve',
  meme_references: readonly string[] = [],
): Promise<Outcome> =>
  harness.ask(composeVote(by, harness.stamp(), { block_hash, decision, meme_references }));

async function votes(
  harness: Harness,
  by: readonly Actor[],
  block_hash: string,
  decision: Decision = 'approve',
): Promise<void> {
  for (const one of by) await vote(harness, one, block_hash, decision);
}

const meme = (harness: Harness, by: Actor, file: Uint8Array, tags: readonly string[] = []) =>
  harness.ask(composeMeme(by, harness.stamp(), { caption: 'caption', tags, file }));

async function posted(harness: Harness, by: Actor, text: string): Promise<string> {
  const fields = { caption: '', tags: [], file: Buffer.from(text) };
  const answer = await harness.do<AnswerOf['meme']>(composeMeme(by, harness.stamp(), fields));
  return answer.meme_id;
}

const discuss = (
  harness: Harness,
  by: Actor,
  block_hash: string,
  meme_references: readonly string[] = [],
) => {
  const fields = { block_hash, message: 'm', sentiment: 'neutral', meme_references } as const;
  return harness.ask(composeDiscuss(by, harness.stamp(), fields));
};

const founding = (
  harness: Harness,
  by: Actor,
  invited: readonly { id: string }[],
  fields: Partial<AllianceFields> = {},
): SignedRequest => {
  const target_ids = invited.map(({ id }) => id);
  return composeAlliancePropose(by, harness.stamp(), { purpose: 'p', target_ids, ...fields });
};

const answering = (harness: Harness, by: Actor, ally: string, accepted: boolean) =>
  composeAllianceRespond(by, harness.stamp(), ally, accepted);

const leaving = (harness: Harness, by: Actor, ally: string) =>
  composeAllianceLeave(by, harness.stamp(), ally);

/** Forms an alliance and returns its id. */
async function allied(
  harness: Harness,
  by: Actor,
  others: readonly Actor[],
  fields: Partial<AllianceFields> = {},
): Promise<string> {
  const request = founding(harness, by, others, fields);
  const { alliance_id } = await harness.do<AnswerOf['alliance_propose']>(request);
  for (const other of others) await harness.do(answering(harness, other, alliance_id, true));
  return alliance_id;
}

const found = async (harness: Harness, by: Actor, others: readonly Actor[], duration = 'PT1H') => {
  const request = founding(harness, by, others, { duration });
  return (await harness.do<AnswerOf['alliance_propose']>(request)).alliance_id;
};

const alliances: Case = {
  name: 'alliance-lives',
  about: 'alliances that form, lapse, dissolve and expire; duplicates and refusals',
  genesis: { weights: 'alliance_bonus' },
  async play(harness) {
    const [ada, bob, cem, dan] = (await harness.joinMany(4)) as [Actor, Actor, Actor, Actor];
    await harness.ask(founding(harness, ada, [ada]), 'oneself');
    await harness.ask(founding(harness, ada, [{ id: `agent_${'0'.repeat(32)}` }]), 'nobody');
    const ally = await found(harness, ada, [dan, cem, bob]);
    await harness.ask(leaving(harness, ada, ally), 'not formed');
    await harness.ask(answering(harness, ada, ally, true), 'the founder cannot answer');
    const accept = answering(harness, cem, ally, true);
    await harness.ask(accept);
    const decline = answering(harness, bob, ally, false);
    await harness.ask(decline);
    await harness.ask(answering(harness, bob, ally, true), 'second answer');
    await harness.ask(leaving(harness, bob, ally), 'not a member');
    await harness.ask(answering(harness, dan, ally, true));
    const leave = leaving(harness, cem, ally);
    await harness.ask(leave);
    for (const again of [accept, decline, leave]) await harness.ask(again, 'duplicate');
    await votes(harness, [ada, bob, cem], await open(harness, ada));
    await harness.ask(leaving(harness, ada, ally), 'the founder leaves');
    for (const again of [accept, decline, leave]) await harness.ask(again, 'duplicate');
    await harness.ask(leaving(harness, dan, ally), 'over');
    await endings(harness, [ada, bob, cem, dan]);
    await limits(harness, ada);
    await harness.pass(600_001);
    await harness.ask(accept, 'forgotten');
  },
};

async function endings(harness: Harness, [ada, bob, cem, dan]: readonly Actor[]): Promise<void> {
  const declined = await found(harness, ada!, [bob!]);
  await harness.ask(answering(harness, bob!, declined, false), 'the last invited agent declines');
  const lapsing = await found(harness, ada!, [bob!, cem!]);
  await harness.ask(answering(harness, dan!, lapsing, true), 'not invited');
  await harness.pass(60_000);
  await harness.pass(1);
  await harness.ask(answering(harness, cem!, lapsing, true), 'too late');
  const short = await allied(harness, ada!, [bob!], { duration: 'PT1M' });
  await harness.pass(60_001);
  await harness.ask(leaving(harness, bob!, short), 'expired');
  await harness.status(dan!, 'inactive');
  const sleepy = await found(harness, ada!, [dan!]);
  await harness.ask(answering(harness, dan!, sleepy, true), 'not active');
  await harness.ask(answering(harness, dan!, `ally_${'0'.repeat(32)}`, true), 'unknown');
  await harness.status(dan!, 'active');
}

async function limits(harness: Harness, ada: Actor): Promise<void> {
  const others = await harness.joinMany(5, ['validator']);
  for (const other of others)
    await harness.ask(founding(harness, ada, [other]), 'up to five alliances');
  await harness.ask(founding(harness, ada, [others[0]!]), 'sixth alliance');
}

type Rules = Pick<Partial<GenesisOptions>, 'policy' | 'weights' | 'participation_bps'>;

/** Registers seven validators with two personalities. Three of the validators are producers. */
async function settle(harness: Harness): Promise<Actor[]> {
  return [
    ...(await harness.joinMany(3, ['validator', 'producer'], { personality: 'lawful' })),
    ...(await harness.joinMany(4, ['validator'], { personality: 'chaotic' })),
  ];
}

async function play(harness: Harness): Promise<void> {
  const all = await settle(harness);
  const [ada, bob, cem] = all as [Actor, Actor, Actor];
  const image = await posted(harness, all[6]!, 'a meme');
  await allied(harness, ada, [bob, all[3]!]);
  const pay = (data: string) => composeTransaction(ada, harness.networkId, data, true);
  const first = await open(harness, ada, { transactions: [pay('1'), pay('2')] });
  const sibling = await open(harness, bob);
  for (const one of all) await vote(harness, one, first, 'approve', [image]);
  await votes(harness, all.slice(0, 2), sibling);
  const second = await open(harness, cem);
  await votes(harness, all.slice(3), second, 'reject');
  await votes(harness, all.slice(0, 3), second);
  const third = await open(harness, bob, { transactions: [pay('3')] });
  await votes(harness, all.slice(0, 2), third);
  await vote(harness, all[5]!, third, 'reject');
  await vote(harness, all[5]!, third, 'approve');
  await harness.pass(30_000);
  await votes(harness, [all[4]!], third);
  await harness.pass(1);
  for (let count = 0; count < 4; count += 1) {
    const silent = await open(harness, ada);
    await votes(harness, all.slice(0, 3), silent, count % 2 === 0 ? 'approve' : 'reject');
    await harness.pass(40_000);
  }
  await harness.status(all[6]!, 'active');
  await votes(harness, all, await open(harness, ada));
  await harness.pass(65_001);
}

const named = (name: string, rules: Rules): Case => ({
  name,
  about: `policy ${rules.policy}, weights ${rules.weights}: all outcomes of blocks, dormancy`,
  genesis: rules,
  play,
});

const policies: readonly Case[] = [
  named('bft-equal', { policy: 'bft', weights: 'equal' }),
  named('bft-reputation', { policy: 'bft', weights: 'reputation' }),
  named('bft-alliances', { policy: 'bft', weights: 'alliance_bonus' }),
  named('veto-equal', { policy: 'veto', weights: 'equal' }),
  named('majority-equal', { policy: 'majority', weights: 'equal' }),
  named('majority-turnout', {
    policy: 'majority',
    weights: 'reputation',
    participation_bps: 7_000,
  }),
];

/*
 * Attendance cases: missed blocks, dormancy, and the growth of the dormant share while no block is
 * finalized. The rules are in section 6 of the protocol. Each case covers a mistake that no other
 * case finds.
 */

const PERIOD_MS = 30_000;

const town = (harness: Harness, count: number): Promise<Actor[]> =>
  harness.joinMany(count, ['validator', 'producer']);

/** Opens a block, collects votes, and waits for its deadline. */
async function expire(harness: Harness, by: Actor, voters: readonly Actor[] = []): Promise<void> {
  const block = await open(harness, by);
  await votes(harness, voters, block);
  await harness.pass(PERIOD_MS + 1);
}

/** An elector that is inactive or in maintenance counts as absent but does not become dormant. */
const inactive: Case = {
  name: 'attendance-inactive',
  about: 'an inactive elector misses blocks, but becomes dormant only after its return',
  genesis: { dormant_after: 1, dormant_share_max: 10_000 },
  async play(harness) {
    const [ada, bob, cem, dan] = (await town(harness, 4)) as [Actor, Actor, Actor, Actor];
    const block = await open(harness, ada);
    await harness.status(bob, 'inactive');
    await harness.status(cem, 'maintenance');
    await vote(harness, ada, block);
    await harness.pass(PERIOD_MS + 1);
    await harness.status(bob, 'active');
    await harness.status(cem, 'active');
    // All electors except ada miss the next block. The electors that returned become dormant.
    await expire(harness, ada, [ada]);
    await harness.status(dan, 'active');
    await votes(harness, [ada, dan], await open(harness, ada));
  },
};

/** Overlapping blocks count as one missed block. */
const beside: Case = {
  name: 'attendance-side-by-side',
  about: 'overlapping blocks count as one miss; a vote on any of them is presence',
  genesis: { dormant_after: 3, dormant_share_max: 10_000, leak_periods: 1 },
  async play(harness) {
    const all = await town(harness, 6);
    const [ada, bob, cem, dan, eve, fay] = all as [Actor, Actor, Actor, Actor, Actor, Actor];
    const first = await open(harness, ada);
    await harness.pass(10_000);
    const second = await open(harness, bob);
    await vote(harness, ada, first);
    await vote(harness, cem, second);
    await harness.pass(5_000);
    const third = await open(harness, cem);
    await vote(harness, dan, third);
    // The first block expires while two are in voting. The second and the third expire later.
    await harness.pass(15_000);
    await harness.pass(10_000);
    await harness.pass(5_000);
    // This block is proposed after the last counted block ended, so missing it counts again.
    const fourth = await open(harness, dan);
    await vote(harness, eve, fourth);
    await harness.pass(1);
    const fifth = await open(harness, fay);
    await vote(harness, eve, fifth, 'reject');
    await harness.pass(PERIOD_MS + 1);
    await harness.ask(composeVote(eve, harness.stamp(), { block_hash: fifth, decision: 'reject' }));
    await expire(harness, ada, [eve]);
  },
};

/** The limit allows one dormant elector. Most misses come first, then the lowest ordinal. */
const order: Case = {
  name: 'attendance-order',
  about: 'order of dormancy: by misses, then by ordinal; electors beyond the limit stay awake',
  genesis: { dormant_after: 2, dormant_share_max: 2_000, leak_periods: 0 },
  async play(harness) {
    const all = await town(harness, 7);
    const [ada, bob, cem, dan, eve, fay, last] = all as Actor[] & { length: 7 };
    // The last elector misses two blocks and becomes dormant. The limit is one of seven electors.
    await expire(harness, ada!, [ada!, bob!, cem!, dan!]);
    await expire(harness, ada!, [ada!, eve!, fay!]);
    // A command ends the dormancy but keeps the count. After the next block, the last elector has
    // three misses, and no other elector has more than two.
    await harness.status(last!, 'active');
    await expire(harness, ada!, [ada!]);
    // The elector is awake, but not in the earlier block's electorate.
    const block = await open(harness, ada!);
    await discuss(harness, last!, block);
    await vote(harness, last!, block);
    await harness.pass(PERIOD_MS + 1);
    // With equal counts, the lowest ordinal becomes dormant.
    await expire(harness, ada!, [last!]);
  },
};

/** Periods without a finalized block raise the limit. A finalized block resets it. */
const leak: Case = {
  name: 'attendance-leak',
  about: 'the limit on dormant weight grows while blocks fail, until the others can decide',
  genesis: { dormant_after: 1, dormant_share_max: 2_000, leak_periods: 2 },
  async play(harness) {
    const all = await town(harness, 10);
    const present = all.slice(0, 4);
    for (let period = 0; period < 7; period += 1) await expire(harness, all[0]!, present);
    // Rejected and orphaned blocks do not count as failed periods.
    await votes(harness, present, await open(harness, all[0]!), 'reject');
    const head = await open(harness, all[1]!);
    await open(harness, all[2]!);
    await votes(harness, present, head);
    await harness.status(all[9]!, 'active');
    await expire(harness, all[0]!, present.slice(0, 1));
    await expire(harness, all[0]!, present.slice(0, 1));
  },
};

/** Weights differ: the limit applies to weight, not to the number of electors. */
const weighed: Case = {
  name: 'attendance-weights',
  about: 'the limit on dormant electors is a share of the weight of all active validators',
  genesis: {
    ...{ dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 },
    ...{ policy: 'majority', weights: 'reputation', participation_bps: 9_000 },
  },
  async play(harness) {
    const all = await town(harness, 6);
    const block = await open(harness, all[0]!);
    await votes(harness, all.slice(0, 4), block);
    await votes(harness, all.slice(4), block, 'reject');
    for (let period = 0; period < 3; period += 1) {
      await expire(harness, all[0]!, all.slice(0, 2 + (period % 2)));
    }
  },
};

/** All slots are taken, so the block whose producer has the lowest score is orphaned. */
const places: Case = {
  name: 'places',
  about: 'eight blocks in voting: the newest of the lowest score yields to a higher score',
  async play(harness) {
    const all = await town(harness, 12);
    const [ada, bob] = all as [Actor, Actor];
    // Ada and bob gain reputation, the last two lose some, and the others keep theirs.
    const block = await open(harness, ada);
    await votes(harness, all.slice(10), block, 'reject');
    await votes(harness, all.slice(0, 9), block);
    for (const by of [...all.slice(2, 8), ...all.slice(10)]) await open(harness, by);
    // An equal score takes no slot. A higher score takes the slot of the lowest-scoring producer.
    const { head } = harness;
    for (const by of [all[11]!, all[9]!, all[8]!, ada, bob]) {
      await harness.ask(proposal(harness, by, { parent_hash: head }));
    }
    await harness.pass(PERIOD_MS + 1);
  },
};

const attendance: readonly Case[] = [inactive, beside, order, leak, weighed, places];

export const vectorCases: readonly Case[] = [
  life,
  bodies,
  credentials,
  contents,
  times,
  words,
  letterCase,
  refusals,
  alliances,
  ...policies,
  ...attendance,
  ...ballotCases,
  quota,
];
