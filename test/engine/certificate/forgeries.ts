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

/** Adds a second, changed electorate record, `steps` links after the first. */
function secondElectorate(c: Forged, change: (electorate: Members) => void, steps = 0): void {
  const { link, text } = find(c, '["electorates",');
  const value = parsed(text) as [string, number, Members];
  change(value[2]);
  after(c, link, steps).results.push(canonical(value));
}

const allOne = (electorate: Members) => (electorate.weights = electorate.weights.map(() => 1));
const threeOnly = (electorate: Members) => {
  electorate.agents = electorate.agents.slice(0, 3);
  electorate.weights = electorate.weights.slice(0, 3);
};

const after = (c: Forged, link: Link, steps: number): Link => {
  const links = linksOf(c);
  return links[links.indexOf(link) + steps]!;
};

export type Forgery = [name: string, base: keyof Bases, code: string, change: Change];

const on =
  (base: keyof Bases) =>
  (name: string, code: string, change: Change): Forgery => [name, base, code, change];
const [onText, onVetoed] = [on('text'), on('vetoed')];
const [onApart, onLate] = [on('apart'), on('late')];

const form: Forgery[] = [
  onText('an unknown member of the claim', 'MEMBER_UNKNOWN', (c) => (c.claim.more = 1)),
  onText('an unknown member of an entry', 'MEMBER_UNKNOWN', (c) => {
    voteLink(c, 0).entry!.more = '';
  }),
  onText('an unknown member of a link', 'MEMBER_UNKNOWN', (c) =>
    Object.assign(linksOf(c)[1]!, { more: '' }),
  ),
  onText('an entry of a kind that decides nothing', 'NOT_ONE_OF', (c) => {
    voteLink(c, 0).entry!.kind = 'meme';
  }),
  onLate('a time beyond the year 9999', 'NOT_AN_INTEGER', (c) => {
    closing(c).entry!.at = 253_402_300_800_000;
  }),
];

const voteLink = (c: Forged, index: number): Link => votesIn(c)[index]!;
const genesis = (c: Forged, members: Value) => amendBody(linksOf(c), 'genesis', members);
const electorate = (c: Forged, change: (value: Members) => void) =>
  amend(linksOf(c), '["electorates",', change);
const registration = (c: Forged, members: Value) =>
  amendBody(registrations(c), 'register', members);

const bounds: Forgery[] = [
  onText('1,001 transactions', 'TOO_MANY_TRANSACTIONS', (c) =>
    amendBody(linksOf(c), 'propose', (body) => {
      const [one] = body.transactions as unknown[];
      body.transactions = Array.from({ length: 1_001 }, () => one);
    }),
  ),
  onText('a proposal of more than 2 MiB', 'BODY_TOO_LARGE', (c) =>
    amendBody(linksOf(c), 'propose', { more: 'x'.repeat(2 * 1024 * 1024) }),
  ),
  onText('a vote of more than 64 KiB', 'BODY_TOO_LARGE', (c) => {
    const { entry } = voteLink(c, 0);
    entry!.body = canonical({ ...(parsed(entry!.body) as Value), more: 'é'.repeat(33_000) });
  }),
  onText('a transaction of more than 4,096 bytes', 'NOT_A_TRANSACTION', (c) =>
    amendBody(linksOf(c), 'propose', (body) => {
      (body.transactions as Value[])[0]!.data = 'é'.repeat(2_049);
    }),
  ),
  onText('a transaction without a signature', 'NOT_A_TRANSACTION', (c) =>
    amendBody(linksOf(c), 'propose', (body) => delete (body.transactions as Value[])[0]!.signature),
  ),
  onText('a proposal that is not JSON', 'BAD_JSON', (c) => (opening(c).entry!.body = '{')),
  onText('a body with a member twice', 'BAD_JSON', (c) => {
    const entry = opening(c).entry!;
    entry.body = entry.body.replace('{', '{"parent_hash":"",');
  }),
  onText('a body that is nested deeper than 16', 'BAD_JSON', (c) => {
    opening(c).entry!.body = `{"a":${'['.repeat(16)}${']'.repeat(16)}}`;
  }),
  onText('a genesis with a signature', 'SYSTEM_ENTRY', (c) => {
    linksOf(c)[0]!.entry!.signature = 'ab';
  }),
];

