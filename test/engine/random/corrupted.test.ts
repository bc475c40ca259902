/**
 * Requests from an untyped program. Each member of each request kind is set to any JavaScript
 * value.
 */
import fc from 'fast-check';
import {
  composeRegister,
  composeVote,
  createVerifier,
  formatInstant,
  Network,
  type Outcome,
  openLmdbStore,
  replay,
  SCHEMA_VERSION,
  type SignedRequest,
  storedLines,
  tables,
  virtualClock,
} from 'folkmoot';
import { expect, test } from 'vitest';
import { START_MS } from '../../support/citizens.js';
import { counts } from '../../support/counts.js';
import { signatoryOf, temporaryFolder, testNetwork } from '../../support/fixture.js';
import { attempts, genesis, Life } from './random.js';

const texts = ['kind', 'public_key', 'target', 'timestamp', 'signature'] as const;
const members = [...texts, 'body', 'file'] as const;
type Changes = Partial<Record<(typeof members)[number], unknown>>;

function detached(): Uint8Array {
  const bytes = new Uint8Array(4);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

const throwing = {
  toString() {
    throw new Error('a value that cannot become text');
  },
};

const any = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, 0, 7, Number.NaN, true, 1n, Symbol('s'), () => 'hm'),
  fc.constantFrom<unknown>(new Date(0), [], ['vote'], {}, Object.create(null), throwing),
  fc.constantFrom<unknown>(new String('vote'), { length: 3 }, new Proxy(new Uint8Array(2), {})),
  fc.constantFrom<unknown>(Object.create(Uint8Array.prototype), detached(), new ArrayBuffer(2)),
  fc.constantFrom<unknown>(new Uint8Array(3), Buffer.from('{}'), new Uint16Array(2)),
  fc.constantFrom<unknown>('', 'vote', 'status', 'register', '\ud800', '\0', 'a'.repeat(70_000)),
  fc.string({ unit: 'binary' }),
);

/** A corruption, often of one member, sometimes of several members or of the whole request. */
const corruption = fc.record({
  changes: fc.dictionary(fc.constantFrom(...members), any, { minKeys: 1, maxKeys: 3 }),
  whole: fc.option(any, { freq: 12, nil: undefined }),
});

/** True if a request contains a member that no log can hold. */
const isImpossible = (changes: Changes): boolean =>
  texts.some((name) => name in changes && typeof changes[name] !== 'string') ||
  ('body' in changes && !ArrayBuffer.isView(changes.body));

test('network: refuses a value that is not a request, and continues', async () => {
  const script = attempts(Math.trunc(counts.commandsPerSequence / 8));
  const life = fc.asyncProperty(
    genesis,
    script,
    fc.infiniteStream(corruption),
    async (g, tries, corruptions) => {
      const clock = virtualClock(START_MS);
      const path = temporaryFolder();
      const onFatal = (error: Error) => {
        throw error;
      };
      const verifier = createVerifier('off');
      const network = await Network.open({ path, genesis: g, verifier, clock, onFatal });
      const take = async (request: SignedRequest) => {
        await expectRefused(network, request, corruptions.next().value!);
        const outcome = await network.submit(await network.verify(request));
        expect(outcome).not.toMatchObject({ refusal: { reason: 'STOPPING' } });
      };
      const lived = new Life(network);
      for (const request of Life.founders()) await take(request);
      for (const attempt of tries) {
        const next = lived.next(attempt);
        if (typeof next === 'number') clock.set(clock.now() + next);
        else for (const request of next) await take(request);
      }
      await network.close();
      await expectReplay(path);
    },
  );
  await fc.assert(life, { numRuns: counts.commandSequences });
});

interface Corruption {
  changes: Changes;
  whole: unknown;
}

/**
 * Submits a corrupted copy. Expects that submitting never throws and that a refusal changes
 * nothing.
 */
async function expectRefused(network: Network, request: SignedRequest, one: Corruption) {
  network.fireDeadlines();
  const before = network.applied;
  const corrupted = { ...request, ...one.changes } as SignedRequest;
  const given = one.whole === undefined ? corrupted : (one.whole as SignedRequest);
  const outcome = await network.submit(await network.verify(given));
  if (one.whole !== undefined || isImpossible(one.changes)) {
    expect(outcome).toMatchObject({ refusal: { reason: 'MALFORMED', code: 'INVALID_SIGNATURE' } });
  }
  if (outcome.result === 'refused') expect(network.applied).toBe(before);
}

const founder = { personality: 'lawful', name: 'Ada', capabilities: ['validator'] } as const;
const timestamp = formatInstant(START_MS);

test('network: logs the verified request even if the sender changes it meanwhile', async () => {
  const path = temporaryFolder();
  const { network } = await testNetwork({ path });
  const request = composeRegister(signatoryOf(1), timestamp, founder);
  const verifying = network.verify(request);
  request.body.fill(0);
  Object.assign(request, { timestamp: 5, target: null, signature: Symbol('s') });
  const outcome = await network.submit(await verifying);
  expect(outcome.result).toBe('accepted');
  await network.close();
  await expectReplay(path);
});

test('network: refuses to apply an unverified request, and continues', async () => {
  const { network, submit } = await testNetwork();
  const fields = { block_hash: 'a'.repeat(64), decision: 'approve' } as const;
  const vote = composeVote(signatoryOf(1), timestamp, fields);
  for (const odd of [vote, {}, { request: vote }, { request: vote, command: {} }, null, 7, 'hm']) {
    const refused = { result: 'refused', refusal: { reason: 'MALFORMED' } };
    expect(await network.submit(odd as never)).toMatchObject(refused);
    expect(network.apply(odd as never).outcome).toMatchObject(refused);
  }
  const outcome: Outcome = await submit(composeRegister(signatoryOf(1), timestamp, founder));
  expect(outcome.result).toBe('accepted');
});

async function expectReplay(path: string): Promise<void> {
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const lines = storedLines(store, 0, Number.MAX_SAFE_INTEGER);
  const { first_divergence } = await replay({ lines, stored: store });
  await store.close();
  expect(first_divergence).toBeNull();
}
