/**
 * Exit codes, errors and signals for the command line. The same mistake results in the same exit
 * code in every command. A wrong option, or a path that is wrong or not permitted, is a usage error
 * (2). Data that is damaged or locked, and a failed disk, are failures (13).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  defineFailures,
  Failure,
  type FailureSource,
  type MessageArguments,
  maskCredentials,
  withFix,
} from '../../engine/protocol/messages.js';
import { exitProcess } from '../../engine/store/process-end.js';
import { onFinished } from './io.js';
import { listenMessages, outputMessages, refusedMessages, usageMessages } from './messages.js';
import { isStructured, wrapWords, writeMessage, writeStderr } from './output.js';

export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  noProgress: 10,
  safety: 11,
  differs: 12,
  crash: 13,
  invalid: 14,
  failOn: 15,
  unanswered: 16,
  unmeasured: 17,
  emptyResponse: 18,
} as const;

/** Exit code meanings, for the help and the README. */
const exitCodeTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'success',
  refused: 'server refused the request, is unreachable, or cannot listen on its address',
  usage:
    'usage error: invalid option, or a path that is missing, not permitted or of the wrong type',
  noProgress: 'simulation without progress: the network stopped deciding blocks',
  safety: 'safety violation: the network broke a rule, or honest agents decided differently',
  differs: 'mismatch: replay, second run, cluster nodes, certificate or rule check differ',
  crash: 'crash, or data is damaged or locked by another process, or the disk failed',
  invalid:
    'load run without valid figures: INVALID, CLIENT_BOUND or WORKLOAD_BOUND; or load compare ' +
    'with the result of such a run, or of one that is INCOMPLETE',
  failOn: 'load run met a condition of --fail-on',
  unanswered: 'answer of an external decider is missing, or no calls are left',
  unmeasured: 'load run does not measure a figure of --fail-on or --slo',
  emptyResponse: 'sweep with a response that no run has a value for',
};

/** Width of the column before a code's meaning. */
const INDENT = 6;
const COLUMNS = 80;

export function exitCodesHelp(): string {
  const rows = Object.entries(exitCodes).map(([name, code]) => {
    const text = exitCodeTexts[name as keyof typeof exitCodes];
    const lines = wrapWords(text, COLUMNS - INDENT);
    return `  ${String(code).padEnd(INDENT - 2)}${lines.join(`\n${' '.repeat(INDENT)}`)}`;
  });
  return `Exit codes of all commands:\n\n${rows.join('\n')}\n`;
}

type UsageKey = keyof typeof usageMessages;

/** Error for a wrong option, argument, file or folder: exit code 2. */
export class UsageError<Key extends UsageKey = UsageKey> extends Failure<Key> {
  override name = 'UsageError';

  constructor(code: Key, ...[values, options]: MessageArguments<(typeof usageMessages)[Key]>) {
    super('user', code, withFix(usageMessages[code], values ?? {}), options);
    this.values = values ?? {};
  }

  /** Values of the message, such as the option at fault. */
  readonly values: Readonly<Record<string, string | number>>;
}

/** Error for a request that a server refuses: exit code 1. */
export const refusedError = defineFailures('server', refusedMessages);

/** Error for a server that cannot start or cannot listen on its address: exit code 1. */
export const listenError = defineFailures('server', listenMessages);

/** Error for a failure to write to standard output: exit code 13. */
export const outputError = defineFailures('output', outputMessages);

/** Returns where an expected failure comes from, or undefined for a bug. */
function sourceOf(error: unknown): FailureSource | undefined {
  const { source } = error instanceof Error ? (error as Partial<Failure>) : {};
  return source !== undefined && Object.hasOwn(codes, source) ? source : undefined;
}

export const isUsage = (error: unknown) =>
  sourceOf(error) === 'user' ||
  (sourceOf(error) === 'storage' && isNamedWrongly(error as StoreFailure));

interface StoreFailure extends Error {
  code: string;
  cause?: { code?: string };
}

/** Codes for a missing or a different network's folder. The user probably meant another folder. */
const wrongName: ReadonlySet<string> = new Set(['MISSING', 'OTHER_NETWORK']);
/** System errors that a different file path avoids. Any other system error is a machine fault. */
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

const codes: Readonly<Record<FailureSource, number>> = {
  user: exitCodes.usage,
  server: exitCodes.refused,
  storage: exitCodes.crash,
  decider: exitCodes.unanswered,
  measures: exitCodes.unmeasured,
  output: exitCodes.crash,
};