const log: Forgery[] = [
  onText('a log that does not begin with zeros', 'LOG_START', (c) => {
    c.spans[0]!.before.digest = 'ab'.repeat(32);
  }),
  onText('a log that begins with entry 1', 'LOG_START', (c) => (c.spans[0]!.first = 1)),
  onText('an entry before the one before it', 'ENTRY_ORDER', (c) => {
    linksOf(c)[0]!.entry!.at = Number(linksOf(c)[0]!.entry!.at) + 9e9;
  }),
  onText('a second genesis', 'ENTRY_ORDER', (c) =>
    Object.assign(voteLink(c, 0), { entry: structuredClone(linksOf(c)[0]!.entry) }),
  ),
  onText('a result that is not JSON', 'BAD_JSON', (c) => {
    const link = voteLink(c, 0);
    link.results = link.results.map((one) => one.replace(/^\["votes",(.*)\]$/, '["votes",$1'));
  }),
  onText('a result that is not canonical', 'NOT_CANONICAL', (c) => {
    voteLink(c, 0).results[0] += ' ';
  }),
  onText('a result of an unknown table', 'NOT_A_RECORD', (c) =>
    linksOf(c)[1]!.results.push('["ghosts",1,{}]'),
  ),
  onText('a result of an unknown type', 'NOT_AN_EVENT', (c) =>
    linksOf(c)[0]!.results.unshift('{"data":{},"seq":1,"type":"ghost"}'),
  ),
  onText('an event after a record', 'EVENT_AFTER_RECORD', (c) => linksOf(c)[1]!.results.reverse()),
  onText('an event twice', 'NUMBER_ORDER', (c) => {
    const { results } = linksOf(c)[1]!;
    results.unshift(results[0]!);
  }),
  onText('an event left out', 'NUMBER_ORDER', (c) => linksOf(c)[1]!.results.shift()),
];

