/**
 * How the command line ends: codes, and one line for what went wrong. The same mistake has the same
 * code in every command: what was named wrongly, an option as a file, is usage; what is as it was
 * named, and damaged, held by another or not to be written, is a crash.
 */
import { exitProcess } from '../../engine/store/exit.js';
import { say } from './output.js';

export { exitProcess };

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

/** Ends the process: one line for what a user can mend, a stack for what is our fault. */
export function fail(error: unknown): void {
  const known = [isUsage, isRemote, isStore, isUnanswered, isUnmeasured].some((is) => is(error));
  if (known || named(error, 'OutputError')) say(`folkmoot: ${(error as Error).message}`);
  else say(...`folkmoot: ${error instanceof Error ? error.stack : error}`.split('\n'));
  exitProcess(codeOf(error));
}
