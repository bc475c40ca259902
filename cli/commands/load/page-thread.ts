/** Thread that serves the page of a load run, so that its requests do not delay the load. */
import { parentPort, workerData } from 'node:worker_threads';
import { Board, loadControl, type RunStage, startLoadServer } from '../../../api/load-server.js';
import type { FromPage, PageSetting, ToPage } from './page.js';

const { host, port, load } = workerData as PageSetting;
const tell = (message: FromPage) => parentPort!.postMessage(message);

let standing: RunStage = load.phase === 'waiting' ? 'waiting' : 'going';
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
