/** Tests the case `cores`, and the plain server with several processes. */
import { availableParallelism } from 'node:os';
import { defineCase } from '../../dist/bench/case.js';
import { measureCores } from '../../dist/bench/cases/cores.js';
import { postRate } from '../../dist/bench/clients/clients.js';
import {
  chain,
  countRounds,
  formatHead,
  NETWORK_ID,
  postedBlocks,
  registration,
  signatories,
} from '../../dist/bench/fixtures/chain.js';
import { bench, NOT_MEASURED, printResult } from '../../dist/bench/run.js';
import { withPlain } from '../../dist/bench/servers/processes.js';
import { composeVote } from '../../dist/engine/protocol/compose.js';
import type { SignedRequest } from '../../dist/engine/protocol/schema/entry.js';

test.runIf(process.platform === 'linux')(
  'cores: measures the cores that exist, and releases them',
  async () => {
    const size = {
      ...{ counts: [1, 512], seconds: 2.5 },
      ...{ voters: 200, agents: 100, warmUp: 1, blocks: 2 },
    };
    const one = defineCase({
      ...{ name: 'cores', about: 'a case of the tests', sizes: { small: size, large: size } },
      run: measureCores,
    });
    const before = availableParallelism();
    const options = { cases: [one], size: 'small', seed: 'cores', progress: () => {} } as const;
    const result = await bench(options);
    expect(availableParallelism()).toBe(before);
    expect(result.cases.find(({ name }) => name === NOT_MEASURED)?.note).toBe(undefined);
    const figures = new Map(result.cases.map((row) => [row.name, row]));
    const on = (name: string) => figures.get(`${name} (cores: 1)`);
    for (const name of ['votes', 'transactions', 'reads', 'same client', 'plain']) {
      expect(on(name)?.per_s, name).toBeGreaterThan(0);
    }
    expect(on('plain')!.ratio).toBeCloseTo(on('same client')!.per_s! / on('plain')!.per_s!);
    expect(on('p99')).toMatchObject({ unit: 'ms', value: expect.any(Number) });
    expect(on('vote: engine')!.value).toBeGreaterThan(0);
    expect(on('vote: verifier')!.value).toBeGreaterThanOrEqual(0);
    expect(on('transaction: engine')!.value).toBeGreaterThan(0);
    expect(figures.has('not measured: 512 cores')).toBe(true);
    expect(printResult(result)).toMatch(/^cores +1$/m);
  },
  300_000,
);

async function post(url: string, request: SignedRequest) {
  const { method, path, headers } = formatHead(request);
  const response = await fetch(url + path, { method, headers, body: Buffer.from(request.body) });
  return { status: response.status, ...((await response.json()) as { data: object }) };
}

test('plain server: several processes agree on votes', async () => {
  const by = signatories('shared', 4, true);
  const timestamp = new Date().toISOString();
  const { proposal, votes } = chain(by, timestamp).next().value;
  const work = async ({ url }: { url: string }) => {
    for (const [ordinal, one] of by.entries()) {
      expect(await post(url, registration(one, ordinal, timestamp))).toMatchObject({ status: 200 });
    }
    const proposed = await post(url, proposal);
    const { block_hash } = proposed.data as { block_hash: string };
    expect(await post(url, proposal)).toMatchObject({ status: 200 });
    const [first, second, third] = votes as [SignedRequest, SignedRequest, SignedRequest];
    // New connections, which the processes share.
    const same = await Promise.all(Array.from({ length: 12 }, () => post(url, first)));
    expect(new Set(same.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(same[0]).toMatchObject({ status: 200, data: { approvals: 1, block_status: 'voting' } });
    const other = composeVote(by[0]!, timestamp, { block_hash, decision: 'reject' });
    expect(await post(url, other)).toMatchObject({ status: 409 });
    await post(url, second);
    expect(await post(url, third)).toMatchObject({ data: { block_status: 'finalized' } });
  };
  await withPlain(NETWORK_ID, work, 3);
});

test('plain server: several processes take many votes at once', async () => {
  const posted = postedBlocks('many', 60, 4);
  const load = { connections: 24, warmUp: countRounds(1) };
  const { perSecond } = await withPlain(NETWORK_ID, (one) => postRate(one, posted, load), 2);
  expect(perSecond).toBeGreaterThan(0);
});
