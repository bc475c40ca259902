/**
 * `engine.apply` of each command with 100, 1,000 and 10,000 validators: what must stay flat. The
 * engine alone: no digests, no encoding, no store. A command can be applied only once, and others
 * come before it, so the CPU time of its own kind's calls is taken, rather than by benchmark.js.
 */
import { defineCase, type Round } from '../../case.js';
import { cpuUsOf, kinds } from '../../fixtures/commands.js';
import { Population } from '../../fixtures/population.js';
import type { Row } from '../../result.js';

interface Configuration {
  populations: number[];
  /** Commands of a kind; of votes whole blocks, until there are as many. */
  commands: number;
}

async function run({ populations, commands }: Configuration, { seed }: Round): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of kinds()) {
    const cost = async (validators: number, count = commands) =>
      cpuUsOf(kind, await Population.of(validators, seed), count);
    // Compiled by then: the first population would pay for the others.
    await cost(populations[0]!, 4 * commands);
    let first: number | null = null;
    for (const validators of populations) {
      const cpu_us = await cost(validators);
      first ??= cpu_us;
      const name = `${kind}, ${validators.toLocaleString('en-US')} validators`;
      rows.push({ name, per_s: 1e6 / cpu_us, cpu_us, ratio: first / cpu_us });
    }
  }
  return rows;
}

export const engineCase = defineCase<Configuration>({
  name: 'engine',
  about: 'engine.apply of each command; ratio: its rate of that with the fewest validators',
  sizes: {
    small: { populations: [100, 1_000, 10_000], commands: 500 },
    large: { populations: [100, 1_000, 10_000], commands: 10_000 },
  },
  run,
});
