/** The log: only requests that change state, as received, in a digest chain. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import {
  composeVote,
  openLmdbStore,
  SCHEMA_VERSION,
  type SignedRequest,
  storedLines,
  tables,
} from 'folkmoot';

import { Digests } from 'folkmoot/testing';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
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
    'accepted',
    'duplicate',
    'equivocation',
    'ALREADY_VOTED',
    'UNKNOWN_BLOCK',
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
    'genesis',
    ...Array(4).fill('register'),
    'propose',
    'vote',
    'vote',
    'tick',
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

const texts = fc.oneof(
  fc.string({ maxLength: 60, unit: 'binary' }),
  fc.constantFrom('', '\u4e0d\u540c\u610f'.repeat(9_000), 'x'.repeat(70_000)),
);
const lines = fc.record({
  at: fc.maxSafeInteger(),
  body: fc.oneof(fc.uint8Array(), fc.constant(new Uint8Array(90_000).fill(7))),
  kind: fc.constantFrom('vote' as const, 'tick' as const),
  public_key: texts,
  results: fc.array(texts, { maxLength: 5 }),
  seq: fc.nat(),
  signature: texts,
  target: texts,
  timestamp: texts,
});

test('log: stored entries with any texts and sizes keep their bytes and digests', () => {
  const hash = (...parts: Uint8Array[]) =>
    createHash('sha256').update(Buffer.concat(parts)).digest();
  const property = fc.property(fc.array(lines, { maxLength: 40 }), (all) => {
    const digests = new Digests();
    const stored = all.map(({ results, ...entry }) => digests.advance(entry, results));
    let [log, state] = [Buffer.alloc(32), Buffer.alloc(32)] as Uint8Array[];
    for (const [index, { results, ...entry }] of all.entries()) {
      const { seq, at, kind, public_key, target, timestamp, signature, body } = entry;
      const parts = [`${seq}`, `${at}`, kind, public_key, target, timestamp, signature, body];
      log = hash(log!, framed(parts));
      state = hash(state!, log, framed(results));
      expect(Buffer.concat([log, state, framed(parts)]).equals(stored[index]!)).toBe(true);
    }
    expect(digests.digest).toBe(Buffer.from(state!).toString('hex'));
  });
  fc.assert(property, { numRuns: counts.loggedEntries });
});
