/**
 * Parses multipart forms in a worker thread, one at a time. Forms are untrusted, so a parser that
 * throws in a later turn, or never returns, must not stop the process.
 */
import { Worker } from 'node:worker_threads';
import { Busboy } from '@fastify/busboy';
import { limits } from '../../engine/protocol/limits.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { excerpt } from '../../engine/protocol/text.js';

/** Timeout for one form. The largest form takes a few milliseconds. */
const FORM_MS = 5_000;
/** Limits on the queue. */
const MOST_WAITING = 256;
const MOST_BYTES = 64 * 1024 * 1024;
/** Heap limit for the worker. */
const THREAD_MEGABYTES = 64;

type FormResult = MemeUpload | { refusal: Refusal };

interface Waiting extends FormTask {
  /** True if the worker has already ended once during this form. */
  again: boolean;
  done(result: FormResult): void;
}

let worker: Worker | null = null;
const waiting: Waiting[] = [];
let bytes = 0;
let current: { task: Waiting; timer: NodeJS.Timeout } | null = null;

export function readForm(contentType: string, body: Uint8Array): Promise<FormResult> {
  if (waiting.length >= MOST_WAITING || bytes + body.length > MOST_BYTES) {
    return Promise.resolve({ refusal: refuse('FORMS_WAITING') });
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
  const timer = setTimeout(() => giveUp(`not read within ${FORM_MS} ms`), FORM_MS);
  current = { task, timer };
  worker ??= started();
  worker.ref();
  const { contentType, body, fileBytes } = task;
  worker.postMessage({ contentType, body, fileBytes });
}

function started(): Worker {
  const thread = new Worker(new URL('./form-parser-worker.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEGABYTES },
    // Discards what the library prints.
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
    if (thread === worker) threadEnded('the parser ended');
  });
  return thread;
}

/** A late exception may stem from the previous form, so the current form is retried once. */
function threadEnded(why: string): void {
  const task = current?.task;
  if (!task || task.again) return giveUp(`cannot be read: ${why}`);
  task.again = true;
  clearTimeout(current!.timer);
  current = null;
  worker = null;
  waiting.unshift(task);
  next();
}

/** Refuses the current form and terminates its worker. The next form starts a new worker. */
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

const badForm = (problem: string, pointer = '') => ({
  refusal: refuse('FORM_INVALID', { problem }, { pointer }),
});

interface MemeUpload {
  caption: string;
  tags: string[];
  signature: string;
  file: Uint8Array;
  unknown: string[];
}

export interface FormTask {
  contentType: string;
  body: Uint8Array;
  /** Largest accepted file. Reads one byte more, to detect a larger file. */
  fileBytes: number;
}

type ParsedForm = MemeUpload | { problem: string; pointer: string };

const FILE = 'meme_file';
/** Parts that a form may contain once. */
const once = new Set([FILE, 'caption', 'signature']);
const FIELD_BYTES = 16 * 1024;
const MOST_FIELDS = 32;
/** Event-loop turns after which the library has processed all bytes. */
const TURNS = 4;

/** Parses a form. Always settles. An exception in a later turn reaches the worker's owner. */
export function parseForm({ contentType, body, fileBytes }: FormTask): Promise<ParsedForm> {
  return new Promise((resolve) => {
    const bad = (problem: string, pointer = '') => resolve({ problem, pointer });
    const parser = open(contentType, fileBytes, bad);
    if (!parser) return;
    const fields = new Map<string, string[]>();
    const unknown = new Set<string>();
    const found: string[] = [];
    let file: Buffer | null = null;
    const add = (name: string) => {
      if (once.has(name) && found.includes(name)) bad(`${name} appears twice`, `/${name}`);
      if (!once.has(name) && name !== 'tags') unknown.add(name);
      found.push(name);
    };
    // Contrary to its types, the library passes undefined for a part without a name.
    parser.on('field', (given: string | undefined, value, _nameTruncated, valueTruncated) => {
      const name = given ?? '';
      add(name);
      if (name === FILE) bad(`${FILE} has no file name, so it is a text field`, `/${FILE}`);
      if (valueTruncated) bad(`field ${name} too large (limit ${FIELD_BYTES} bytes)`, `/${name}`);
      fields.set(name, [...(fields.get(name) ?? []), value]);
    });
    parser.on('file', (given: string | undefined, stream) => {
      const name = given ?? '';
      add(name);
      const chunks: Buffer[] = [];
      stream.on('error', (error: Error) => bad(`file cannot be read: ${error.message}`));
      stream.on('data', (chunk: Buffer) => name === FILE && chunks.push(chunk));
      stream.on('end', () => {
        if (name === FILE) file = Buffer.concat(chunks);
      });
    });
    parser.on('error', (error: Error) => bad(`cannot be read: ${error.message}`));
    parser.on('partsLimit', () => bad(`too many parts (limit ${MOST_FIELDS})`));
    parser.on('fieldsLimit', () => bad(`too many fields (limit ${MOST_FIELDS})`));
    parser.on('finish', () => {
      const tags = tagsOf(fields.get('tags') ?? []);
      if (!tags) return bad('tags must be a repeated field or a JSON array of strings', '/tags');
      if (!file) return bad(`missing file: ${FILE} (found ${listed(found)})`, `/${FILE}`);
      const first = (name: string) => fields.get(name)?.[0] ?? '';
      const [caption, signature] = [first('caption'), first('signature')];
      resolve({ caption, tags, signature, file, unknown: [...unknown] });
    });
    parser.end(body);
    afterTurns(TURNS, () => bad('incomplete: no closing boundary'));
  });
}

function open(
  contentType: string,
  fileBytes: number,
  bad: (problem: string) => void,
): InstanceType<typeof Busboy> | null {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: {
        fieldSize: FIELD_BYTES,
        fields: MOST_FIELDS,
        files: MOST_FIELDS,
        fileSize: fileBytes + 1,
        parts: MOST_FIELDS,
      },
    });
  } catch (error) {
    bad(`cannot be read: ${(error as Error).message}`);
    return null;
  }
}

function afterTurns(turns: number, then: () => void): void {
  if (turns === 0) then();
  else setImmediate(() => afterTurns(turns - 1, then));
}

/** Formats the names of the parts for a message. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_SHOWN).map((name) => excerpt(name));
  if (names.length > MOST_SHOWN) shown.push('...');
  return shown.join(', ') || 'no parts';
}

const MOST_SHOWN = 8;

function tagsOf(values: string[]): string[] | null {
  const [only] = values;
  if (values.length !== 1 || !only?.trimStart().startsWith('[')) return values;
  try {
    const parsed: unknown = JSON.parse(only);
    return Array.isArray(parsed) && parsed.every((tag) => typeof tag === 'string') ? parsed : null;
  } catch {
    return null;
  }
}
