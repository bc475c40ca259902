/**
 * The thread that serves the page of a load run: whoever looks takes no time from the one that
 * keeps the schedule.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Board } from '../../../../api/load/board.js';
import { loadControl, type Standing } from '../../../../api/load/control.js';
import { startLoadServer } from '../../../../api/load/server.js';
import type { FromPage, PageSetting, ToPage } from './messages.js';

const { host, port, load } = workerData as PageSetting;
const tell = (message: FromPage) => parentPort!.postMessage(message);

let standing: Standing = load.phase === 'waiting' ? 'waiting' : 'going';
const control = loadControl(
  () => standing,
  (what) => {
    standing = 'going';
    tell({ is: 'asked', what });
  },
);
const board = new Board(load, (watched) => tell({ is: 'watched', watched }));

try {
  const server = await startLoadServer({ board, control, host, port });
  parentPort!.on('message', async ({ do: what, load: shown }: ToPage) => {
    if (what === 'end') standing = 'over';
    board.post(shown, what === 'end');
    if (what !== 'end') return;
    await board.seen();
    await server.close();
    parentPort!.close();
  });
  tell({ is: 'listening', page: server.page });
} catch (error) {
  tell({ is: 'problem', message: (error as Error).message });
  parentPort!.close();
}