/** Prints an error: one line if expected, the stack for a bug. @returns the exit code. */
export function report(error: unknown): number {
  const source = sourceOf(error);
  const text = `${source === undefined && error instanceof Error ? error.stack : messageOf(error)}`;
  const code = source === undefined ? exitCodes.crash : exitCodeOf(error, source);
  if (isStructured()) {
    const { problem, code: key, fix: advice } = error as Partial<Record<string, unknown>>;
    const other = code === exitCodes.usage ? 'USAGE' : 'INTERNAL_ERROR';
    const named = [problem, key].find((one) => typeof one === 'string') ?? other;
    const message = { type: 'error', code: named, exit_code: code, message: text, advice };
    writeMessage(message);
  } else {
    // Only lines that the error lists are lines: a value can contain a line break.
    const listed = source && (error as { lines?: string[] }).lines?.map(maskCredentials);
    const [first, ...more] = source ? (listed ?? [text]) : faultLines(error);
    writeStderr(`folkmoot: ${first}`, ...more);
  }
  return code;
}

/** Returns a bug's message and stack. A line break in the message starts no line. */
export function faultLines(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return [`${error.name}: ${messageOf(error)}`, ...frames];
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? maskCredentials(error.message) : String(error);

const exitCodeOf = (error: unknown, source: FailureSource): number =>
  isUsage(error) ? exitCodes.usage : codes[source];

/** Interval between checks of the parent process. */
const PARENT_LOOK_MS = 250;

/**
 * Treats parent process exit as SIGTERM, under npm and under a program that reads messages. npx and
 * npm run a command through a shell and send signals to that shell, which may exit without
 * forwarding the signals.
 */
function onParentGone(call: () => void): void {
  const isDriven = isStructured() || process.env.npm_execpath !== undefined;
  if (!isDriven || process.platform === 'win32') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    call();
  }, PARENT_LOOK_MS);
  timer.unref();
  onFinished(() => clearInterval(timer));
}

/**
 * Signals that stop a command. Windows has no SIGTERM from outside, but Ctrl+Break (SIGBREAK), and
 * SIGHUP when its console closes.
 */
export const stopSignals = (platform = process.platform): readonly NodeJS.Signals[] =>
  platform === 'win32' ? ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];

/** Returns a `signal` that aborts on SIGINT or SIGTERM, and `end`, which exits with that signal. */
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
  const signals = stopSignals();
  for (const name of signals) process.once(name, handle);
  onFinished(ignore);
  onParentGone(() => handle('SIGTERM'));
  // Windows can send itself only these two.
  const own = () => (by === 'SIGINT' ? by : 'SIGTERM');
  const end = () => {
    ignore();
    process.kill(process.pid, own());
  };
  return { signal: controller.signal, end };
}

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/*
 * Stops a server on SIGTERM or SIGINT, or when the parent npx process exits. The first signal
 * closes everything in reverse order of opening. A second signal exits at once.
 */

type Close = () => Promise<unknown>;

export class StopSignal {
  readonly #closers: Close[] = [];
  #by: NodeJS.Signals | null = null;
  #resolve!: (by: NodeJS.Signals) => void;
  readonly #aborting = new AbortController();
  /** Aborted at the first signal. */
  readonly signal: AbortSignal = this.#aborting.signal;
  /** Resolves at the first signal. */
  readonly requested = new Promise<NodeJS.Signals>((resolve) => {
    this.#resolve = resolve;
  });

  /** Installs the signal handlers. Call the constructor before opening or printing anything. */
  constructor() {
    const handle = (signal: NodeJS.Signals) => {
      if (this.#by !== null) return exitProcess(exitCodes.refused);
      this.#by = signal;
      this.#aborting.abort();
      this.#resolve(signal);
    };
    for (const name of stopSignals()) process.on(name, handle);
    // Parent process exit never counts as a second signal.
    onParentGone(() => this.#by ?? handle('SIGTERM'));
  }

  /** Returns true if a signal has arrived. Yields first, so that a pending signal is handled. */
  async isAsked(): Promise<boolean> {
    await nextTurn();
    return this.#by !== null;
  }

  /** Registers a close function. The function registered last runs first. */
  opened(close: Close): void {
    this.#closers.unshift(close);
  }

  async closeAll(): Promise<void> {
    for (const close of this.#closers) await close();
  }
}
