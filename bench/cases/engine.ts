/**
 * Each command in an engine alone, with 100, 1,000 and 10,000 validators: the cost per command must
 * stay flat. A command can be applied only once and has prerequisites, so its CPU time is measured
 * directly instead of with benchmark.js.
 */
import { defineCase, type Round, type Row } from '../case.js';
import { kinds, measureCpuUs, Population } from '../fixtures/population.js';

interface EngineOptions {
  /** Commands per kind. For votes, the number is rounded up to whole blocks. */
  commands: number;
}

const POPULATIONS = [100, 1_000, 10_000] as const;

async function measureEngine({ commands }: EngineOptions, { r, seed }: Round): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of kinds()) {
    const cost = async (validators: number, count = commands) =>
      measureCpuUs(kind, await Population.of(validators, seed), count);
    // Warms up, because the first population would otherwise include compilation.
    await cost(POPULATIONS[0], 4 * commands);
    const costs: number[] = [];
    for (const validators of POPULATIONS) {
      const cpu_us = await cost(validators);
      costs.push(cpu_us);
      const name = `${kind}, ${validators.toLocaleString('en-US')} validators`;
      const per_s = 1e6 / cpu_us;
      rows.push({ name, per_s, of_r: per_s / r, cpu_us, ratio: costs[0]! / cpu_us });
    }
    if (kind !== 'vote') continue;
    const name = 'votes in an engine with 10,000 validators, relative to 1,000';
    rows.push({ name, ratio: costs[1]! / costs[2]!, wanted: 0.75 });
  }
  return rows;
}

export const engineCase = defineCase<EngineOptions>({
  name: 'engine',
  about: 'engine.apply of each command; ratio: its rate relative to the fewest validators',
  sizes: { small: { commands: 500 }, large: { commands: 10_000 } },
  run: measureEngine,
});
