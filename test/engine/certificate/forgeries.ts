/**
 * Shared test sets for all checkers: valid certificates, and forgeries with recomputed digests.
 * Each forgery changes one thing and adapts everything else as far as a forger can.
 */
import { canonical, weightings } from 'folkmoot';
import { ballotForgeries } from './ballot-forgeries.js';
import { decide } from './decided.js';
import {
  amend,
  amendBody,
  amendEvent,
  type Change,
  certificateOf,
  closing,
  election,
  type Forged,
  find,
  forged,
  has,
  type Link,
  linksOf,
  type Members,
  opening,
  own,
  parsed,
  policies,
  signature,
  town,
  type Value,
  votesIn,
} from './town.js';

export interface Bases {
  /** bft and reputation: finalized by a vote. */
  text: string;
  /** veto and equal: rejected by every agent with one personality. */
  vetoed: string;
  /** The vetoed block's certificate without bridged entries. */
  apart: string;
  /** majority and alliance_bonus: finalized at the deadline. */
  late: string;
  /** schulze: finalized with the choice `b` of three options. */
  elected: string;
  /** A module that chooses an option, which checkers do not run. */
  unproven: string;
}

let made: Promise<Bases> | null = null;

export function bases(): Promise<Bases> {
  made ??= makeBases();
  return made;
}

async function makeBases(): Promise<Bases> {
  const first = await town('bft', 'reputation');
  const second = await town('veto', 'equal');
  const third = await town('majority', 'alliance_bonus');
  const { rejected } = second.blocks;
  return {
    text: await certificateOf(first, first.blocks.finalized),
    vetoed: await certificateOf(second, rejected),
    apart: await certificateOf(second, rejected, { bridgeBytes: 0 }),
    late: await certificateOf(third, third.blocks.finalized),
    elected: await election(),
    unproven: (await decide({ policy: 'module', seed: 4, blocks: 1 }))[0]!,
  };
}

/**
 * Builds certificates for every policy, finalized and rejected, with all entries and with few
 * entries.
 */
export async function valid(): Promise<string[]> {
  const texts: string[] = Object.values(await bases());
  for (const [index, policy] of policies.entries()) {
    const decided = await town(policy, weightings[index]!);
    for (const block of Object.values(decided.blocks)) {
      for (const how of [{}, { bridgeBytes: 0 }, { bridgeBytes: 2_000 }]) {
        texts.push(await certificateOf(decided, block, how));
      }
    }
    texts.push(await certificateOf(decided, decided.blocks.finalized, { through: decided.end }));
  }
  return texts;
}

/** Adds a second, changed electorate record to the link that `into` chooses. */
function secondElectorate(
  c: Forged,
  change: (electorate: Members) => void,
  into: (link: Link) => Link,
): void {
  const { link, text } = find(c, '["electorates",');
  const value = parsed(text) as [string, number, Members];
  change(value[2]);
  into(link).results.push(canonical(value));
}

const allOne = (electorate: Members) => {
  electorate.weights = electorate.weights.map(() => 1);
};
const threeOnly = (electorate: Members) => {
  electorate.agents = electorate.agents.slice(0, 3);
  electorate.weights = electorate.weights.slice(0, 3);
};

const after = (c: Forged, link: Link, steps: number): Link => {
  const links = linksOf(c);
  return links[links.indexOf(link) + steps]!;
};

/** Name, base certificate, refusal code, and the change. */
export type Forgery = [name: string, base: keyof Bases, code: string, change: Change];

const forgery = (...row: Forgery): Forgery => row;

const form: Forgery[] = [
  forgery('an unknown member of the claim', 'text', 'MEMBER_UNKNOWN', (c) => {
    c.claim.more = 1;
  }),
  forgery('an unknown member of an entry', 'text', 'MEMBER_UNKNOWN', (c) => {
    voteLink(c, 0).entry!.more = '';
  }),
  forgery('an unknown member of a link', 'text', 'MEMBER_UNKNOWN', (c) => {
    Object.assign(linksOf(c)[1]!, { more: '' });
  }),
  forgery('an entry of a kind that decides nothing', 'text', 'NOT_ONE_OF', (c) => {
    voteLink(c, 0).entry!.kind = 'meme';
  }),
  forgery('a time beyond the year 9999', 'late', 'NOT_AN_INTEGER', (c) => {
    closing(c).entry!.at = 253_402_300_800_000;
  }),
];

