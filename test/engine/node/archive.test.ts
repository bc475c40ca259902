/** Random networks with an archive, compared with a twin in memory. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  createVerifier,
  type GenesisOptions,
  Network,
  openLmdbStore,
  replay,
  SCHEMA_VERSION,
  storedLines,
  tables,
  type VirtualClock,
  virtualClock,
} from 'folkmoot';
import { findFirstKept } from '../../../dist/engine/node/archiver.js';
import { START_MS } from '../../support/citizens.js';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { attempts, genesis, lead, settled } from '../random/random.js';

const verifier = createVerifier('off');

function openNetwork(options: GenesisOptions, clock: VirtualClock, path?: string, keep?: number) {
  const fail = (error: Error) => {
    throw error;
  };
  const where = path === undefined ? { memory: true } : { path };
  const archive = keep === undefined ? {} : { archiveAfter: keep, onArchiveFault: fail };
  return Network.open({ ...where, ...archive, genesis: options, verifier, clock, onFatal: fail });
}

const openFolder = (path: string, readOnly: boolean) =>
  openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly, create: false });

/** Archives a share of the log as `folkmoot archive` does, and either deletes or keeps the rows. */
async function archive(path: string, { share, trim, compact }: Stop): Promise<void> {
  const store = openFolder(path, false);
  const before = Math.min(Math.ceil((share / 100) * store.meta()!.seq), findFirstKept(store));
  for (;;) {
    while (trim && (await store.archive!.trim()));
    if ((await store.archive!.move(before)) === null) break;
  }
  if (compact) await store.archive!.compactAndClose();
  else await store.close();
}

/** Time of a restart, and changes to the folder while the network is closed. */
interface Stop {
  at: number;
  share: number;
  trim: boolean;
  compact: boolean;
  /** `archiveAfter` after the restart. */
  keep: number | undefined;
}

const stops = (most: number): fc.Arbitrary<Stop[]> =>
  fc.array(
    fc.record({
      ...{ at: fc.nat(most), share: fc.integer({ min: 0, max: 110 }), trim: fc.boolean() },
      ...{ compact: fc.boolean(), keep: fc.constantFrom(undefined, 1, 7, 40) },
    }),
    { minLength: 1, maxLength: 4 },
  );

function pastOf(network: Network): unknown {
  const { event_seq, seq, digest, log_digest } = network.read.position;
  const blocks = [...network.read.records('blocks')].map(({ value }) => value.context.entry);
  const votes = [...network.read.records('votes')].map(({ value }) => value.entry);
  return {
    ends: { event_seq, seq, digest, log_digest },
    events: [...network.read.events(1, event_seq)],
    texts: [...network.read.eventTexts(1, event_seq)],
    // Omits the cost of reads, which differs because a segment unpacks a whole block.
    signed: [...blocks, ...votes].map((entry) => {
      const { public_key, body } = network.read.signed(entry);
      return { public_key, body };
    }),
    memes: [...network.read.records('memes')].map(({ key }) =>
      Buffer.from(network.read.memeContent(key as string)!.bytes).toString('hex'),
    ),
  };
}

test('archive: a network with an archive equals its twin', async () => {
  const length = counts.commandsPerSequence;
  const life = fc.asyncProperty(genesis, attempts(length), stops(length), async (g, script, at) => {
    const clocks = [virtualClock(START_MS), virtualClock(START_MS)] as const;
    const twin = await openNetwork(g, clocks[0]);
    const path = temporaryFolder();
    let network = await openNetwork(g, clocks[1], path);
    const jumped = async () => {
      clocks[1].set(clocks[0].now());
      for (const one of [twin, network]) await settled(one);
    };
    const take = async (request: Parameters<Network['verify']>[0]) => {
      const verified = await twin.verify(request);
      if ('refusal' in verified) return;
      const outcomes = [twin.apply(verified).outcome, network.apply(verified).outcome];
      expect(outcomes[1]).toEqual(outcomes[0]);
      await Promise.all([twin.durable, network.durable]);
    };
    const look = async (index: number) => {
      for (const stop of at.filter((one) => one.at === index)) {
        await network.close();
        await archive(path, stop);
        network = await openNetwork(g, clocks[1], path, stop.keep);
        expect(pastOf(network)).toEqual(pastOf(twin));
      }
    };
    await lead(twin, clocks[0], script, { take, jumped, look });
    expect(pastOf(network)).toEqual(pastOf(twin));
    await followed(network);
    await Promise.all([network.close(), twin.close()]);
    await expectReplay(path);
  });
  await fc.assert(life, { numRuns: counts.commandSequences });
});

/** Expects that a follower from the beginning gets each event once, in order. */
async function followed(network: Network): Promise<void> {
  const { event_seq } = network.read.position;
  let last = 0;
  if (event_seq === 0) return;
  for await (const { seq } of network.follow(0)) {
    expect(seq).toBe(last + 1);
    last = seq;
    if (seq === event_seq) break;
  }
  expect(last).toBe(event_seq);
}

async function expectReplay(path: string): Promise<void> {
  const store = openFolder(path, true);
  const lines = storedLines(store, 0, store.meta()!.seq);
  const { first_divergence } = await replay({ lines, stored: store });
  const recorded = store.archive!.segments.map(({ file }) => file);
  expect([first_divergence, store.archive!.problems()]).toEqual([null, []]);
  await store.close();
  const folder = join(path, 'archive');
  expect(existsSync(folder) ? readdirSync(folder).sort() : []).toEqual(recorded);
}
