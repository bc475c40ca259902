/** How the command line ends: codes, and one line for what went wrong. */

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

/** Standard output cannot be written. */
export class OutputError extends Error {
  override name = 'OutputError';
}

/** By name: their classes come with the engine, which starts three times as slowly as the rest. */
const named = (error: unknown, ...names: string[]) =>
  error instanceof Error && names.includes(error.name);

/** Whether a user can mend it: a wrong option, condition, scenario or folder. */
const isUsage = (error: unknown) =>
  named(error, 'UsageError', 'ScenarioError', 'SweepError', 'ConditionError');

/** Whether a server is to blame. */
const isRemote = (error: unknown) => named(error, 'RemoteError', 'LoadError');

/** Whether a folder cannot be used, or the disk. */
export const isStore = (error: unknown) => named(error, 'StoreError');

/** Ends the process: one line for what a user can mend, a stack for what is our fault. */
export function fail(error: unknown): never {
  const known = isUsage(error) || isRemote(error) || isStore(error) || named(error, 'OutputError');
  const text = error instanceof Error ? (known ? error.message : error.stack) : String(error);
  process.stderr.write(`folkmoot: ${text}\n`);
  if (isRemote(error)) process.exit(exitCodes.refused);
  process.exit(isUsage(error) ? exitCodes.usage : exitCodes.crash);
}
