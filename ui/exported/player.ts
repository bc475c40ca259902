/**
 * The worker in an exported file. It also answers the requests that a server would otherwise
 * answer.
 */
import { runWorker } from '../player/run-worker.js';
import { ArchivedRun, type ArchiveRequest, answerRequest } from './run.js';

runWorker((run) => new ArchivedRun(run as ArrayBuffer), {
  kept: async ({ source }, asked: ArchiveRequest) =>
    answerRequest(await (source as ArchivedRun).run, asked),
});
