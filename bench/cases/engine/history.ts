/** Looks into the past: the first one, which makes checkpoints, and random ones after it. */
import { join } from 'node:path';
import { History } from '../../../engine/internal.js';
import { defaultScenario, simulate } from '../../../sim/index.js';
import { defineCase, type Round } from '../../case.js';
import { withFolder } from '../../fixtures/network.js';
import { timed } from '../../raw/measure.js';
import type { Row } from '../../result.js';

interface Configuration {
  agents: number;
  /** A block of 1,000 agents is some 750 entries. */
  blocks: number;
}

const LOOKS = 100;

async function run({ agents, blocks }: Configuration, { seed }: Round): Promise<Row[]> {
  return withFolder(async (folder) => {
    const out = join(folder, 'run');
    const length = { blocks };
    await simulate(defaultScenario(agents, { length, signatures: 'none' }), { out, seed });
    const history = History.open({ path: join(out, 'network') });
    try {
      return await looked(history);
    } finally {
      await history.close();
    }
  });
}

async function looked(history: History): Promise<Row[]> {
  const { seq } = history.end;
  const first = await timed(async () => void (await history.prepare()));
  const times: number[] = [];
  let cpu = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    // Spread over the log without a pattern: 0.618... is the golden ratio.
    const at = Math.trunc(((look * 0.6180339887) % 1) * seq);
    const { wall, cpu: used } = await timed(async () => void (await history.at(at)));
    times.push(wall * 1_000);
    cpu += used;
  }
  times.sort((a, b) => a - b);
  const entries = `of ${seq.toLocaleString('en-US')} entries`;
  return [
    { name: `first look, ${entries}`, per_s: seq / first.wall, cpu_us: (first.cpu * 1e6) / seq },
    { name: 'a random entry, median', value: times[LOOKS / 2]!, unit: 'ms' },
    { name: 'a random entry, 95 of 100', value: times[94]!, unit: 'ms', allowed: 100 },
    { name: 'a random entry, CPU time', value: (cpu * 1_000) / LOOKS, unit: 'ms' },
    { name: 'checkpoints', value: history.checkpoints.bytes / 2 ** 20, unit: 'MiB' },
  ];
}

export const historyCase = defineCase<Configuration>({
  name: 'history',
  about: 'the state at a random entry of a log: the first look, and those after it',
  sizes: { small: { agents: 200, blocks: 40 }, large: { agents: 1_000, blocks: 1_350 } },
  run,
});