const repeated: Forgery[] = [
  onText('the electorate a second time, all weights 1', 'CHANGED_TWICE', (c) =>
    secondElectorate(c, allOne),
  ),
  onVetoed('the electorate a second time, three agents only', 'CHANGED_TWICE', (c) =>
    secondElectorate(c, threeOnly),
  ),
  onText('the electorate again, in a later entry', 'NUMBER_ORDER', (c) =>
    secondElectorate(c, allOne, 1),
  ),
  onText('the electorate again, in an earlier entry', 'NUMBER_ORDER', (c) =>
    secondElectorate(c, threeOnly, -1),
  ),
  onText('the same electorate again', 'NUMBER_ORDER', (c) => secondElectorate(c, () => {}, 2)),
  onApart('a newer electorate before the proposal', 'NO_ELECTORATE', (c) => {
    const { link, text } = find(c, '["electorates",');
    const [table, number, value] = parsed(text) as [string, number, Members];
    const end = opening(c);
    const into = link === end ? linksOf(c)[1]! : end;
    into.results.push(canonical([table, number + 1, value]));
  }),
  onText('a record of a vote twice in an entry', 'CHANGED_TWICE', (c) => {
    const { results } = voteLink(c, 0);
    results.push(results.find((one) => one.startsWith('["votes"'))!);
  }),
  onText('a record of a vote again', 'WRITTEN_TWICE', (c) => {
    const vote = voteLink(c, 0).results.find((one) => one.startsWith('["votes"'))!;
    linksOf(c)
      .find(({ entry, results }) => !entry && !has(results, '["votes"'))!
      .results.push(vote);
  }),
  onText('a vote twice', 'NUMBER_ORDER', (c) => {
    const [first, , third] = votesIn(c);
    const { entry, results } = structuredClone(first!);
    Object.assign(third!, { entry, results });
  }),
  onText('an agent twice', 'CHANGED_TWICE', (c) => {
    const { link, text } = find(c, '["agents",');
    after(c, link, 1).results.push(text);
  }),
  onText('an agent again, with its number', 'WRITTEN_TWICE', (c) => {
    const { link } = find(c, '["agents",');
    const both = link.results.filter((one) => /^\["agent(s|_numbers)",/.test(one));
    opening(c).results.push(...both);
  }),
  onText('an agent with another id', 'AGENT_RECORDS', (c) =>
    amend(linksOf(c), '["agents",', { agent_id: `agent_${'0'.repeat(32)}` }),
  ),
  onText('the block proposed twice', 'BLOCK_STATE', (c) => {
    const text = opening(c).results.find((one) => one.startsWith(own(c)))!;
    after(c, opening(c), 1).results.push(text);
  }),
  onText('the block ended twice', 'BLOCK_STATE', (c) => {
    const text = closing(c).results.find((one) => one.startsWith(own(c)))!;
    after(c, opening(c), 1).results.push(text);
  }),
  onText('a block number twice', 'NUMBER_ORDER', (c) => {
    const { link, text } = find(c, '["block_numbers",');
    after(c, link, 1).results.push(text);
  }),
  onText('the number of another block', 'BLOCK_NUMBER', (c) =>
    amend([opening(c)], '["block_numbers",', { block_hash: 'ab'.repeat(32) }),
  ),
  onLate('a height twice', 'NUMBER_ORDER', (c) => {
    const { text } = find(c, '["heights",');
    opening(c).results.push(text);
  }),
  onText('a height of another block', 'BLOCK_HEIGHT', (c) =>
    amend(linksOf(c), '["heights",', { block_hash: 'ab'.repeat(32) }),
  ),
  onText('no height', 'BLOCK_HEIGHT', (c) => {
    const link = closing(c);
    link.results = link.results.filter((one) => !one.startsWith('["heights"'));
  }),
];

const parameters: Forgery[] = [
  onText('another network', 'WRONG_PROPOSAL', (c) => {
    genesis(c, { network_id: 'mainnet' });
    c.claim.network_id = 'mainnet';
  }),
  onText('another network in the claim alone', 'CLAIM_MISMATCH', (c) => {
    c.claim.network_id = 'mainnet';
  }),
  onText('another weighting', 'WEIGHT', (c) => genesis(c, { weights: 'equal' })),
  onVetoed('another policy', 'BLOCK_RECORD', (c) => genesis(c, { policy: 'majority' })),
  onText('an unknown policy', 'GENESIS_PARAMETER', (c) => genesis(c, { policy: 'dictatorship' })),
  onText('a parameter beyond its bounds', 'GENESIS_PARAMETER', (c) =>
    genesis(c, { participation_bps: 10_001 }),
  ),
  onText('a parameter that is true', 'GENESIS_PARAMETER', (c) =>
    genesis(c, { min_validators: true }),
  ),
  onText('more validators needed than there were', 'TOO_FEW_ELECTORS', (c) =>
    genesis(c, { min_validators: 11 }),
  ),
  onText('a longer voting period', 'BLOCK_RECORD', (c) => genesis(c, { voting_period_ms: 2_000 })),
  onText('parameters that are not canonical', 'NOT_CANONICAL', (c) => {
    const { entry } = linksOf(c)[0]!;
    entry!.body = entry!.body.replace('{', '{ ');
  }),
  onText('a network without signatures', 'UNSIGNED_NETWORK', (c) =>
    genesis(c, { signatures: 'none' }),
  ),
];

const electors: Forgery[] = [
  onText('another weight', 'BLOCK_RECORD', (c) =>
    electorate(c, ({ weights }) => (weights[0] = 99)),
  ),
  onText('all weights 1', 'BLOCK_RECORD', (c) => electorate(c, allOne)),
  onText('a weight that none can have', 'WEIGHT', (c) =>
    electorate(c, ({ weights }) => (weights[0] = 1_000)),
  ),
  onVetoed('a weight that is true', 'WEIGHT', (c) =>
    electorate(c, ({ weights }) => (weights[0] = true as never)),
  ),
  onText('an elector less', 'ELECTORATE_LENGTHS', (c) =>
    electorate(c, ({ agents }) => agents.pop()),
  ),
  onVetoed('electors out of order', 'ELECTORATE_ORDER', (c) =>
    electorate(c, ({ agents }) => agents.reverse()),
  ),
  onText('an elector twice', 'ELECTORATE_ORDER', (c) =>
    electorate(c, ({ agents }) => (agents[1] = agents[0]!)),
  ),
  onText('another electorate in the record of the block', 'NO_ELECTORATE', (c) => {
    for (const link of [opening(c), closing(c)]) {
      amend([link], own(c), ({ context }) => (context.electorate = 7));
    }
  }),
  onApart('a personality in the record of a registration alone', 'REGISTRATION_RECORD', (c) =>
    amend(registrations(c), '["agents",', { personality: 'lawful' }),
  ),
  onApart('a personality in a registration alone', 'REGISTRATION_RECORD', (c) =>
    registration(c, { personality: 'lawful' }),
  ),
  onApart('a personality in a registration and its record', 'SIGNATURE', (c) =>
    registration(c, { personality: 'Greedy' }),
  ),
  onApart('a registration of no validator', 'NOT_A_REGISTRATION', (c) =>
    registration(c, { capabilities: ['producer'] }),
  ),
  onApart('a registration with another signature', 'SIGNATURE', (c) =>
    signature(registrations(c)[0]!.entry!),
  ),
  onVetoed('a personality against the registration of a voter', 'PERSONALITY_CHANGED', (c) =>
    amendEvent(votesIn(c), 'block_validation', (data) => {
      (data.validator as Value).personality = 'greedy';
    }),
  ),
  onApart('a registration left out', 'ELECTOR_UNREGISTERED', (c) => {
    delete registrations(c)[0]!.entry;
    c.spans = c.spans.filter(({ links }) => links[0]!.entry);
  }),
];

const registrations = (c: Forged) => linksOf(c).filter(({ entry }) => entry?.kind === 'register');

const ballots: Forgery[] = [
  onText('a vote with another decision', 'VOTE_RECORD', (c) =>
    amendBody([voteLink(c, 1)], 'vote', { decision: 'reject' }),
  ),
  onText('a vote whose reason was changed', 'VOTE_EVENT', (c) =>
    amendBody([voteLink(c, 1)], 'vote', { reason: 'no' }),
  ),
  onText('a vote whose reason was changed everywhere', 'SIGNATURE', (c) => {
    amendBody([voteLink(c, 1)], 'vote', { reason: 'no' });
    amendEvent([voteLink(c, 1)], 'block_validation', { reason: 'no' });
  }),
  onText('a vote at another time than its record says', 'VOTE_RECORD', (c) =>
    amend([voteLink(c, 0)], '["votes",', (value) => (value.at = Number(value.at) + 1)),
  ),
  onText('a vote at another time than its event says', 'VOTE_EVENT', (c) =>
    amendEvent([voteLink(c, 0)], 'block_validation', { timestamp: '2001-01-01T00:00:00.000Z' }),
  ),
  onText('a vote of another entry', 'VOTE_RECORD', (c) =>
    amend([voteLink(c, 0)], '["votes",', { entry: 1 }),
  ),
  onText('a vote with other memes', 'VOTE_RECORD', (c) =>
    amend([voteLink(c, 1)], '["votes",', { meme_references: [] }),
  ),
  onText('a vote left out', 'REQUEST_MISSING', (c) => delete voteLink(c, 2).entry),
  onText('a vote that does not count any more', 'VOTE_EVENT', (c) => {
    const vote = voteLink(c, 2);
    delete vote.entry;
    vote.results = vote.results.filter((one) => !one.startsWith('["votes"'));
  }),
  onLate('a vote that is not announced', 'NUMBER_ORDER', (c) => {
    const vote = votesIn(c).at(-1)!;
    vote.results = vote.results.filter((one) => !one.endsWith('"block_validation"}'));
  }),
  onText('a vote by another key', 'VOTER_MISMATCH', (c) => {
    voteLink(c, 0).entry!.public_key = voteLink(c, 1).entry!.public_key;
  }),
  onText('a vote by no key', 'NOT_A_KEY', (c) => (voteLink(c, 0).entry!.public_key = '')),
  onVetoed('a vote of another elector', 'VOTER_MISMATCH', (c) =>
    amend([voteLink(c, 0)], '["votes",', (_, record) => ((record[1] as number[])[1] = 9)),
  ),
  onApart('a vote of no elector', 'NOT_AN_ELECTOR', (c) =>
    amend([voteLink(c, 0)], '["votes",', (_, record) => ((record[1] as number[])[1] = 99)),
  ),
  onText('a vote with another signature', 'SIGNATURE', (c) =>
    amendBody([voteLink(c, 3)], 'vote', signature),
  ),
];

const outcome: Forgery[] = [
  onText('another transaction', 'WRONG_PROPOSAL', (c) =>
    amendBody(linksOf(c), 'propose', (body) => ((body.transactions as Value[])[0]!.data = 'e')),
  ),
  onText('another signature of the proposal', 'SIGNATURE', (c) =>
    amendBody(linksOf(c), 'propose', signature),
  ),
  onText('a proposal that names its producer', 'PROPOSAL_MEMBER', (c) =>
    amendBody(linksOf(c), 'propose', { producer: 'ab'.repeat(32) }),
  ),
  onText('another height in the claim', 'BLOCK_RECORD', (c) => (c.claim.height = 7)),
  onText('another outcome in the claim', 'CLAIM_MISMATCH', (c) => (c.claim.status = 'rejected')),
  onText('more approval in the claim', 'CLAIM_MISMATCH', (c) => {
    c.claim.approve = Number(c.claim.approve) + 1;
  }),
  onText('another tally in the log', 'BLOCK_RECORD', (c) =>
    amend([closing(c)], own(c), ({ context }) => (context.approve = 9_000)),
  ),
  onText('another tally in the event', 'BLOCK_EVENT', (c) =>
    amendEvent([closing(c)], 'block_status', { approve: 9_000 }),
  ),
  onText('another tally at the proposal', 'BLOCK_RECORD', (c) =>
    amend([opening(c)], own(c), ({ context }) => (context.approve = 1)),
  ),
  onText('another producer in the event', 'BLOCK_EVENT', (c) =>
    amendEvent([opening(c)], 'block_proposal', (data) => {
      (data.producer as Value).id = `agent_${'0'.repeat(32)}`;
    }),
  ),
  onText('another transaction in the event', 'BLOCK_EVENT', (c) =>
    amendEvent([opening(c)], 'block_proposal', { transactions: [] }),
  ),
  onLate('an end after the deadline', 'BLOCK_END', (c) => {
    const link = closing(c);
    link.entry!.at = Number(link.entry!.at) + 5;
    amend([link], own(c), ({ context }) => (context.closed_at = link.entry!.at));
    amendEvent([link], 'block_status', (data) => {
      data.timestamp = new Date(Number(link.entry!.at)).toISOString();
    });
  }),
  onLate('an end by a request', 'BLOCK_END', (c) =>
    Object.assign(closing(c), { entry: { ...closing(c).entry, kind: 'register', body: '{}' } }),
  ),
  onText('a request that nothing rests on', 'REQUEST_UNUSED', (c) => {
    const link = linksOf(c)[1]!;
    const { entry } = linksOf(c).find((one) => one.entry?.kind === 'propose')!;
    link.entry = { ...entry!, at: linksOf(c)[0]!.entry!.at, kind: 'register', body: '{}' };
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
    amend([link], own(c), ({ context }) => (context.total = total));
  }
  amendEvent([closing(c)], 'block_status', { electorate: total });
};

/** Returns a forgery with recomputed digests. */
export async function forgedText([, base, , change]: Forgery): Promise<string> {
  const text = forged((await bases())[base], change);
  if (text === (await bases())[base]) throw new Error('a forgery that changes nothing');
  return text;
}
