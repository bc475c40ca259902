/** The log: only requests that change state, as received, in a digest chain. */
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  composeVote,
  openLmdbStore,
  SCHEMA_VERSION,
  type SignedRequest,
  storedLines,
  tables,
} from 'folkmoot';
import type { Violation } from '../../../dist/engine/protocol/invariants.js';
import { START_MS } from '../../support/citizens.js';
import { agents, blockOf, proposal, registration, vote } from '../../support/cluster/nodes.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../tidy/sources.js';
import { newPopulation, type Population, word } from '../helpers.js';

const both = ['validator', 'producer'] as const;

function open(path: string) {
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  onTestFinished(() => store.close());
  return store;
}

const linesOf = (path: string) => [...storedLines(open(path), 0, Number.MAX_SAFE_INTEGER)];

/** Runs a short network with all four outcomes and a tick. */
async function liveIn(population: Population): Promise<SignedRequest[]> {
  const [ada, bob] = await population.joinMany(4, both);
  const hash = await population.open(ada!);
  const voted = composeVote(ada!, population.stamp(), { block_hash: hash, decision: 'approve' });
  const unknown = Buffer.from(voted.body).toString().replace('{', '{ "x_unknown": [1, true] ,');
  const vote = { ...voted, body: Buffer.from(unknown) };
  const words = [word(await population.submit(vote)), word(await population.submit(voted))];
  words.push(word(await population.vote(ada!, hash, 'reject')));
  words.push(word(await population.vote(ada!, hash, 'reject')));
  words.push(word(await population.vote(bob!, 'f'.repeat(64))));
  expect(words).toEqual([
    ...['accepted', 'duplicate', 'equivocation', 'ALREADY_VOTED', 'UNKNOWN_BLOCK'],
  ]);
  await population.at(40_000);
  return [vote];
}

test('log: has only entries that change state', async () => {
  const path = temporaryFolder();
  const population = await newPopulation({ path });
  await liveIn(population);
  await population.network.close();
  const lines = linesOf(path).map(({ entry }) => entry);
  expect(lines.map(({ kind }) => kind)).toEqual([
    ...['genesis', ...Array(4).fill('register'), 'propose', 'vote', 'vote', 'tick'],
  ]);
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index));
});

test('log: keeps the raw body as received', async () => {
  const path = temporaryFolder();
  const population = await newPopulation({ path });
  const [vote] = await liveIn(population);
  await population.network.close();
  const logged = linesOf(path)[6]!.entry;
  expect(Buffer.from(logged.body).toString()).toBe(Buffer.from(vote!.body).toString());
  expect(logged).toMatchObject({ kind: 'vote', public_key: vote!.public_key });
});

/** Builds a frame, in which each part follows its length in eight bytes. */
function framed(parts: (string | Uint8Array)[]): Buffer {
  const pieces = parts.flatMap((part) => {
    const bytes = Buffer.from(part as string);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bytes.length));
    return [length, bytes];
  });
  return Buffer.concat(pieces);
}

function chained(before: Buffer, { entry }: ReturnType<typeof linesOf>[number]): Buffer {
  const { seq, at, kind, public_key, target, timestamp, signature, body } = entry;
  const parts = [`${seq}`, `${at}`, kind, public_key, target, timestamp, signature, body];
  return createHash('sha256').update(before).update(framed(parts)).digest();
}

test('log: its digest covers the previous digest and the framed entry', async () => {
  const path = temporaryFolder();
  const population = await newPopulation({ path });
  await liveIn(population);
  const { log_digest } = population.network.read.position;
  await population.network.close();
  let digest = Buffer.alloc(32);
  for (const line of linesOf(path)) {
    digest = chained(digest, line) as typeof digest;
    expect(line.logDigest).toBe(digest.toString('hex'));
  }
  expect(log_digest).toBe(digest.toString('hex'));
});

// ---- Bugs seeded in copies of the engine: an assertion stops the network before it commits them.

type Seeded = readonly [problem: Violation['problem'], file: string, find: string, becomes: string];

const counter = 'rules/poll-counter.js';
const blocks = 'core/commands/blocks.js';
const seeded: Seeded[] = [
  ['TALLY_WEIGHT', counter, 'counts[decision] += weight', 'counts[decision] += 100 * weight'],
  [
    'VOTER_POSITION',
    blocks,
    'return problem ?? { plan: { agent, block, position } }',
    'return { plan: { agent, block, position: position + 1 } }',
  ],
  ['CHAIN_HEIGHT', blocks, 'height: state.height + 1,', 'height: state.height + 2,'],
  ['ELECTORATE_CHANGED', blocks, 'electorate: electorate.id,', 'electorate: electorate.id + 1,'],
  ['TALLY_STORED', 'core/blocks.js', '...event.tally,', '...event.tally, approve: 0,'],
  [
    'SCORE_RANGE',
    'core/reputation.js',
    "20 * standings.get(ordinal, 'meme')",
    "900 * standings.get(ordinal, 'meme')",
  ],
  ['DEADLINE_WITHOUT_BLOCK', blocks, 'state.deadlines.remove(deadlineId(block.hash));', ''],
  ['LOGGED_ENTRY', 'core/engine.js', 'this.#last = { seq, at,', 'this.#last = { seq: seq + 1, at,'],
  ['LOG_HEAD', 'protocol/log.js', 'stored.set(this.#log, 0);', ''],
];

/** Copies the engine, and seeds a bug in the copy. */
function seedEngine([problem, file, find, becomes]: Seeded): string {
  const folder = temporaryFolder();
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  cpSync(join(root, 'dist/engine'), join(folder, 'dist/engine'), {
    recursive: true,
    filter: (path) => !/\.(map|d\.ts)$/.test(path),
  });
  const path = join(folder, 'dist/engine', file);
  const parts = readFileSync(path, 'utf8').split(find);
  expect(parts, problem).toHaveLength(2);
  writeFileSync(path, parts.join(becomes));
  return pathToFileURL(join(folder, 'dist/engine/index.js')).href;
}

/**
 * Registers four agents and proposes two blocks, of which one gets all votes. Expects a failure.
 * @returns the last entry that was published.
 */
async function live(engine: typeof import('folkmoot'), path: string, onFatal: (e: Error) => void) {
  const clock = engine.virtualClock(START_MS);
  const verifier = engine.createVerifier('off');
  const genesis = { network_id: 'devnet' };
  const network = await engine.Network.open({ path, genesis, verifier, clock, onFatal });
  const submit = async (request: SignedRequest) => network.submit(await network.verify(request));
  const [producer, ...others] = agents.slice(0, 4);
  const life = async () => {
    for (const agent of [producer!, ...others]) await submit(registration(agent));
    const hash = blockOf(await submit(proposal(producer!)));
    for (const agent of [producer!, ...others]) await submit(vote(agent, hash));
    await submit(proposal(producer!, hash));
    clock.set(clock.now() + network.genesis.voting_period_ms + 1);
    network.fireDeadlines();
    await network.durable;
  };
  await expect(life()).rejects.toThrow();
  const { seq } = network.read.position;
  await network.close().catch(() => {});
  return seq;
}

test.each(seeded)('violation: %s stops the network before its commit', async (...bug) => {
  const path = temporaryFolder();
  const failures: Error[] = [];
  const copy = (await import(seedEngine(bug))) as typeof import('folkmoot');
  const published = await live(copy, path, (error) => failures.push(error));
  expect(failures).toEqual([expect.objectContaining({ name: 'Violation', problem: bug[0] })]);
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  onTestFinished(() => store.close());
  expect(store.meta()!.seq).toBe(published);
});
