/**
 * Reads forms in a thread of their own, one after another: their bytes are a stranger's, and a
 * library that throws in a later turn, or never comes back, must not end or stop the process.
 */
import { Worker } from 'node:worker_threads';
import { limits, type Refusal, refuse } from '../../../engine/internal.js';
import type { FormTask, MemeUpload, ParsedForm } from './form-parse.js';

export type { MemeUpload };

/** A form of the largest size takes some milliseconds. */
const FORM_MS = 5_000;
/** Forms that wait, and what is held for them. */
const MOST_WAITING = 256;
const MOST_BYTES = 64 * 1024 * 1024;
/** Of the thread: what a form makes it hold. */
const THREAD_MEGABYTES = 64;

type FormResult = MemeUpload | { refusal: Refusal };

interface Waiting extends FormTask {
  /** The thread has ended once while it read this: perhaps because of the form before. */
  again: boolean;
  done(result: FormResult): void;
}

let worker: Worker | null = null;
const waiting: Waiting[] = [];
let bytes = 0;
let current: { task: Waiting; timer: NodeJS.Timeout } | null = null;

export function readForm(contentType: string, body: Uint8Array): Promise<FormResult> {
  if (waiting.length >= MOST_WAITING || bytes + body.length > MOST_BYTES) {
    return Promise.resolve({ refusal: refuse('QUEUE_FULL', 'too many forms wait; try again') });
  }
  return new Promise((done) => {
    waiting.push({ contentType, body, fileBytes: limits.memeFileBytes, again: false, done });
    bytes += body.length;
    next();
  });
}

function next(): void {
  if (current) return;
  const task = waiting.shift();
  if (!task) return;
  const timer = setTimeout(() => giveUp('the form takes too long to read'), FORM_MS);
  current = { task, timer };
  worker ??= started();
  worker.ref();
  const { contentType, body, fileBytes } = task;
  worker.postMessage({ contentType, body, fileBytes });
}

function started(): Worker {
  const thread = new Worker(new URL('./form-worker.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEGABYTES },
    // What the library prints is not shown.
    stdout: true,
    stderr: true,
  });
  thread.unref();
  thread.on('message', (form: ParsedForm) => {
    if (thread === worker) finish('problem' in form ? badForm(form.problem, form.pointer) : form);
  });
  thread.on('error', (error: Error) => {
    if (thread === worker) threadEnded(error.message);
  });
  thread.on('exit', () => {
    if (thread === worker) threadEnded('its reader ended');
  });
  return thread;
}

/** What the library throws later may be of the form before: the present one is tried again. */
function threadEnded(why: string): void {
  const task = current?.task;
  if (!task || task.again) return giveUp(`the form cannot be read: ${why}`);
  task.again = true;
  clearTimeout(current!.timer);
  current = null;
  worker = null;
  waiting.unshift(task);
  next();
}

/** The thread hangs or ended twice: the next form gets another. */
function giveUp(problem: string): void {
  const lost = worker;
  worker = null;
  void lost?.terminate();
  finish(badForm(problem));
}

function finish(result: FormResult): void {
  if (!current) return;
  const { task, timer } = current;
  clearTimeout(timer);
  current = null;
  bytes -= task.body.length;
  worker?.unref();
  task.done(result);
  next();
}

const badForm = (message: string, pointer = '') => ({
  refusal: refuse('SCHEMA', message, { pointer }),
});
