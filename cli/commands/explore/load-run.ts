/** `folkmoot explore` of what a load run left: its result on a page, as it stood when it ended. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ListenError, UsageError } from '../../output/exit.js';
import { print, printJson, say } from '../../output/output.js';
import { addressOf } from '../page/door.js';
import type { Stopping } from '../serve/stopping.js';
import { openIfWanted } from './browser.js';
import type { ExploreFlags } from './flags.js';

/** Whether it is of `load --out`: the only one whose folder has a result. */
export const isLoadRun = (folder: string): boolean => existsSync(join(folder, 'result.json'));

/** @throws {StoreError} when its result cannot be used. */
export async function exploreLoad(
  folder: string,
  flags: ExploreFlags,
  stopping: Stopping,
): Promise<void> {
  const is = `${folder} is of a load run`;
  if (flags.verify) throw new UsageError(`--verify recomputes a log, and ${is}, which has none`);
  if (flags.export) {
    throw new UsageError(`--export writes a network, and ${is}: its report.html is one file`);
  }
  const { readLoad } = await import('../../../bench/load/files/index.js');
  const { resultShown } = await import('../../../bench/load/shown/shown.js');
  const { Board } = await import('../../../api/load/board.js');
  const { loadControl } = await import('../../../api/load/control.js');
  const { startLoadServer } = await import('../../../api/load/server.js');
  const result = readLoad(folder);
  const board = new Board(resultShown(result));
  const control = loadControl(
    () => 'over',
    () => {},
  );
  const { host, port } = addressOf(flags);
  const onFault = (error: unknown) =>
    say(`folkmoot: a request failed: ${(error as Error).message}`);
  const { url, page, close } = await startLoadServer({ board, control, host, port, onFault }).catch(
    ({ message }: Error) => {
      throw new ListenError(message);
    },
  );
  stopping.opened(close);
  if (await stopping.isAsked()) return;
  const { verdict } = result;
  if (flags.json) printJson({ event: 'listening', url, page, folder, verdict });
  else print(`${page} shows ${folder}: a load run, ${verdict}; Ctrl+C to stop`);
  openIfWanted(page, flags);
}
