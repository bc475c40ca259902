/**
 * Message tables contain the texts of refusals, errors and verdicts as data, one table per
 * subsystem.
 *
 * A row says what is wrong (including the value) and what to do about it. Names in braces are
 * placeholders. The compiler checks that each call passes exactly the values that the row names.
 * Tests assert a row's key, so its wording can be improved without changing a test.
 *
 *     const storeMessages = {
 *       FOLDER_IN_USE: { code: 'LOCKED', text: 'folder in use: {path}', fix: 'stop its server' },
 *     } as const satisfies MessageTable;
 */

/** A message and its fix. A table may add a status, an exit code or a category. */
export interface MessageRow {
  /** Lower case, without a period, such as `unknown block: {hash}`. */
  readonly text: string;
  /** An instruction, such as `read the open blocks from /network/blocks`. */
  readonly fix?: string;
}

export type MessageTable = Readonly<Record<string, MessageRow>>;

type Placeholder<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

/** The placeholder names that a row uses. */
export type MessageNames<Row extends MessageRow> = Placeholder<Row['text'] | Row['fix']>;

/** One value per placeholder in a row. */
export type MessageValues<Row extends MessageRow> = Readonly<
  Record<MessageNames<Row>, string | number>
>;

/**
 * The last argument to a function that formats a row; absent if the row contains no placeholders.
 */
export type ValuesOf<Row extends MessageRow> = [MessageNames<Row>] extends [never]
  ? [values?: Record<never, never>]
  : [values: MessageValues<Row>];

/** Arguments that follow the key in a function that creates an error. */
export type MessageArguments<Row extends MessageRow> = [MessageNames<Row>] extends [never]
  ? [values?: Record<never, never>, options?: ErrorOptions]
  : [values: MessageValues<Row>, options?: ErrorOptions];

/** Where a failure comes from. The exit code of a command follows from it. */
export type FailureSource = 'user' | 'server' | 'storage' | 'decider' | 'measures' | 'output';

/** An expected failure, with a message out of a table. All other errors are bugs. */
export class Failure<Problem extends string = string> extends Error {
  override name = 'Failure';

  /** @internal */
  constructor(
    readonly source: FailureSource,
    /** Stable key of the message. */
    readonly problem: Problem,
    message: string | FormattedMessage,
    options?: ErrorOptions,
  ) {
    super(typeof message === 'string' ? message : message.text, options);
    if (typeof message !== 'string' && message.fix !== undefined) this.fix = message.fix;
  }

  /** The part of the message that says what to do. */
  readonly fix?: string;
}

/** A message, and the part of it that says what to do. */
export interface FormattedMessage {
  readonly text: string;
  readonly fix: string | undefined;
}

/** Defines the failures of one room, and returns the function that creates them. */
export const defineFailures =
  <const Table extends MessageTable>(source: FailureSource, table: Table) =>
  <Problem extends keyof Table & string>(
    problem: Problem,
    ...[values, options]: MessageArguments<Table[Problem]>
  ): Failure<Problem> =>
    new Failure(source, problem, withFix<MessageRow>(table[problem]!, values ?? {}), options);

/** Formats a row as `text; fix`. */
export function formatMessage<Row extends MessageRow>(
  row: Row,
  ...[values]: ValuesOf<Row>
): string {
  return withFix(row, (values ?? {}) as MessageValues<Row>).text;
}

/** Formats a row, and keeps what to do. */
export function withFix<Row extends MessageRow>(
  row: Row,
  values: MessageValues<Row>,
): FormattedMessage {
  const text = fill(row.text, values);
  if (row.fix === undefined) return { text, fix: undefined };
  const fix = fill(row.fix, values);
  return { text: `${text}; ${fix}`, fix };
}

/**
 * Masks user names and passwords in an address or a list of addresses. A password can contain any
 * character, so everything from the scheme to the last `@` is masked.
 */
export function maskCredentials(text: string): string {
  const scheme = text.indexOf('://');
  const end = text.lastIndexOf('@');
  return scheme < 0 || end < scheme ? text : `${text.slice(0, scheme)}://***${text.slice(end)}`;
}

/** Parts of each text: literals, with a placeholder's name between two literals. */
const partsOfTexts = new Map<string, readonly string[]>();

/** Fills in the placeholders that have a value. Tables are data, so few texts are kept. */
function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  let parts = partsOfTexts.get(text);
  if (!parts) {
    parts = text.split(/\{(\w+)\}/);
    partsOfTexts.set(text, parts);
  }
  let filled = parts[0]!;
  for (let index = 1; index < parts.length; index += 2) {
    const name = parts[index]!;
    filled += Object.hasOwn(values, name) ? maskCredentials(String(values[name])) : `{${name}}`;
    filled += parts[index + 1];
  }
  return filled;
}

/** Error codes of the operating system, in words. */
const systemErrors: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'a file with this name already exists',
  EISDIR: 'it is a folder, not a file',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'no such file or folder',
  ENOSPC: 'no space left on the disk',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
};

/**
 * Describes an error of the operating system in words, with its code. Returns the message of any
 * other error.
 */
export function describeSystemError(error: unknown): string {
  const { code, message = String(error) } = error as { code?: unknown; message?: string };
  const known = typeof code === 'string' ? systemErrors[code] : undefined;
  return known === undefined ? message : `${known} (${code})`;
}
