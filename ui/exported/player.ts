/** The worker of a run in one file: it has all of it, and is asked for what a server would be. */
import { runWorker } from '../player/run-worker.js';
import { ArchivedRun, type ArchiveRequest, answerRequest } from './run.js';

runWorker((run) => new ArchivedRun(run as ArrayBuffer), {
  kept: async ({ source }, asked: ArchiveRequest) =>
    answerRequest(await (source as ArchivedRun).run, asked),
});
