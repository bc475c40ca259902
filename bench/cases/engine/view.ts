/** What a page is shown of a run: made for the first time, opened again, and at random entries. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { applySpan, emptyPicture, encodeSpan, type Span } from '../../../api/view/index.js';
import { ViewLog } from '../../../api/view/log/index.js';
import { KeptNetwork } from '../../../engine/internal.js';
import { defaultScenario, simulate } from '../../../sim/index.js';
import { defineCase, type Round } from '../../case.js';
import { withFolder } from '../../fixtures/network.js';
import { timed } from '../../raw/measure.js';
import type { Row } from '../../result.js';

interface Configuration {
  agents: number;
  /** A block of 1,000 agents is some 1,400 events. */
  blocks: number;
}

const LOOKS = 100;
const MIB = 2 ** 20;

async function run({ agents, blocks }: Configuration, { seed }: Round): Promise<Row[]> {
  return withFolder(async (folder) => {
    const out = join(folder, 'run');
    const length = { blocks };
    await simulate(defaultScenario(agents, { length, signatures: 'none' }), { out, seed });
    const path = join(out, 'network');
    const made = await shown(path, firstMade);
    return [...made, ...(await shown(path, openedAgain))];
  });
}

async function shown(
  path: string,
  work: (network: KeptNetwork, view: ViewLog) => Promise<Row[]>,
): Promise<Row[]> {
  const network = KeptNetwork.open({ path });
  const view = new ViewLog(network);
  try {
    return await work(network, view);
  } finally {
    await view.close();
    await network.close();
  }
}

async function firstMade({ read }: KeptNetwork, view: ViewLog): Promise<Row[]> {
  const { event_seq } = read.position;
  const events = `of ${event_seq.toLocaleString('en-US')} events`;
  const { wall, cpu } = await timed(() => view.catchUp());
  return [
    { name: `made first, ${events}`, per_s: event_seq / wall, cpu_us: (cpu * 1e6) / event_seq },
  ];
}

async function openedAgain({ read, folder }: KeptNetwork, view: ViewLog): Promise<Row[]> {
  const opened = await timed(async () => void (await view.picture()));
  const times: number[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    // Spread over the log without a pattern: 0.618... is the golden ratio.
    const at = Math.trunc(((look * 0.6180339887) % 1) * read.position.seq);
    times.push((await timed(async () => void (await view.picture(at)))).wall * 1_000);
  }
  times.sort((a, b) => a - b);
  const spans = await spansOf(view);
  const bytes = spans.reduce((sum, span) => sum + encodeSpan(span).length, 0);
  const folded = await timed(async () => {
    const picture = emptyPicture(await view.picture(0));
    for (const span of spans) applySpan(picture, span);
  });
  const kept = sizeOf(join(folder, 'view'));
  return [
    { name: 'opened again, with the last picture', value: opened.wall * 1_000, unit: 'ms' },
    { name: 'a random entry, median', value: times[LOOKS / 2]!, unit: 'ms' },
    { name: 'a random entry, 95 of 100', value: times[94]!, unit: 'ms', allowed: 300 },
    { name: 'all rows folded', value: folded.wall * 1_000, unit: 'ms' },
    { name: 'columns', value: bytes / MIB, unit: 'MiB' },
    { name: 'files, with their pictures', value: kept / MIB, unit: 'MiB' },
  ];
}

/** Of all files in a folder; 0 where a run was too short to fill a chunk, and left none. */
function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

async function spansOf(view: ViewLog): Promise<Span[]> {
  const spans: Span[] = [];
  for (let from = 0; from <= view.end; from = spans.at(-1)!.to + 1) {
    // As a server gives them: serverBounds.view.
    spans.push(await view.span(from, undefined, { rows: 16_384, said: 500 }));
  }
  return spans;
}

export const viewCase = defineCase<Configuration>({
  name: 'view',
  about: 'what a page is shown: made of a log, opened again, at a random entry',
  sizes: { small: { agents: 200, blocks: 40 }, large: { agents: 1_000, blocks: 100 } },
  run,
});
