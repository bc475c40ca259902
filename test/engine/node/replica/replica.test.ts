/** A read-only network in a folder: reads, following, loss of the folder. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import {
  createVerifier,
  History,
  KeptNetwork,
  Network,
  type PublishedEvent,
  virtualClock,
} from 'folkmoot';
import { START_MS } from '../../../support/citizens.js';
import { counts } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { type Attempt, attempts, genesis, lead } from '../../random/random.js';

const verifier = createVerifier('off');

/** Opens a network in a folder. Returns the network and a function that continues it. */
async function living(path: string, parameters: Parameters<typeof Network.open>[0]['genesis']) {
  const clock = virtualClock(START_MS);
  const network = await Network.open({ path, genesis: parameters, verifier, clock });
  onTestFinished(() => network.close());
  const go = (script: readonly Attempt[]) => lead(network, clock, script);
  await go([]);
  return { network, go };
}

function kept(path: string, onLost?: (why: string) => void): KeptNetwork {
  const network = KeptNetwork.open({ path, ...(onLost ? { onLost } : {}) });
  onTestFinished(() => network.close());
  return network;
}

/** Waits until a condition is true, up to the test's timeout. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

test('kept: reads equal those of the engine', async () => {
  await fc.assert(
    fc.asyncProperty(genesis, attempts(counts.commandsPerSequence), async (parameters, script) => {
      const path = temporaryFolder();
      const { network, go } = await living(path, parameters);
      await go(script);
      const shown = kept(path);
      const history = History.open({ path, checkpoints: false });
      onTestFinished(() => history.close());
      const { read, position } = await history.at(history.end.seq);
      expect(shown.read.position).toEqual(position);
      expect(shown.read.networkState()).toEqual(read.networkState());
      expect(shown.read.activeAgents()).toEqual(network.read.activeAgents());
      expect([...shown.read.blocks()]).toEqual([...network.read.blocks()]);
      for (const { public_key } of network.read.agents()) {
        expect(shown.knows(public_key)).toBe(true);
      }
      expect(shown.knows('f'.repeat(64))).toBe(false);
    }),
    { numRuns: 8 },
  );
});

test('kept: follows writes with each event once, in order', async () => {
  const path = temporaryFolder();
  const [script] = fc.sample(attempts(120), { numRuns: 1, seed: 11 });
  const { network, go } = await living(path, { network_id: 'followed' });
  const shown = kept(path);
  const told: PublishedEvent[] = [];
  const from = shown.read.position.event_seq;
  shown.onEvents((events) => told.push(...events));
  const state = shown.read.networkState();
  await go(script!);
  const { event_seq } = network.read.position;
  expect(event_seq).toBeGreaterThan(from);
  await until(() => told.at(-1)?.seq === event_seq);
  expect(told.map(({ json }) => json)).toEqual(
    [...network.read.eventTexts(from + 1, event_seq)].map(({ json }) => json),
  );
  const closed = told.filter(({ status }) => status !== null);
  expect(closed.length).toBe(told.filter(({ type }) => type === 'block_status').length);
  expect(shown.read.position).toEqual(network.read.position);
  expect(shown.read.networkState()).not.toEqual(state);
  expect(shown.read.activeAgents()).toEqual(network.read.activeAgents());
});

test('kept: refuses writes with advice', async () => {
  const path = temporaryFolder();
  await living(path, { network_id: 'closed' });
  const shown = kept(path);
  const { outcome, events } = shown.apply();
  expect(events).toEqual([]);
  expect(outcome).toMatchObject({ result: 'refused', refusal: { reason: 'READ_ONLY' } });
  expect(shown.readOnly).toContain('folkmoot serve');
  expect(shown.fireDeadlines()).toEqual([]);
});

test.each([
  ['deleted', (path: string) => rmSync(path, { recursive: true })],
  [
    'replaced',
    (path: string) => {
      renameSync(path, `${path}-moved`);
      mkdirSync(path);
      writeFileSync(join(path, 'data.mdb'), 'something else');
    },
  ],
])('kept: reports once that a folder is %s, and keeps earlier data readable', async (how, lose) => {
  const path = join(temporaryFolder(), 'network');
  const { network } = await living(path, { network_id: 'lost' });
  await network.close();
  const told: string[] = [];
  const shown = kept(path, (why) => told.push(why));
  expect(shown.lost).toBe(null);
  lose(path);
  await until(() => shown.lost !== null);
  expect(told).toEqual([shown.lost]);
  expect(told[0]).toMatch(new RegExp(`was ${how}`));
  expect([...shown.read.agents()].length).toBe(12);
  expect(shown.read.networkState().network_id).toBe('lost');
});

test('kept: a folder without a network is refused', () => {
  expect(() => KeptNetwork.open({ path: temporaryFolder() })).toThrow(
    expect.objectContaining({ problem: 'NO_NETWORK' }),
  );
});
