/** Faults on the way to the network: tampered requests are refused, and the run continues. */
import { join } from 'node:path';
import { createVerifier, Network, type SignedRequest, virtualClock } from 'folkmoot';
import { defaultScenario, type SimOptions, type SimResult, simulate } from 'folkmoot/sim';
import { type FaultHooks, simulateWithFaults } from 'folkmoot/testing';
import { START_MS } from '../support/citizens.js';
import { temporaryFolder } from '../support/fixture.js';
import { type Line, logLines, replayHere } from '../support/runs.js';

const scenario = defaultScenario(40, { seed: '7', length: { blocks: 4 } });
const options: SimOptions = { verifier: 'inline' };

let untouched: SimResult;

beforeAll(async () => {
  untouched = await simulate(scenario, options);
});

function flipBit(hex: string, bit: number): string {
  const bytes = Buffer.from(hex, 'hex');
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return bytes.toString('hex');
}

const textOf = ({ body }: SignedRequest) => Buffer.from(body).toString();

function spoil(request: SignedRequest, bit = 0): SignedRequest {
  if (request.signature !== '') return { ...request, signature: flipBit(request.signature, bit) };
  const body = JSON.parse(textOf(request)) as { signature: string };
  const spoilt = { ...body, signature: flipBit(body.signature, bit) };
  return { ...request, body: Buffer.from(JSON.stringify(spoilt)) };
}

/** Corrupts the nth request of a kind; `hit` receives the original. */
function spoilOne(kind: SignedRequest['kind'], number: number, bit: number) {
  const seen: { count: number; hit: SignedRequest | null } = { count: 0, hit: null };
  const hooks: FaultHooks = {
    inTransit(request) {
      if (request.kind !== kind) return request;
      seen.count += 1;
      if (seen.count !== number) return request;
      seen.hit = request;
      return spoil(request, bit);
    },
  };
  return { seen, hooks };
}

test.each([
  ['inline', 'vote', 20, 0],
  ['pool', 'vote', 3, 511],
  ['reference', 'register', 12, 250],
  ['inline', 'propose', 2, 256],
] as const)('faults: %s refuses a %s whose signature has a flipped bit', async (...spoilt) => {
  const [verifier, kind, number, bit] = spoilt;
  const { seen, hooks } = spoilOne(kind, number, bit);
  const out = temporaryFolder();
  const result = await simulateWithFaults(scenario, { ...options, verifier, out }, hooks);
  expect(seen.hit).not.toBe(null);
  expect([result.refused.MISMATCH, untouched.refused.MISMATCH]).toEqual([1, undefined]);
  expect(result.digest).not.toBe(untouched.digest);
  expect(result.log_digest).not.toBe(untouched.log_digest);
  const hit = contentOf({ ...seen.hit!, body: textOf(seen.hit!) });
  expect((await logLines(out)).map(contentOf)).not.toContain(hit);
  const { match, digest } = await replayHere(join(out, 'network'));
  expect([match, digest]).toEqual([true, result.digest]);
});

function contentOf(one: Pick<Line, 'kind' | 'public_key' | 'timestamp' | 'body'>): string {
  const body = one.body.replace(/"signature":"[0-9a-f]{128}"}$/, '');
  return [one.kind, one.public_key, one.timestamp, body].join(' ');
}

test('faults: an invalid signature of one transaction refuses the whole proposal', async () => {
  let spoilt = 0;
  const result = await simulateWithFaults(scenario, options, {
    inTransit(request) {
      if (request.kind !== 'propose' || spoilt > 0) return request;
      spoilt += 1;
      const text = textOf(request);
      const body = JSON.parse(text) as { transactions: { signature: string }[] };
      const { signature } = body.transactions[0]!;
      return { ...request, body: Buffer.from(text.replace(signature, flipBit(signature, 9))) };
    },
  });
  // The proposal's signature covers its transactions, so the proposal fails as a whole.
  expect(result.refused.MISMATCH).toBe(1);
  expect(result.digest).not.toBe(untouched.digest);
});

test('faults: corrupted votes finalize nothing, so the run stalls', async () => {
  const inTransit = (one: SignedRequest) => (one.kind === 'vote' ? spoil(one) : one);
  const result = await simulateWithFaults(scenario, options, { inTransit });
  const { votes, finalized } = result.measures;
  expect([result.verdict, votes, finalized]).toEqual(['no_progress', 0, 0]);
  expect(result.refused.MISMATCH).toBeGreaterThan(0);
  expect(result.digest).not.toBe(untouched.digest);
});

test('faults: a hook that throws ends the run and unlocks its folder', async () => {
  const out = temporaryFolder();
  const inTransit = () => {
    throw new Error('the hook broke');
  };
  await expect(simulateWithFaults(scenario, { ...options, out }, { inTransit })).rejects.toThrow(
    'the hook broke',
  );
  const verifier = createVerifier('inline');
  const network = await Network.open({
    ...{ path: `${out}/network`, genesis: { network_id: 'folkmoot-sim' }, verifier },
    clock: virtualClock(START_MS),
  });
  await network.close();
  await verifier.close();
});
