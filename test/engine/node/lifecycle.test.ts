/** A network from opening to closing: followers, late writes, deadlines. */
import { join } from 'node:path';
import {
  type Clock,
  composeProposal,
  composeRegister,
  composeVote,
  createVerifier,
  formatInstant,
  GENESIS_HASH,
  Network,
  type Signatory,
  type SignedRequest,
  type Verifier,
} from 'folkmoot';
import { defaultScenario, Interrupted, simulate } from 'folkmoot/sim';
import { admit } from '../../../dist/engine/admit/admit.js';
import { START_MS } from '../../support/citizens.js';
import { counts } from '../../support/counts.js';
import { signatoryOf, temporaryFolder, testNetwork } from '../../support/fixture.js';
import { fc, forAllAsync } from '../../support/property.js';
import { replayHere } from '../../support/runs.js';
import { newPopulation, type Population } from '../helpers.js';

type Admitted = Parameters<Network['verification']['defer']>[0];

const timestamp = formatInstant(START_MS);
const capabilities = ['validator', 'producer'] as const;
const registration = (by: Signatory) =>
  composeRegister(by, timestamp, { personality: 'lawful', name: 'Ada', capabilities });

test('follow: ends a waiting follower when the network closes', async () => {
  const { network } = await testNetwork();
  const next = network.follow().next();
  await network.close();
  expect(await next).toEqual({ done: true, value: undefined });
});

test('follow: does not miss a commit while the follower begins to wait', async () => {
  const { network } = await testNetwork();
  const verified = await network.verify(registration(signatoryOf(1)));
  if ('refusal' in verified) throw new Error(verified.refusal.message);
  network.apply(verified);
  const { value } = await network.follow().next();
  expect(value).toMatchObject({ seq: 1, type: 'agent_status' });
});

test('close: closes once for two calls, and the folder can be opened immediately', async () => {
  const path = temporaryFolder();
  const { network } = await testNetwork({ path });
  await Promise.all([network.close(), network.close()]);
  expect((await testNetwork({ path })).network.read.position.seq).toBe(0);
});

test('close: refuses later requests without throwing', async () => {
  const { network, submit } = await testNetwork();
  await network.close();
  const outcome = await submit(registration(signatoryOf(1)));
  expect(outcome).toMatchObject({ result: 'refused', refusal: { reason: 'STOPPING' } });
});

/** A network that applies requests before it verifies them. */
async function deferring(path: string, verifier: Verifier) {
  const errors: Error[] = [];
  const genesis = { network_id: 'devnet' };
  const onFatal = (error: Error) => errors.push(error);
  const network = await Network.open({ path, genesis, verifier, onFatal });
  const apply = (request: SignedRequest) => {
    const admitted = admit(request, network.genesis.network_id);
    if ('refusal' in admitted) throw new Error(admitted.refusal.message);
    const verified = network.verification.defer(admitted as unknown as Admitted);
    if ('refusal' in verified) throw new Error(verified.refusal.message);
    return network.apply(verified);
  };
  return { network, errors, apply };
}

test('defer: a wrong signature stops the network, and no entry is durable', async () => {
  const path = temporaryFolder();
  const verifier = createVerifier('inline');
  const { network, errors, apply } = await deferring(path, verifier);
  const { outcome, durable } = apply(registration(signatoryOf(1)));
  expect(outcome.result).toBe('accepted');
  await durable;
  expect([network.read.position.seq, verifier.stats.verified]).toEqual([1, 1]);
  apply(registration(signatoryOf(2)));
  const forged = { ...registration(signatoryOf(3)), signature: 'f'.repeat(128) };
  await expect(apply(forged).durable).rejects.toThrow(/signature/);
  expect(errors).toHaveLength(1);
  expect(network.read.position.seq).toBe(1);
  await network.close().catch(() => {});
  expect((await testNetwork({ path })).network.read.position.seq).toBe(1);
});

test('defer: a verifier that fails stops the network, and no entry is durable', async () => {
  const path = temporaryFolder();
  const verify = () => Promise.reject(new Error('all threads died'));
  const { network, errors, apply } = await deferring(path, { ...createVerifier('inline'), verify });
  await expect(apply(registration(signatoryOf(1))).durable).rejects.toThrow('all threads died');
  expect([errors.length, network.read.position.seq]).toEqual([1, 0]);
  await network.close().catch(() => {});
  expect((await testNetwork({ path })).network.read.position.seq).toBe(0);
});

