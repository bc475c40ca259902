/** Networks with finalized and rejected blocks, with real keys, and their certificates. */

import { createHash } from 'node:crypto';
import { canonical, certify, type Policy, storedLines, type Weights } from 'folkmoot';
import { temporaryFolder } from '../../support/fixture.js';
import { openForReading } from '../../support/runs.js';
import { answerOf, newPopulation, type Population } from '../helpers.js';

/** Policies whose votes `town` casts. */
export const policies = ['bft', 'majority', 'veto'] as const;

export interface Town {
  path: string;
  blocks: Record<'finalized' | 'rejected', string>;
  /** Last entry of the log. */
  end: number;
}

/** Creates ten validators with two personalities, three of them allied, and decided blocks. */
export async function town(policy: Policy, weights: Weights): Promise<Town> {
  const path = temporaryFolder();
  const genesis = { policy, weights, voting_period_ms: 1_000, dormant_after: 0 };
  const people = await newPopulation({ path, genesis, verifier: 'inline' });
  const roles = ['validator', 'producer'] as const;
  const lawful = await people.joinMany(3, [...roles], { personality: 'lawful' });
  const greedy = await people.joinMany(7, [...roles], { personality: 'greedy' });
  await people.allied(lawful[0]!, [greedy[0]!, greedy[1]!]);
  const transactions = [people.transaction(lawful[1]!, 'é "1"', true)];
  const state_diff = { additions: { rate: 1.5e-7, less: 0.00001, text: '\u2028' }, deletions: {} };
  const first = await people.open(lawful[0]!, { transactions, state_diff });
  const meme = await people.meme(greedy[1]!, 'ha');
  await people.vote(greedy[0]!, first, 'reject');
  // Evidence of equivocation, which is not counted.
  await people.vote(greedy[0]!, first, 'approve');
  await people.vote(lawful[0]!, first, 'approve', { reason: 'yes', meme_references: [meme] });
  await people.votes([...lawful.slice(1), ...greedy.slice(1, 6)], first, 'approve');
  await people.wait(2_000);
  const second = await people.open(greedy[4]!);
  await rejected(people, second);
  const end = people.network.read.position.seq;
  return { path, blocks: { finalized: first, rejected: second }, end };

  /** Rejects a block by every agent with one personality, by a third, or by a majority. */
  async function rejected({ network }: Population, hash: string): Promise<void> {
    const { policy } = network.genesis;
    if (policy === 'majority') {
      await people.votes(greedy, hash, 'reject');
      await people.votes(lawful.slice(1), hash, 'approve');
    } else await people.votes(lawful, hash, 'reject');
    if (policy === 'bft') await people.votes(greedy.slice(1, 3), hash, 'reject');
    await people.wait(2_000);
    answerOf(await people.status(greedy[3]!, 'inactive'));
  }
}

/** Elects option `b` by the rankings of five votes, and returns the certificate. */
export async function election(): Promise<string> {
  const path = temporaryFolder();
  const genesis = { policy: 'schulze', weights: 'reputation' } as const;
  const people = await newPopulation({ path, genesis, verifier: 'inline' });
  const agents = await people.joinMany(5, ['validator', 'producer']);
  const options = ['c', 'b', 'a'].map((name) => {
    return { name, state_diff: { additions: { colour: name } } };
  });
  const hash = await people.open(agents[0]!, { options });
  for (const [position, ranking] of ['abc', 'bca', 'b', '', 'cab'].entries()) {
    const fields = ranking === '' ? {} : { ballot: { ranking: [...ranking] } };
    const decision = position < 4 ? 'approve' : 'reject';
    answerOf(await people.vote(agents[position]!, hash, decision, fields));
  }
  return certificateOf({ path }, hash);
}

export async function certificateOf(
  { path }: Pick<Town, 'path'>,
  block: string,
  options: { bridgeBytes?: number; through?: number } = {},
): Promise<string> {
  const store = openForReading(path);
  try {
    return await certify({ lines: storedLines(store, 0, store.meta()!.seq), block, ...options });
  } finally {
    await store.close();
  }
}

// ---- Changes to the requests and results of a certificate. The changed texts remain canonical.

export type Change = (c: Forged) => void;

export type Value = Record<string, unknown>;

export type Members = Record<string, unknown> & {
  context: Value;
  weights: number[];
  agents: number[];
  data: Value;
};

export const parsed = (text: string) => JSON.parse(text) as unknown;

