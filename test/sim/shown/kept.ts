/** A kept run, served as `folkmoot explore` serves it, and what its agents are called there. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startServer } from '../../../dist/api/index.js';
import { History, KeptNetwork } from '../../../dist/engine/internal.js';
import { keptResult } from '../../../dist/sim/fork/kept.js';
import { keptRun, scenarioShown } from '../../../dist/sim/shown/index.js';
import { START_MS } from '../../support/fixture.js';
import { World } from '../../support/service/world.js';

export interface Served {
  there: World;
  history: History;
  network: KeptNetwork;
}

/** Until the test is over. */
export async function served(folder: string): Promise<Served> {
  const path = join(folder, 'network');
  const network = KeptNetwork.open({ path });
  const history = History.open({ path, checkpoints: false });
  const result = keptResult(folder)!;
  const scenario = scenarioShown(result.scenario, result.seed, START_MS)!;
  const run = keptRun(folder, result, network);
  const version = '0.0.0-test';
  const server = await startServer({ network, history, scenario, run, limits: 'off', version });
  onTestFinished(async () => {
    await server.close();
    await history.close();
    await network.close();
  });
  return { there: new World({ url: server.url, wsUrl: '' }), history, network };
}

/** All pages of a list. */
export async function allOf<T>(there: World, path: string, name: string, limit: number) {
  const rows: T[] = [];
  let cursor = '';
  for (;;) {
    const mark = path.includes('?') ? '&' : '?';
    const page = await there.read(`${path}${mark}limit=${limit}${cursor}`);
    rows.push(...(page[name] as T[]));
    if (page.next_cursor === null) return rows;
    cursor = `&cursor=${page.next_cursor}`;
  }
}
