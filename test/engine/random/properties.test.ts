/** Random lives. Nothing throws, the invariants hold, and a restart has no visible effect. */
import fc from 'fast-check';
import {
  composeRegister,
  composeVote,
  createVerifier,
  formatInstant,
  type GenesisOptions,
  Network,
  type Outcome,
  replay,
  type SignedRequest,
  storedLines,
  type VirtualClock,
  virtualClock,
} from 'folkmoot';
import { START_MS } from '../../support/citizens.js';
import { counts } from '../../support/counts.js';
import { signatoryOf, temporaryFolder, testNetwork } from '../../support/fixture.js';
import { openForReading } from '../../support/runs.js';
import {
  type Attempt,
  attempts,
  expectInvariants,
  genesis,
  Life,
  lead,
  settled,
  type Timed,
} from './random.js';

const verifier = createVerifier('off');
const results = ['accepted', 'duplicate', 'equivocation', 'refused'];

function openNetwork(options: GenesisOptions, clock: VirtualClock, path?: string) {
  const onFatal = (error: Error) => {
    throw error;
  };
  const where = path === undefined ? { memory: true } : { path };
  return Network.open({ ...where, genesis: options, verifier, clock, onFatal });
}

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
  const store = openForReading(path);
  const lines = storedLines(store, 0, Number.MAX_SAFE_INTEGER);
  const { first_divergence } = await replay({ lines, stored: store });
  await store.close();
  expect(first_divergence).toBeNull();
}

// ---- Requests from an untyped program. Each member of each request kind is set to any JavaScript
// value.

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
  expect((await network.submit(await verifying)).result).toBe('accepted');
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
