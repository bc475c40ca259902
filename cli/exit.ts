/** How the command line ends: codes, and one line for what went wrong. */
import { StoreError } from '../engine/index.js';

export const exitCodes = {
  done: 0,
  /** A server refused, or nobody answered. */
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
} as const;

/** An option or argument that cannot be meant: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Whether a user can mend it: a wrong option, condition, scenario or folder. */
const isUsage = (error: unknown) =>
  error instanceof UsageError ||
  (error instanceof Error &&
    ['ScenarioError', 'SweepError', 'ConditionError'].includes(error.name));

/** Whether a server is to blame. */
const isRemote = (error: unknown) =>
  error instanceof Error && ['RemoteError', 'LoadError'].includes(error.name);

/** Ends the process: one line for what a user can mend, a stack for what is our fault. */
export function fail(error: unknown): never {
  const known = error instanceof StoreError || isUsage(error) || isRemote(error);
  const text = error instanceof Error ? (known ? error.message : error.stack) : String(error);
  process.stderr.write(`folkmoot: ${text}\n`);
  if (isRemote(error)) process.exit(exitCodes.refused);
  process.exit(isUsage(error) ? exitCodes.usage : exitCodes.crash);
}
