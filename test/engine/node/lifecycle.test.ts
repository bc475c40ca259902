/** A network from opening to closing: followers, late writes, deadlines. */
import { join } from 'node:path';
import {
  type Clock,
  composeProposal,
  composeRegister,
  createVerifier,
  formatInstant,
  GENESIS_HASH,
  Network,
  type Signatory,
  type SignedRequest,
  type Verifier,
} from 'folkmoot';
import { defaultScenario, Interrupted, simulate } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { admit } from '../../../dist/engine/admit/admit.js';
import { START_MS } from '../../support/citizens.js';
import { signatoryOf, temporaryFolder, testNetwork } from '../../support/fixture.js';

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

test('follow: yields each event once from the beginning', async () => {
  const { network, submit } = await testNetwork();
  for (let number = 0; number < 600; number += 1) await submit(registration(signatoryOf(number)));
  const seen: number[] = [];
  for await (const { seq } of network.follow(-1)) {
    seen.push(seq);
    if (seq === 600) break;
  }
  expect(seen).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
});

test('close: closes once for two calls, and the folder can be opened immediately', async () => {
  const path = temporaryFolder();
  const { network } = await testNetwork({ path });
  await Promise.all([network.close(), network.close()]);
  const again = await testNetwork({ path });
  expect(again.network.read.position.seq).toBe(0);
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
  const again = await testNetwork({ path });
  expect(again.network.read.position.seq).toBe(1);
});

test('defer: a verifier that fails stops the network, and no entry is durable', async () => {
  const path = temporaryFolder();
  const verify = () => Promise.reject(new Error('all threads died'));
  const { network, errors, apply } = await deferring(path, {
    ...createVerifier('inline'),
    verify,
  });
  await expect(apply(registration(signatoryOf(1))).durable).rejects.toThrow('all threads died');
  expect([errors.length, network.read.position.seq]).toEqual([1, 0]);
  await network.close().catch(() => {});
  const again = await testNetwork({ path });
  expect(again.network.read.position.seq).toBe(0);
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
