/**
 * What those who look on without a key cost: signed votes over HTTP on one server with 0, 1 and 30
 * watchers, in turns, so that a machine that slows down slows all of them.
 */
import { defineCase, type Round } from '../../case.js';
import { subscribe } from '../../clients/subscribers.js';
import { median } from '../../raw/measure.js';
import type { Row } from '../../result.js';
import { type FolkmootServer, withFolkmoot } from '../../servers/folkmoot.js';
import { type Loaded, load } from '../../servers/load.js';

interface Configuration {
  seconds: number;
  turns: number;
}

const CONCURRENCY = 512;
const AGENTS = 4_000;
/** How much of the votes without watchers is to be left, by how many watch. */
const wanted = new Map([
  [0, null],
  [1, 0.98],
  [30, 0.95],
]);

async function run({ seconds, turns }: Configuration, { r, seed }: Round): Promise<Row[]> {
  const all = new Map([...wanted.keys()].map((count): [number, Loaded[]] => [count, []]));
  await withFolkmoot(async (server) => {
    // The same agents each time: an electorate that grows would slow the later turns.
    await votes(server, 0, { seconds, seed });
    for (let turn = 0; turn < turns; turn += 1) {
      for (const [count, loaded] of all) {
        loaded.push(await votes(server, count, { seconds, seed }));
      }
    }
  });
  const perSecond = (count: number) =>
    all.get(count)!.map(({ result }) => result.arrivals.accepted_per_s);
  const cpuUs = (count: number) => median(all.get(count)!.map((one) => one.cpuUs));
  return [...wanted].flatMap(([count, least]): Row[] => {
    const name = `votes over http, ${count} watchers`;
    const rate = median(perSecond(count));
    const row = { name, per_s: rate, of_r: rate / r, cpu_us: cpuUs(count) };
    if (least === null) return [row];
    return [
      row,
      {
        name: `${name}: votes/s of those without`,
        ratio: rate / median(perSecond(0)),
        wanted: least,
      },
      {
        name: `${name}: votes for CPU time of those without`,
        ratio: cpuUs(0) / cpuUs(count),
        wanted: least,
      },
    ];
  });
}

async function votes(
  server: FolkmootServer,
  watchers: number,
  { seconds, seed }: { seconds: number; seed: string },
): Promise<Loaded> {
  const greeting = [JSON.stringify({ type: 'watch' })];
  const greetings = new Array<string[]>(watchers).fill(greeting);
  const watching = watchers === 0 ? null : await subscribe(server, greetings);
  try {
    return await load(server, {
      workload: 'votes',
      agents: AGENTS,
      concurrency: CONCURRENCY,
      connections: CONCURRENCY,
      durationMs: 1000 * seconds,
      warmupMs: 500,
      seed,
    });
  } finally {
    await watching?.close();
  }
}

export const watchCase = defineCase<Configuration>({
  name: 'watch',
  about: 'signed votes over HTTP with 0, 1 and 30 that look on, in turns on one server',
  sizes: { small: { seconds: 2, turns: 2 }, large: { seconds: 10, turns: 7 } },
  run,
});
