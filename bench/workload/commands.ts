/**
 * Commands of each kind, done in a town: each gives the milliseconds of its own kind's commands.
 * What has to stand before them is done too, and not told.
 */
import {
  type Answer,
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeProposal,
  formatInstant,
  GENESIS_HASH,
  type Signatory,
} from '../../engine/index.js';
import { agentId } from '../../engine/signing.js';
import { composers } from './bodies.js';
import { chain, registration, START_MS, signatories } from './chain.js';
import type { Town } from './town.js';

type Doing = (town: Town, count: number) => AsyncGenerator<number>;

export const doings: Record<string, Doing> = {
  /** A tenth more at most: the population is what the row says. */
  async *register(town, count) {
    const newcomers = signatories('newcomers', Math.min(count, town.by.length / 10), false);
    for (const [ordinal, one] of newcomers.entries()) yield spent(town, registration(one, ordinal));
  },
  status: (town, count) => each(town, count, 'status'),
  /** Whole blocks: closing one settles all who voted, and that belongs to their votes. */
  async *vote(town, count) {
    let done = 0;
    for (const { proposal, votes } of chain(town.by)) {
      await town.do(proposal);
      for (const vote of votes) yield spent(town, vote);
      done += votes.length;
      if (done >= count) return;
    }
  },
  /** Each after the one before it expired: there is an open one at most. */
  async *propose(town, count) {
    const fields = { parent_hash: GENESIS_HASH, transactions: [] };
    for (let ordinal = 0; ordinal < count / 10; ordinal += 1) {
      const one = town.by[ordinal % town.by.length]!;
      yield spent(town, composeProposal(one, formatInstant(town.at), fields));
      town.pass(60_000);
    }
  },
  meme: (town, count) => each(town, count, 'meme'),
  async *discuss(town, count) {
    const { answer } = await town.do(chain(town.by).next().value.proposal);
    yield* each(town, count, 'discuss', memberOf(answer, 'block_hash'));
  },
  async *alliance(town, count) {
    for (let ordinal = 0; ordinal < count / 10; ordinal += 1) {
      const one = town.by[ordinal % town.by.length]!;
      yield* alliance(town, one, town.by[(ordinal + 1) % town.by.length]!, ordinal);
    }
  },
};

const spent = async (town: Town, request: Parameters<Town['do']>[0]) =>
  (await town.do(request)).spentMs;

async function* each(town: Town, count: number, kind: string, hash = ''): AsyncGenerator<number> {
  const compose = composers(hash)[kind]!;
  for (let ordinal = 0; ordinal < count; ordinal += 1) {
    yield spent(town, compose(town.by[ordinal % town.by.length]!, ordinal));
  }
}

/** Proposed, joined and left: three commands. */
async function* alliance(
  town: Town,
  founder: Signatory,
  other: Signatory,
  ordinal: number,
): AsyncGenerator<number> {
  const timestamp = formatInstant(START_MS + ordinal);
  const fields = { target_ids: [agentId(other.publicKey)], purpose: 'to be measured' };
  const proposed = await town.do(composeAlliancePropose(founder, timestamp, fields));
  yield proposed.spentMs;
  const id = memberOf(proposed.answer, 'alliance_id');
  yield spent(town, composeAllianceRespond(other, timestamp, id, true));
  yield spent(town, composeAllianceLeave(founder, timestamp, id));
}

const memberOf = (answer: Answer, name: string) =>
  String((answer as Readonly<Record<string, unknown>>)[name]);
