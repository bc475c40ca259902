/** A thread that reads forms. It may be ended at any time, also by what its library throws. */
import { parentPort } from 'node:worker_threads';
import { type FormTask, parseForm } from './form-parser.js';

parentPort!.on('message', (task: FormTask) => {
  void parseForm(task).then((form) => parentPort!.postMessage(form));
});
