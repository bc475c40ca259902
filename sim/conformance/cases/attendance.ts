/**
 * Attendance: which electors miss a block, which of them fall dormant, and how the share of
 * dormant weight grows while no block is finalized. Section 6 of the protocol has the rules; each
 * case here decides one question that an implementation can get wrong without failing any other.
 */
import { composeVote } from '../../../engine/internal.js';
import type { Actor, Case, Harness } from '../harness.js';
import { discuss, open, proposal, vote, votes } from './requests.js';

const PERIOD_MS = 30_000;

const town = (harness: Harness, count: number): Promise<Actor[]> =>
  harness.joinMany(count, ['validator', 'producer']);

/** Opens a block, lets some vote on it, and waits for its deadline. */
async function expire(harness: Harness, by: Actor, voters: readonly Actor[] = []): Promise<void> {
  const block = await open(harness, by);
  await votes(harness, voters, block);
  await harness.pass(PERIOD_MS + 1);
}

/** An elector that left `active` misses the block, but does not fall dormant. */
const inactive: Case = {
  name: 'attendance-inactive',
  about: 'an elector that is not active misses a block and does not fall dormant until it is back',
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
    // All but ada miss the next one: now those that are back fall dormant.
    await expire(harness, ada, [ada]);
    await harness.status(dan, 'active');
    await votes(harness, [ada, dan], await open(harness, ada));
  },
};

/** Misses are judged once for blocks that are in voting side by side, by the number of blocks. */
const beside: Case = {
  name: 'attendance-side-by-side',
  about: 'blocks side by side: one miss, and a vote in any of them is presence',
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
    // The first expires while two are in voting, then the second and the third.
    await harness.pass(15_000);
    await harness.pass(10_000);
    await harness.pass(5_000);
    // Proposed after the end of the last one counted: the next miss.
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

/** Room for one: the highest count falls first, of equal ones the lowest ordinal. */
const order: Case = {
  name: 'attendance-order',
  about: 'who falls dormant first: by misses, then by ordinal; one without room stays awake',
  genesis: { dormant_after: 2, dormant_share_max: 2_000, leak_periods: 0 },
  async play(harness) {
    const all = await town(harness, 7);
    const [ada, bob, cem, dan, eve, fay, last] = all as Actor[] & { length: 7 };
    // The last one misses two and falls dormant: there is room for one of seven.
    await expire(harness, ada!, [ada!, bob!, cem!, dan!]);
    await expire(harness, ada!, [ada!, eve!, fay!]);
    // A command ends its dormancy and leaves its count: three misses against two of the others.
    await harness.status(last!, 'active');
    await expire(harness, ada!, [ada!]);
    // Awake again, it is not in the electorate of the block that was proposed before.
    const block = await open(harness, ada!);
    await discuss(harness, last!, block);
    await vote(harness, last!, block);
    await harness.pass(PERIOD_MS + 1);
    // Equal counts: the lowest ordinal.
    await expire(harness, ada!, [last!]);
  },
};

/** Each period without a finalized block makes more room; a finalized block ends that. */
const leak: Case = {
  name: 'attendance-leak',
  about: 'the share of dormant weight grows while blocks fail, until the rest can decide',
  genesis: { dormant_after: 1, dormant_share_max: 2_000, leak_periods: 2 },
  async play(harness) {
    const all = await town(harness, 10);
    const present = all.slice(0, 4);
    for (let period = 0; period < 7; period += 1) await expire(harness, all[0]!, present);
    // Rejected, then orphaned beside a finalized one: neither is a failed period.
    await votes(harness, present, await open(harness, all[0]!), 'reject');
    const head = await open(harness, all[1]!);
    await open(harness, all[2]!);
    await votes(harness, present, head);
    await harness.status(all[9]!, 'active');
    await expire(harness, all[0]!, present.slice(0, 1));
    await expire(harness, all[0]!, present.slice(0, 1));
  },
};

/** Weights that differ: the share is of weight, not of heads. */
const weighed: Case = {
  name: 'attendance-weights',
  about: 'the share of dormant electors is measured by weight, of all active validators',
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

/** A full house: the block of the producer with the lowest score gives way. */
const places: Case = {
  name: 'places',
  about: 'eight blocks in voting: the newest one of the lowest score gives way to a higher score',
  async play(harness) {
    const all = await town(harness, 12);
    const [ada, bob] = all as [Actor, Actor];
    // Ada and bob gain reputation, the last two lose some, the others keep theirs.
    const block = await open(harness, ada);
    await votes(harness, all.slice(10), block, 'reject');
    await votes(harness, all.slice(0, 9), block);
    for (const by of [...all.slice(2, 8), ...all.slice(10)]) await open(harness, by);
    // An equal score takes no place, a higher one does, and again from the next lowest.
    const { head } = harness;
    for (const by of [all[11]!, all[9]!, all[8]!, ada, bob]) {
      await harness.ask(proposal(harness, by, { parent_hash: head }));
    }
    await harness.pass(PERIOD_MS + 1);
  },
};

export const attendance: readonly Case[] = [inactive, beside, order, leak, weighed, places];
