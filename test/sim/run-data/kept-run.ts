/** A saved run, served as `folkmoot explore` serves it, with the ids of its agents. */
import { join } from 'node:path';
import { startServer } from '../../../dist/api/index.js';
import { History } from '../../../dist/engine/history/history.js';
import { KeptNetwork } from '../../../dist/engine/node/kept-network.js';
import { readKeptResult } from '../../../dist/sim/fork/kept-run.js';
import { describeScenario, openKeptRun } from '../../../dist/sim/run-view.js';
import { START_MS } from '../../support/citizens.js';
import { World } from '../../support/service/world.js';

export interface Served {
  there: World;
  history: History;
  network: KeptNetwork;
  /** Agent ids in scenario order. */
  ids: string[];
}

/** Serves the run until the test ends. */
export async function served(folder: string): Promise<Served> {
  const path = join(folder, 'network');
  const network = KeptNetwork.open({ path });
  const history = History.open({ path, checkpoints: false });
  const result = readKeptResult(folder)!;
  const scenario = describeScenario(result.scenario, result.seed, START_MS)!;
  const run = openKeptRun(folder, result, network);
  const version = '0.0.0-test';
  const server = await startServer({ network, history, scenario, run, limits: 'off', version });
  onTestFinished(async () => {
    await server.close();
    await history.close();
    await network.close();
  });
  const ids = scenario?.groups.flatMap(({ agents }) => agents) ?? [];
  return { there: new World({ url: server.url, wsUrl: '' }), history, network, ids };
}

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
