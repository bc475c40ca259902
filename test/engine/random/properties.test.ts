/** Random lives. Nothing throws, the invariants hold, and a restart has no visible effect. */
import fc from 'fast-check';
import {
  createVerifier,
  type GenesisOptions,
  Network,
  type Outcome,
  openLmdbStore,
  replay,
  SCHEMA_VERSION,
  storedLines,
  tables,
  type VirtualClock,
  virtualClock,
} from 'folkmoot';
import { expect, test } from 'vitest';
import { START_MS } from '../../support/citizens.js';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { expectInvariants } from './invariants.js';
import { type Attempt, attempts, genesis, lead, settled, type Timed } from './random.js';

const verifier = createVerifier('off');
const results = ['accepted', 'duplicate', 'equivocation', 'refused'];

function openNetwork(options: GenesisOptions, clock: VirtualClock, path?: string) {
  const onFatal = (error: Error) => {
    throw error;
  };
  const where = path === undefined ? { memory: true } : { path };
  return Network.open({ ...where, genesis: options, verifier, clock, onFatal });
}

/** Performs a request without waiting for the disk. */
async function act(network: Network, { request }: Timed): Promise<Outcome> {
  const verified = await network.verify(request);
  if ('refusal' in verified) return { result: 'refused', refusal: verified.refusal };
  return network.apply(verified).outcome;
}

/** Runs a life, and calls `look` after each step. Returns the requests and their outcomes. */
async function live(
  network: Network,
  clock: VirtualClock,
  script: Attempt[],
  look: (network: Network) => void = () => {},
) {
  const done: Timed[] = [];
  const outcomes: Outcome[] = [];
  const take = async (request: Timed['request']) => {
    const timed = { at: clock.now(), request };
    done.push(timed);
    outcomes.push(await observe(network, timed));
    look(network);
  };
  const jumped = async () => {
    await settled(network);
    look(network);
  };
  await lead(network, clock, script, { take, jumped });
  return { done, outcomes };
}

async function observe(network: Network, timed: Timed): Promise<Outcome> {
  const before = network.read.position;
  const outcome = await act(network, timed);
  await network.durable;
  const after = network.read.position;
  expect(results).toContain(outcome.result);
  if (outcome.result === 'refused' || outcome.result === 'duplicate') {
    expect(after).toEqual(before);
    return outcome;
  }
  expect(after.seq).toBe(before.seq + 1);
  const events = [...network.read.events(before.event_seq + 1, after.event_seq)];
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => before.event_seq + 1 + i));
  expect(events.length).toBe(after.event_seq - before.event_seq);
  return outcome;
}

test('engine: random runs never throw and keep the invariants', async () => {
  const life = fc.asyncProperty(
    genesis,
    attempts(counts.commandsPerSequence),
    async (g, script) => {
      const clock = virtualClock(START_MS);
      const network = await openNetwork(g, clock);
      await live(network, clock, script, expectInvariants);
      await network.close();
    },
  );
  await fc.assert(life, { numRuns: counts.commandSequences });
});

test('engine: closing and reopening a network does not affect it', async () => {
  const stops = fc.array(fc.nat(counts.commandsPerSequence), { minLength: 1, maxLength: 4 });
  const script = attempts(counts.commandsPerSequence);
  const life = fc.asyncProperty(genesis, script, stops, async (g, tries, stopAt) => {
    const clock = virtualClock(START_MS);
    const memory = await openNetwork(g, clock);
    const { done, outcomes } = await live(memory, clock, tries);
    const path = temporaryFolder();
    const again = virtualClock(START_MS);
    let network = await openNetwork(g, again, path);
    for (const [index, timed] of done.entries()) {
      again.set(timed.at);
      if (stopAt.includes(index)) {
        await network.close();
        network = await openNetwork(g, again, path);
      }
      expect(await act(network, timed)).toEqual(outcomes[index]);
    }
    again.set(clock.now());
    await settled(network);
    const { epoch: _, ...end } = network.read.position;
    expect(memory.read.position).toMatchObject(end);
    await Promise.all([network.close(), memory.close()]);
    await expectReplay(path);
  });
  await fc.assert(life, { numRuns: counts.commandSequences });
});

/** Expects that stored data follows from the log alone. */
async function expectReplay(path: string): Promise<void> {
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const lines = storedLines(store, 0, Number.MAX_SAFE_INTEGER);
  const { first_divergence } = await replay({ lines, stored: store });
  await store.close();
  expect(first_divergence).toBeNull();
}