const voteLink = (c: Forged, index: number): Link => votesIn(c)[index]!;

const bounds: Forgery[] = [
  forgery('1,001 transactions', 'text', 'TOO_MANY_TRANSACTIONS', (c) =>
    amendBody(linksOf(c), 'propose', (body) => {
      const [one] = body.transactions as unknown[];
      body.transactions = Array.from({ length: 1_001 }, () => one);
    }),
  ),
  forgery('a proposal of more than 2 MiB', 'text', 'BODY_TOO_LARGE', (c) =>
    amendBody(linksOf(c), 'propose', { more: 'x'.repeat(2 * 1024 * 1024) }),
  ),
  forgery('a vote of more than 64 KiB', 'text', 'BODY_TOO_LARGE', (c) => {
    const { entry } = voteLink(c, 0);
    entry!.body = canonical({ ...(parsed(entry!.body) as Value), more: 'é'.repeat(33_000) });
  }),
  forgery('a transaction of more than 4,096 bytes', 'text', 'NOT_A_TRANSACTION', (c) =>
    amendBody(linksOf(c), 'propose', (body) => {
      (body.transactions as Value[])[0]!.data = 'é'.repeat(2_049);
    }),
  ),
  forgery('a transaction without a signature', 'text', 'NOT_A_TRANSACTION', (c) =>
    amendBody(linksOf(c), 'propose', (body) => {
      delete (body.transactions as Value[])[0]!.signature;
    }),
  ),
  forgery('a proposal that is not JSON', 'text', 'BAD_JSON', (c) => {
    opening(c).entry!.body = '{';
  }),
  forgery('a body with a member twice', 'text', 'BAD_JSON', (c) => {
    const entry = opening(c).entry!;
    entry.body = entry.body.replace('{', '{"parent_hash":"",');
  }),
  forgery('a body that is nested deeper than 16', 'text', 'BAD_JSON', (c) => {
    opening(c).entry!.body = `{"a":${'['.repeat(16)}${']'.repeat(16)}}`;
  }),
  forgery('a genesis with a signature', 'text', 'SYSTEM_ENTRY', (c) => {
    linksOf(c)[0]!.entry!.signature = 'ab';
  }),
];

const log: Forgery[] = [
  forgery('a log that does not begin with zeros', 'text', 'LOG_START', (c) => {
    c.spans[0]!.before.digest = 'ab'.repeat(32);
  }),
  forgery('a log that begins with entry 1', 'text', 'LOG_START', (c) => {
    c.spans[0]!.first = 1;
  }),
  forgery('an entry before the one before it', 'text', 'ENTRY_ORDER', (c) => {
    linksOf(c)[0]!.entry!.at = Number(linksOf(c)[0]!.entry!.at) + 9e9;
  }),
  forgery('a second genesis', 'text', 'ENTRY_ORDER', (c) => {
    Object.assign(voteLink(c, 0), { entry: structuredClone(linksOf(c)[0]!.entry) });
  }),
  forgery('a result that is not JSON', 'text', 'BAD_JSON', (c) => {
    const link = voteLink(c, 0);
    link.results = link.results.map((one) => one.replace(/^\["votes",(.*)\]$/, '["votes",$1'));
  }),
  forgery('a result that is not canonical', 'text', 'NOT_CANONICAL', (c) => {
    voteLink(c, 0).results[0] += ' ';
  }),
  forgery('a result of an unknown table', 'text', 'NOT_A_RECORD', (c) => {
    linksOf(c)[1]!.results.push('["ghosts",1,{}]');
  }),
  forgery('a result of an unknown type', 'text', 'NOT_AN_EVENT', (c) => {
    linksOf(c)[0]!.results.unshift('{"data":{},"seq":1,"type":"ghost"}');
  }),
  forgery('an event after a record', 'text', 'EVENT_AFTER_RECORD', (c) => {
    linksOf(c)[1]!.results.reverse();
  }),
  forgery('an event twice', 'text', 'NUMBER_ORDER', (c) => {
    const { results } = linksOf(c)[1]!;
    results.unshift(results[0]!);
  }),
  forgery('an event left out', 'text', 'NUMBER_ORDER', (c) => {
    linksOf(c)[1]!.results.shift();
  }),
];

