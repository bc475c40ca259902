/** Worker thread that parses forms. It may be terminated, or crash in its library, at any time. */
import { parentPort } from 'node:worker_threads';
import { type FormTask, parseForm } from './form-parser.js';

parentPort!.on('message', (task: FormTask) => {
  void parseForm(task).then((form) => parentPort!.postMessage(form));
});