type Amendment<Shape, More extends unknown[] = []> = Value | ((of: Shape, ...more: More) => void);

/** Assigns members to a value, or lets a function change it. */
function apply<Shape extends Value, More extends unknown[]>(
  change: Amendment<Shape, More>,
  value: Shape,
  ...more: More
): void {
  if (typeof change === 'function') change(value, ...more);
  else Object.assign(value, change);
}

/** Changes the first result that begins with a text. The result remains canonical. */
export function amend(
  links: readonly Link[],
  beginning: string,
  change: Amendment<Members, [key: unknown[]]>,
): void {
  for (const link of links) {
    const at = link.results.findIndex((one) => one.startsWith(beginning));
    if (at < 0) continue;
    const value = parsed(link.results[at]!) as unknown[];
    apply(change, value[2] as Members, value);
    link.results[at] = canonical(value);
    return;
  }
  throw new Error(`no result begins with ${beginning}`);
}

/** Changes the first event with a given type. */
export function amendEvent(links: readonly Link[], type: string, change: Amendment<Value>) {
  for (const link of links) {
    const at = link.results.findIndex((one) => one.endsWith(`"type":"${type}"}`));
    if (at < 0) continue;
    const event = parsed(link.results[at]!) as { data: Value };
    apply(change, event.data);
    link.results[at] = canonical(event);
    return;
  }
  throw new Error(`no event ${type}`);
}

/** Changes the body of the first request with a given kind. */
export function amendBody(links: readonly Link[], kind: string, change: Amendment<Value>) {
  const { entry } = links.find((one) => one.entry?.kind === kind)!;
  const body = parsed(entry!.body) as Value;
  apply(change, body);
  entry!.body = canonical(body);
}

export function find(c: Forged, beginning: string): { link: Link; text: string } {
  for (const link of linksOf(c)) {
    const text = link.results.find((one) => one.startsWith(beginning));
    if (text !== undefined) return { link, text };
  }
  throw new Error(`no result begins with ${beginning}`);
}

export const opening = (c: Forged) => linksOf(c).find(({ results }) => has(results, own(c)))!;
export const closing = (c: Forged) => linksOf(c).findLast(({ results }) => has(results, own(c)))!;
export const own = (c: Forged) => `["blocks","${String(c.claim.block_hash)}",`;
export const has = (results: string[], beginning: string) =>
  results.some((one) => one.startsWith(beginning));

/** Changes the signature in a body. */
export const signature = (body: Value) => {
  body.signature = String(body.signature).replace(/^../, (two) => (two === 'ab' ? 'cd' : 'ab'));
};

// ---- Forges certificates by changing a certificate and recomputing its digests.

export interface Forged {
  format: string;
  claim: Record<string, unknown>;
  spans: {
    first: number;
    before: { digest: string; log_digest: string };
    links: {
      entry?: Record<string, unknown> & { body: string };
      log_digest: string;
      results: string[];
    }[];
    after: { digest: string; log_digest: string };
  }[];
}

export type Link = Forged['spans'][number]['links'][number];

const parts = ['at', 'kind', 'public_key', 'target', 'timestamp', 'signature', 'body'];

function hashed(before: string[], texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const hex of before) hash.update(hex, 'hex');
  for (const text of texts) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)));
    hash.update(length).update(text);
  }
  return hash.digest('hex');
}

/** Changes a certificate and recomputes both digest chains. */
export function forged(text: string, change: (certificate: Forged) => void): string {
  const certificate = JSON.parse(text) as Forged;
  change(certificate);
  for (const { first, before, links, after } of certificate.spans) {
    let { digest, log_digest } = before;
    for (const [index, link] of links.entries()) {
      const { entry, results } = link;
      if (entry) {
        const texts = [`${first + index}`, ...parts.map((name) => String(entry[name]))];
        log_digest = hashed([log_digest], texts);
      } else log_digest = link.log_digest;
      link.log_digest = log_digest;
      digest = hashed([digest, log_digest], results);
    }
    Object.assign(after, { digest, log_digest });
  }
  return `${canonical(certificate)}\n`;
}

export const linksOf = ({ spans }: Forged): Link[] => spans.flatMap(({ links }) => links);

/** Returns the links that contain counted votes. */
export const votesIn = (certificate: Forged): Link[] =>
  linksOf(certificate).filter(({ entry }) => entry?.kind === 'vote');