const repeated: Forgery[] = [
  forgery('the electorate a second time, all weights 1', 'text', 'CHANGED_TWICE', (c) =>
    secondElectorate(c, allOne, (link) => link),
  ),
  forgery('the electorate a second time, three agents only', 'vetoed', 'CHANGED_TWICE', (c) =>
    secondElectorate(c, threeOnly, (link) => link),
  ),
  forgery('the electorate again, in a later entry', 'text', 'NUMBER_ORDER', (c) =>
    secondElectorate(c, allOne, (link) => after(c, link, 1)),
  ),
  forgery('the electorate again, in an earlier entry', 'text', 'NUMBER_ORDER', (c) =>
    secondElectorate(c, threeOnly, (link) => after(c, link, -1)),
  ),
  forgery('the same electorate again', 'text', 'NUMBER_ORDER', (c) =>
    secondElectorate(
      c,
      () => {},
      (link) => after(c, link, 2),
    ),
  ),
  forgery('a newer electorate before the proposal', 'apart', 'NO_ELECTORATE', (c) => {
    const { link, text } = find(c, '["electorates",');
    const [table, number, value] = parsed(text) as [string, number, Members];
    const end = opening(c);
    const into = link === end ? linksOf(c)[1]! : end;
    into.results.push(canonical([table, number + 1, value]));
  }),
  forgery('a record of a vote twice in an entry', 'text', 'CHANGED_TWICE', (c) => {
    const { results } = voteLink(c, 0);
    results.push(results.find((one) => one.startsWith('["votes"'))!);
  }),
  forgery('a record of a vote again', 'text', 'WRITTEN_TWICE', (c) => {
    const vote = voteLink(c, 0).results.find((one) => one.startsWith('["votes"'))!;
    linksOf(c)
      .find(({ entry, results }) => !entry && !has(results, '["votes"'))!
      .results.push(vote);
  }),
  forgery('a vote twice', 'text', 'NUMBER_ORDER', (c) => {
    const [first, , third] = votesIn(c);
    const { entry, results } = structuredClone(first!);
    Object.assign(third!, { entry, results });
  }),
  forgery('an agent twice', 'text', 'CHANGED_TWICE', (c) => {
    const { link, text } = find(c, '["agents",');
    after(c, link, 1).results.push(text);
  }),
  forgery('an agent again, with its number', 'text', 'WRITTEN_TWICE', (c) => {
    const { link } = find(c, '["agents",');
    const both = link.results.filter((one) => /^\["agent(s|_numbers)",/.test(one));
    opening(c).results.push(...both);
  }),
  forgery('an agent with another id', 'text', 'AGENT_RECORDS', (c) =>
    amend(linksOf(c), '["agents",', { agent_id: `agent_${'0'.repeat(32)}` }),
  ),
  forgery('the block proposed twice', 'text', 'BLOCK_STATE', (c) => {
    const text = opening(c).results.find((one) => one.startsWith(own(c)))!;
    after(c, opening(c), 1).results.push(text);
  }),
  forgery('the block ended twice', 'text', 'BLOCK_STATE', (c) => {
    const text = closing(c).results.find((one) => one.startsWith(own(c)))!;
    after(c, opening(c), 1).results.push(text);
  }),
  forgery('a block number twice', 'text', 'NUMBER_ORDER', (c) => {
    const { link, text } = find(c, '["block_numbers",');
    after(c, link, 1).results.push(text);
  }),
  forgery('the number of another block', 'text', 'BLOCK_NUMBER', (c) =>
    amend([opening(c)], '["block_numbers",', { block_hash: 'ab'.repeat(32) }),
  ),
  forgery('a height twice', 'late', 'NUMBER_ORDER', (c) => {
    const { text } = find(c, '["heights",');
    opening(c).results.push(text);
  }),
  forgery('a height of another block', 'text', 'BLOCK_HEIGHT', (c) =>
    amend(linksOf(c), '["heights",', { block_hash: 'ab'.repeat(32) }),
  ),
  forgery('no height', 'text', 'BLOCK_HEIGHT', (c) => {
    const link = closing(c);
    link.results = link.results.filter((one) => !one.startsWith('["heights"'));
  }),
];

const parameters: Forgery[] = [
  forgery('another network', 'text', 'WRONG_PROPOSAL', (c) => {
    amendBody(linksOf(c), 'genesis', (body) => {
      body.network_id = 'mainnet';
    });
    c.claim.network_id = 'mainnet';
  }),
  forgery('another network in the claim alone', 'text', 'CLAIM_MISMATCH', (c) => {
    c.claim.network_id = 'mainnet';
  }),
  forgery('another weighting', 'text', 'WEIGHT', (c) =>
    amendBody(linksOf(c), 'genesis', { weights: 'equal' }),
  ),
  forgery('another policy', 'vetoed', 'BLOCK_RECORD', (c) =>
    amendBody(linksOf(c), 'genesis', { policy: 'majority' }),
  ),
  forgery('an unknown policy', 'text', 'GENESIS_PARAMETER', (c) =>
    amendBody(linksOf(c), 'genesis', { policy: 'dictatorship' }),
  ),
  forgery('a parameter beyond its bounds', 'text', 'GENESIS_PARAMETER', (c) =>
    amendBody(linksOf(c), 'genesis', { participation_bps: 10_001 }),
  ),
  forgery('a parameter that is true', 'text', 'GENESIS_PARAMETER', (c) =>
    amendBody(linksOf(c), 'genesis', { min_validators: true }),
  ),
  forgery('more validators needed than there were', 'text', 'TOO_FEW_ELECTORS', (c) =>
    amendBody(linksOf(c), 'genesis', { min_validators: 11 }),
  ),
  forgery('a longer voting period', 'text', 'BLOCK_RECORD', (c) =>
    amendBody(linksOf(c), 'genesis', { voting_period_ms: 2_000 }),
  ),
  forgery('parameters that are not canonical', 'text', 'NOT_CANONICAL', (c) => {
    const { entry } = linksOf(c)[0]!;
    entry!.body = entry!.body.replace('{', '{ ');
  }),
  forgery('a network without signatures', 'text', 'UNSIGNED_NETWORK', (c) =>
    amendBody(linksOf(c), 'genesis', { signatures: 'none' }),
  ),
];

const electors: Forgery[] = [
  forgery('another weight', 'text', 'BLOCK_RECORD', (c) =>
    amend(linksOf(c), '["electorates",', (value) => {
      value.weights[0] = 99;
    }),
  ),
  forgery('all weights 1', 'text', 'BLOCK_RECORD', (c) =>
    amend(linksOf(c), '["electorates",', allOne),
  ),
  forgery('a weight that none can have', 'text', 'WEIGHT', (c) =>
    amend(linksOf(c), '["electorates",', (value) => {
      value.weights[0] = 1_000;
    }),
  ),
  forgery('a weight that is true', 'vetoed', 'WEIGHT', (c) =>
    amend(linksOf(c), '["electorates",', (value) => {
      value.weights[0] = true as never;
    }),
  ),
  forgery('an elector less', 'text', 'ELECTORATE_LENGTHS', (c) =>
    amend(linksOf(c), '["electorates",', (value) => {
      value.agents.pop();
    }),
  ),
  forgery('electors out of order', 'vetoed', 'ELECTORATE_ORDER', (c) =>
    amend(linksOf(c), '["electorates",', (value) => {
      value.agents.reverse();
    }),
  ),
  forgery('an elector twice', 'text', 'ELECTORATE_ORDER', (c) =>
    amend(linksOf(c), '["electorates",', (value) => {
      value.agents[1] = value.agents[0]!;
    }),
  ),
  forgery('another electorate in the record of the block', 'text', 'NO_ELECTORATE', (c) => {
    for (const link of [opening(c), closing(c)]) {
      amend([link], own(c), ({ context }) => {
        context.electorate = 7;
      });
    }
  }),
  forgery(
    'a personality in the record of a registration alone',
    'apart',
    'REGISTRATION_RECORD',
    (c) =>
      amend(registrations(c), '["agents",', (value) => {
        value.personality = 'lawful';
      }),
  ),
  forgery('a personality in a registration alone', 'apart', 'REGISTRATION_RECORD', (c) =>
    amendBody(registrations(c), 'register', { personality: 'lawful' }),
  ),
  forgery('a personality in a registration and its record', 'apart', 'SIGNATURE', (c) =>
    amendBody(registrations(c), 'register', { personality: 'Greedy' }),
  ),
  forgery('a registration of no validator', 'apart', 'NOT_A_REGISTRATION', (c) =>
    amendBody(registrations(c), 'register', { capabilities: ['producer'] }),
  ),
  forgery('a registration with another signature', 'apart', 'SIGNATURE', (c) => {
    signature(registrations(c)[0]!.entry!);
  }),
  forgery(
    'a personality against the registration of a voter',
    'vetoed',
    'PERSONALITY_CHANGED',
    (c) =>
      amendEvent(votesIn(c), 'block_validation', (data) => {
        (data.validator as Value).personality = 'greedy';
      }),
  ),
  forgery('a registration left out', 'apart', 'ELECTOR_UNREGISTERED', (c) => {
    delete registrations(c)[0]!.entry;
    c.spans = c.spans.filter(({ links }) => links[0]!.entry);
  }),
];

const registrations = (c: Forged) => linksOf(c).filter(({ entry }) => entry?.kind === 'register');

const ballots: Forgery[] = [
  forgery('a vote with another decision', 'text', 'VOTE_RECORD', (c) =>
    amendBody([voteLink(c, 1)], 'vote', { decision: 'reject' }),
  ),
  forgery('a vote whose reason was changed', 'text', 'VOTE_EVENT', (c) =>
    amendBody([voteLink(c, 1)], 'vote', { reason: 'no' }),
  ),
  forgery('a vote whose reason was changed everywhere', 'text', 'SIGNATURE', (c) => {
    amendBody([voteLink(c, 1)], 'vote', (body) => {
      body.reason = 'no';
    });
    amendEvent([voteLink(c, 1)], 'block_validation', (data) => {
      data.reason = 'no';
    });
  }),
  forgery('a vote at another time than its record says', 'text', 'VOTE_RECORD', (c) =>
    amend([voteLink(c, 0)], '["votes",', (value) => {
      value.at = Number(value.at) + 1;
    }),
  ),
  forgery('a vote at another time than its event says', 'text', 'VOTE_EVENT', (c) =>
    amendEvent([voteLink(c, 0)], 'block_validation', { timestamp: '2001-01-01T00:00:00.000Z' }),
  ),
  forgery('a vote of another entry', 'text', 'VOTE_RECORD', (c) =>
    amend([voteLink(c, 0)], '["votes",', { entry: 1 }),
  ),
  forgery('a vote with other memes', 'text', 'VOTE_RECORD', (c) =>
    amend([voteLink(c, 1)], '["votes",', { meme_references: [] }),
  ),
  forgery('a vote left out', 'text', 'REQUEST_MISSING', (c) => {
    delete voteLink(c, 2).entry;
  }),
  forgery('a vote that does not count any more', 'text', 'VOTE_EVENT', (c) => {
    const vote = voteLink(c, 2);
    delete vote.entry;
    vote.results = vote.results.filter((one) => !one.startsWith('["votes"'));
  }),
  forgery('a vote that is not announced', 'late', 'NUMBER_ORDER', (c) => {
    const vote = votesIn(c).at(-1)!;
    vote.results = vote.results.filter((one) => !one.endsWith('"block_validation"}'));
  }),
  forgery('a vote by another key', 'text', 'VOTER_MISMATCH', (c) => {
    voteLink(c, 0).entry!.public_key = voteLink(c, 1).entry!.public_key;
  }),
  forgery('a vote by no key', 'text', 'NOT_A_KEY', (c) => {
    voteLink(c, 0).entry!.public_key = '';
  }),
  forgery('a vote of another elector', 'vetoed', 'VOTER_MISMATCH', (c) =>
    amend([voteLink(c, 0)], '["votes",', (_, record) => {
      (record[1] as number[])[1] = 9;
    }),
  ),
  forgery('a vote of no elector', 'apart', 'NOT_AN_ELECTOR', (c) =>
    amend([voteLink(c, 0)], '["votes",', (_, record) => {
      (record[1] as number[])[1] = 99;
    }),
  ),
  forgery('a vote with another signature', 'text', 'SIGNATURE', (c) =>
    amendBody([voteLink(c, 3)], 'vote', signature),
  ),
];

const outcome: Forgery[] = [
  forgery('another transaction', 'text', 'WRONG_PROPOSAL', (c) =>
    amendBody(linksOf(c), 'propose', (body) => {
      (body.transactions as Value[])[0]!.data = 'e';
    }),
  ),
  forgery('another signature of the proposal', 'text', 'SIGNATURE', (c) =>
    amendBody(linksOf(c), 'propose', signature),
  ),
  forgery('a proposal that names its producer', 'text', 'PROPOSAL_MEMBER', (c) =>
    amendBody(linksOf(c), 'propose', { producer: 'ab'.repeat(32) }),
  ),
  forgery('another height in the claim', 'text', 'BLOCK_RECORD', (c) => {
    c.claim.height = 7;
  }),
  forgery('another outcome in the claim', 'text', 'CLAIM_MISMATCH', (c) => {
    c.claim.status = 'rejected';
  }),
  forgery('more approval in the claim', 'text', 'CLAIM_MISMATCH', (c) => {
    c.claim.approve = Number(c.claim.approve) + 1;
  }),
  forgery('another tally in the log', 'text', 'BLOCK_RECORD', (c) =>
    amend([closing(c)], own(c), ({ context }) => {
      context.approve = 9_000;
    }),
  ),
  forgery('another tally in the event', 'text', 'BLOCK_EVENT', (c) =>
    amendEvent([closing(c)], 'block_status', { approve: 9_000 }),
  ),
  forgery('another tally at the proposal', 'text', 'BLOCK_RECORD', (c) =>
    amend([opening(c)], own(c), ({ context }) => {
      context.approve = 1;
    }),
  ),
  forgery('another producer in the event', 'text', 'BLOCK_EVENT', (c) =>
    amendEvent([opening(c)], 'block_proposal', (data) => {
      (data.producer as Value).id = `agent_${'0'.repeat(32)}`;
    }),
  ),
  forgery('another transaction in the event', 'text', 'BLOCK_EVENT', (c) =>
    amendEvent([opening(c)], 'block_proposal', { transactions: [] }),
  ),
  forgery('an end after the deadline', 'late', 'BLOCK_END', (c) => {
    const link = closing(c);
    link.entry!.at = Number(link.entry!.at) + 5;
    amend([link], own(c), ({ context }) => {
      context.closed_at = link.entry!.at;
    });
    amendEvent([link], 'block_status', (data) => {
      data.timestamp = new Date(Number(link.entry!.at)).toISOString();
    });
  }),
  forgery('an end by a request', 'late', 'BLOCK_END', (c) => {
    Object.assign(closing(c), { entry: { ...closing(c).entry, kind: 'register', body: '{}' } });
  }),
  forgery('a request that nothing rests on', 'text', 'REQUEST_UNUSED', (c) => {
    const link = linksOf(c)[1]!;
    const { entry } = linksOf(c).find((one) => one.entry?.kind === 'propose')!;
    const at = linksOf(c)[0]!.entry!.at;
    link.entry = { ...entry!, at, kind: 'register', body: '{}' };
  }),
];

export const forgeries: Forgery[] = [
  ...[...form, ...bounds, ...log, ...repeated, ...parameters],
  ...[...electors, ...ballots, ...outcome, ...ballotForgeries],
];

/** Changes the weight of an elector that did not vote, and everything derived from that weight. */
export const otherWeight: Change = (c) => {
  const voters = linksOf(c).flatMap(({ results }) =>
    results.flatMap((one) =>
      one.startsWith('["votes",') ? [(parsed(one) as [string, number[]])[1][1]!] : [],
    ),
  );
  amend(linksOf(c), '["electorates",', ({ agents, weights }) => {
    const place = agents.findIndex((agent) => !voters.includes(agent));
    weights[place] = weights[place]! + 1;
  });
  const total = Number(c.claim.total) + 1;
  c.claim.total = total;
  for (const link of [opening(c), closing(c)]) {
    amend([link], own(c), ({ context }) => {
      context.total = total;
    });
  }
  amendEvent([closing(c)], 'block_status', (data) => {
    data.electorate = total;
  });
};

/** Returns a forgery with recomputed digests. */
export async function forgedText([, base, , change]: Forgery): Promise<string> {
  const text = forged((await bases())[base], change);
  if (text === (await bases())[base]) throw new Error('a forgery that changes nothing');
  return text;
}