test('clock: fires a deadline and sets the alarm for the next', async () => {
  const alarms: { at: number; wake: () => void }[] = [];
  let now = START_MS;
  const clock: Clock = {
    now: () => now,
    wakeAt(at, wake) {
      const alarm = { at, wake };
      alarms.push(alarm);
      return () => alarms.splice(alarms.indexOf(alarm), 1);
    },
  };
  const verifier = createVerifier('inline');
  const genesis = { network_id: 'devnet', voting_period_ms: 1_000 };
  const network = await Network.open({ memory: true, genesis, verifier, clock });
  const by = signatoryOf(1);
  await network.submit(await network.verify(registration(by)));
  const fields = { parent_hash: GENESIS_HASH, transactions: [] };
  await network.submit(await network.verify(composeProposal(by, timestamp, fields)));
  expect(alarms.map(({ at }) => at)).toEqual([START_MS + 1_001]);
  now = START_MS + 5_000;
  alarms.pop()!.wake();
  await network.durable;
  expect([...network.read.blocks()].map(({ status }) => status)).toEqual(['expired']);
  expect(alarms).toEqual([]);
  await network.close();
  await verifier.close();
});

test('simulate: an interrupted run returns its durable part', async () => {
  const out = join(temporaryFolder(), 'run');
  const controller = new AbortController();
  const run = simulate(
    defaultScenario(50, { length: { blocks: 50 } }),
    { verifier: 'inline', out },
    { signal: controller.signal, onProgress: () => controller.abort() },
  );
  const error = await run.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Interrupted);
  const { network } = await testNetwork({
    path: join(out, 'network'),
    genesis: { network_id: 'folkmoot-sim' },
  });
  expect(network.read.position.seq).toBe((error as Interrupted).seq);
});

// ---- A held network. Time stops, writes are refused, and the log does not show the hold.

const [ada, bob, eve] = [1, 2, 3].map(signatoryOf) as [Signatory, Signatory, Signatory];
const accepted = { result: 'accepted' };
const paused = {
  result: 'refused',
  refusal: { reason: 'PAUSED', code: 'NETWORK_ERROR', status: 503 },
};

async function voting(path?: string) {
  const there = await testNetwork(path === undefined ? {} : { path });
  for (const by of [ada, bob, eve]) await there.submit(registration(by));
  const proposal = composeProposal(ada, timestamp, { parent_hash: GENESIS_HASH, transactions: [] });
  const outcome = await there.submit(proposal);
  if (outcome.result !== 'accepted' || !('block_hash' in outcome.data)) throw new Error('refused');
  const { block_hash } = outcome.data;
  const vote = (by: Signatory) =>
    there.submit(composeVote(by, timestamp, { block_hash, decision: 'approve' }));
  return { ...there, vote, block_hash };
}

test('hold: refuses writes, and continues at the same time after the release', async () => {
  const path = temporaryFolder();
  const { network, clock, submit, vote, block_hash } = await voting(path);
  clock.set(START_MS + 10_000);
  const before = network.read.position;
  network.time.hold();
  network.time.hold();
  clock.set(START_MS + 3_600_000);
  expect([network.time.held, network.time.now]).toEqual([true, START_MS + 10_000]);
  expect(await vote(bob)).toMatchObject(paused);
  expect(await submit(registration(signatoryOf(4)))).toMatchObject(paused);
  // By the wall clock, the block's deadline passed an hour ago.
  expect([network.fireDeadlines(), network.read.position]).toEqual([[], before]);
  expect(network.read.block(block_hash)).toMatchObject({ status: 'voting' });

  network.time.release();
  network.time.release();
  expect([network.time.held, network.time.now]).toEqual([false, START_MS + 10_000]);
  expect(await vote(bob)).toMatchObject(accepted);
  clock.set(START_MS + 3_600_000 + 19_000);
  network.fireDeadlines();
  expect(network.read.block(block_hash)).toMatchObject({ status: 'voting' });
  clock.set(START_MS + 3_600_000 + 20_002);
  network.fireDeadlines();
  await network.durable;
  expect(network.read.block(block_hash)).toMatchObject({
    status: 'expired',
    closed_at: formatInstant(START_MS + 30_001),
  });
  await network.close();
  expect(await replayHere(path)).toMatchObject({ match: true });
});

test('hold: server_time is the wall time', async () => {
  const { network, clock } = await voting();
  network.time.hold();
  clock.set(START_MS + 3_600_000);
  const first = network.read.networkState().server_time;
  clock.set(START_MS + 3_600_001);
  const second = network.read.networkState().server_time;
  network.time.release();
  const third = network.read.networkState().server_time;
  const later = (ms: number) => formatInstant(START_MS + 3_600_000 + ms);
  expect([first, second, third]).toEqual([later(0), later(1), later(1)]);
});

