/**
 * How the command line ends: codes, one line for what went wrong, and signals that stop it. The
 * same mistake has the same code in every command: what was named wrongly, an option as a file, is
 * usage; what is as it was named, and damaged, held by another or not to be written, is a crash.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { exitProcess } from '../../engine/store/process-end.js';
import { onFinished } from './io.js';
import { writeStderr } from './output.js';

export const exitCodes = {
  done: 0,
  /** A server refused, nobody answered, or no server can be had. */
  refused: 1,
  usage: 2,
  noProgress: 10,
  /** The network broke one of its own rules. */
  safety: 11,
  differs: 12,
  crash: 13,
  /** A load run whose figures cannot be trusted. */
  invalid: 14,
  /** What --fail-on names has come true. */
  failOn: 15,
  /** An external decider's answer is needed, and no cassette has it, or no calls are left. */
  unanswered: 16,
  /** A condition of --fail-on or --slo is about a figure that the run does not measure. */
  unmeasured: 17,
} as const;

/** An option or argument that cannot be meant: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** A server does not do what is asked: exit code 1. */
export class RefusedError extends Error {
  override name = 'RefusedError';
}

/** Where a server was to listen, it cannot: exit code 1. */
export class ListenError extends Error {
  override name = 'ListenError';
}

/** Standard output cannot be written. */
export class OutputError extends Error {
  override name = 'OutputError';
}

/** By name: their classes come with the engine, which starts three times as slowly as the rest. */
const named = (error: unknown, ...names: string[]) =>
  error instanceof Error && names.includes(error.name);

/** Whether a user can mend it: a wrong option, condition, scenario or folder. */
const isUsage = (error: unknown) =>
  named(error, 'UsageError', 'ScenarioError', 'SweepError', 'ConditionError') ||
  named(error, 'EtcdAddressError', 'QueueError') ||
  (isStore(error) && isNamedWrongly(error as StoreFailure));

/** Whether a server is to blame, or none can be had. */
const isRemote = (error: unknown) =>
  named(error, 'RemoteError', 'LoadError', 'RefusedError', 'ListenError') ||
  named(error, 'EtcdError', 'OrderError');

/** Whether nobody was there, or might be asked, to decide. */
const isUnanswered = (error: unknown) => named(error, 'DeciderError');

/** Whether a condition is about what is not measured. */
const isUnmeasured = (error: unknown) => named(error, 'UnmeasuredError');

/** Whether a file or folder cannot be used, or the disk. */
const isStore = (error: unknown) => named(error, 'StoreError');

interface StoreFailure extends Error {
  code: string;
  cause?: { code?: string };
}

/** What is not there, or holds something else: another one was meant. */
const wrongName: ReadonlySet<string> = new Set(['MISSING', 'OTHER_NETWORK']);
/** Why what is there cannot be used, where another one can: all else is the machine's fault. */
const wrongPlace: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EEXIST',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'EROFS',
]);

const isNamedWrongly = ({ code, cause }: StoreFailure): boolean =>
  wrongName.has(code) || (code === 'UNREADABLE' && wrongPlace.has(cause?.code));

function codeOf(error: unknown): number {
  if (isRemote(error)) return exitCodes.refused;
  if (isUnanswered(error)) return exitCodes.unanswered;
  if (isUnmeasured(error)) return exitCodes.unmeasured;
  return isUsage(error) ? exitCodes.usage : exitCodes.crash;
}

/**
 * Says what went wrong: one line for what a user can mend, a stack for what is our fault.
 * @returns the exit code.
 */
export function report(error: unknown): number {
  const known = [isUsage, isRemote, isStore, isUnanswered, isUnmeasured].some((is) => is(error));
  if (known || named(error, 'OutputError')) writeStderr(`folkmoot: ${(error as Error).message}`);
  else writeStderr(...`folkmoot: ${error instanceof Error ? error.stack : error}`.split('\n'));
  return codeOf(error);
}

/** How often the parent is looked at. */
const PARENT_LOOK_MS = 250;

/**
 * npx and npm run a command through a shell, to which they pass a signal on; that shell may die of
 * it silently. So under npm, and only there, a parent that is gone is a SIGTERM.
 */
function onParentGone(call: () => void): void {
  if (process.env.npm_execpath === undefined || process.platform === 'win32') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    call();
  }, PARENT_LOOK_MS);
  timer.unref();
  onFinished(() => clearInterval(timer));
}

/** `signal` aborts at the first signal; `end` then dies by it. */
export function interruption(): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  let by: NodeJS.Signals = 'SIGINT';
  const ignore = () => {
    for (const name of signals) process.off(name, handle);
  };
  const handle = (signal: NodeJS.Signals) => {
    by = signal;
    ignore();
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const name of signals) process.once(name, handle);
  onFinished(ignore);
  onParentGone(() => handle('SIGTERM'));
  return { signal: controller.signal, end: () => process.kill(process.pid, by) };
}

/*
 * Stopping a server by SIGTERM or SIGINT, or when the npx that started it is gone, at any time: the
 * first asks for it, and what was opened is closed in good order; a second signal ends at once.
 */

type Close = () => Promise<unknown>;

export class StopSignal {
  readonly #closers: Close[] = [];
  #by: NodeJS.Signals | null = null;
  #resolve!: (by: NodeJS.Signals) => void;
  readonly #aborting = new AbortController();
  /** Aborted at the first signal. */
  readonly signal: AbortSignal = this.#aborting.signal;
  /** Resolves then. */
  readonly requested = new Promise<NodeJS.Signals>((resolve) => {
    this.#resolve = resolve;
  });

  /** Signals are handled from here on: before anything is opened, or printed. */
  constructor() {
    const handle = (signal: NodeJS.Signals) => {
      if (this.#by !== null) return exitProcess(exitCodes.refused);
      this.#by = signal;
      this.#aborting.abort();
      this.#resolve(signal);
    };
    process.on('SIGTERM', handle);
    process.on('SIGINT', handle);
    // After a signal it is no second one.
    onParentGone(() => this.#by ?? handle('SIGTERM'));
  }

  /** Whether to start nothing more. What keeps the thread busy keeps signals waiting for a turn. */
  async isAsked(): Promise<boolean> {
    await nextTurn();
    return this.#by !== null;
  }

  /** Notes how something is closed; what was opened last is closed first. */
  opened(close: Close): void {
    this.#closers.unshift(close);
  }

  async closeAll(): Promise<void> {
    for (const close of this.#closers) await close();
  }
}
