/** The worker of a run in one file: it has all of it, and is asked for what a server would be. */
import { work } from '../player/work.js';
import { type Asked, answerOf } from './answers.js';
import { Exported } from './source.js';

work((run) => new Exported(run as ArrayBuffer), {
  kept: async ({ source }, asked: Asked) => answerOf(await (source as Exported).run, asked),
});