test('hold: a held network can be closed, and its folder replays', async () => {
  const path = temporaryFolder();
  const { network, vote } = await voting(path);
  const inFlight = vote(bob);
  network.time.hold();
  await network.close();
  network.time.release();
  await inFlight;
  expect(await replayHere(path)).toMatchObject({ match: true });
});

type Deed =
  | { kind: 'hold' }
  | { kind: 'release' }
  | { kind: 'pass'; ms: number }
  | { kind: 'vote'; by: number }
  | { kind: 'join'; number: number };

const deeds = fc.array(
  fc.oneof(
    fc.constantFrom<Deed>({ kind: 'hold' }, { kind: 'release' }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
    fc.record({ kind: fc.constant('vote' as const), by: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('join' as const), number: fc.integer({ min: 4, max: 9 }) }),
  ),
  { minLength: 5, maxLength: 60 },
);

/** Runs a list of actions. Without holds, skips the actions that fall into a hold. */
async function live(list: readonly Deed[], holds: boolean) {
  const { network, clock, submit, vote } = await voting();
  let held = false;
  let passed = 0;
  for (const deed of list) {
    if (deed.kind === 'hold' || deed.kind === 'release') {
      held = deed.kind === 'hold';
      if (holds && held) network.time.hold();
      else if (holds) network.time.release();
    } else if (held && !holds) {
      // Refused actions have no effect.
    } else if (deed.kind === 'pass') {
      clock.set(clock.now() + deed.ms);
      passed += held ? 0 : deed.ms;
      network.fireDeadlines();
    } else {
      const outcome = await (deed.kind === 'vote'
        ? vote(signatoryOf(deed.by))
        : submit(registration(signatoryOf(deed.number))));
      if (held) expect(outcome).toMatchObject(paused);
      else expect(outcome).not.toMatchObject(paused);
    }
    expect(network.time.now).toBe(START_MS + passed);
  }
  await network.durable;
  const { digest, log_digest, at } = network.read.position;
  await network.close();
  return { digest, log_digest, at };
}

test('hold: the log equals that of a session without holds', async () => {
  await forAllAsync([deeds], { numRuns: counts.heldSessions }, async (list) => {
    expect(await live(list, true)).toEqual(await live(list, false));
  });
});

// ---- Cached reads, and long reads in slices.

/** Computes the active agents from records, without the cache. */
function listed({ network: { read } }: Population) {
  const agents = [...read.records('agents')].map(({ value }) => ({
    id: value.agent_id,
    capabilities: value.capabilities,
    ...read.record('agent_states', value.agent_id)!,
    reputation: read.reputation(value.agent_id)!.overall_score,
  }));
  const active = agents.filter(({ state }) => state === 'active');
  return {
    validators: active
      .filter(({ capabilities }) => capabilities.includes('validator'))
      .map(({ id, reputation }) => [id, reputation]),
    producers: active
      .filter(({ capabilities }) => capabilities.includes('producer'))
      .map(({ id, context }) => [id, context.blocks_produced]),
  };
}

const shown = (list: ReturnType<Population['network']['read']['activeAgents']>) => ({
  validators: list.validators.map(({ id, reputation_score }) => [id, reputation_score]),
  producers: list.producers.map(({ id, blocks_produced }) => [id, blocks_produced]),
});

test('active agents: includes changes between two slices', async () => {
  const population = await newPopulation();
  await population.joinMany(60, ['validator', 'producer']);
  const { read } = population.network;
  for (const pause of [0, 1, 30, 59]) {
    await population.status(population.citizens[pause % 60]!, 'inactive');
    const work = read.activeAgentsInSlices();
    for (let slice = 0; slice < pause; slice += 1) work.next();
    await population.status(population.citizens[pause % 60]!, 'active');
    await population.join(['producer']);
    let next = work.next();
    while (!next.done) next = work.next();
    expect(shown(next.value)).toEqual(listed(population));
    expect(read.activeAgents()).toBe(next.value);
  }
});

test('active agents: a read ends even if agents change at each pause', async () => {
  const population = await newPopulation();
  await population.joinMany(10);
  const work = population.network.read.activeAgentsInSlices();
  let slices = 0;
  for (;;) {
    if (work.next().done) break;
    slices += 1;
    const one = population.citizens[slices % 10]!;
    await population.status(one, slices % 20 < 10 ? 'inactive' : 'active');
  }
  expect(slices).toBeLessThan(200);
  expect(shown(population.network.read.activeAgents())).toEqual(listed(population));
});
