/** Tests the case `cores`. */
import { availableParallelism } from 'node:os';
import { defineCase } from '../../dist/bench/case.js';
import { measureCores } from '../../dist/bench/cases/cores.js';
import { bench, NOT_MEASURED, printResult } from '../../dist/bench/run.js';

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
