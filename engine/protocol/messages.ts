/**
 * Message tables contain the texts of refusals, errors and verdicts as data, one table per
 * subsystem.
 *
 * A message says what is wrong (including the value) and, after the first semicolon, what to do
 * about it. Names in braces are placeholders; a line break stands for a space. The compiler checks
 * that each call passes exactly the values that the message names. Tests assert a message's key, so
 * its wording can be improved without changing a test.
 *
 *     const blockMessages = {
 *       UNKNOWN_BLOCK: 'unknown block: {hash}; read the open blocks from /network/blocks',
 *     } as const satisfies MessageTable;
 */
export type MessageTable = Readonly<Record<string, string>>;

/** Messages by category, such as a status, and then by key. A key occurs once. */
export type MessageGroups = Readonly<Record<string, MessageTable>>;

/** Keys of the messages in all groups. */
export type KeyIn<Groups> = { [Group in keyof Groups]: keyof Groups[Group] & string }[keyof Groups];

/** Message of a key in one of the groups. */
export type MessageIn<Groups, Key> = {
  [Group in keyof Groups]: Key extends keyof Groups[Group] ? Groups[Group][Key] : never;
}[keyof Groups] &
  string;

/** Returns each message with its category, by key. */
export function indexGroups<const Groups extends MessageGroups>(groups: Groups) {
  const rows = Object.entries(groups).flatMap(([category, table]) =>
    Object.entries(table).map(([key, message]) => [key, { category, message }] as const),
  );
  return Object.fromEntries(rows) as Record<
    KeyIn<Groups>,
    { category: keyof Groups & string; message: string }
  >;
}

type Placeholder<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

/** One value per placeholder in a message. */
export type MessageValues<Message extends string> = Readonly<
  Record<Placeholder<Message>, string | number>
>;

/** The last argument of a function that formats a message; absent without placeholders. */
export type ValuesOf<Message extends string> = [Placeholder<Message>] extends [never]
  ? [values?: Record<never, never>]
  : [values: MessageValues<Message>];

/** Arguments that follow the key in a function that creates an error. */
export type MessageArguments<Message extends string> = [Placeholder<Message>] extends [never]
  ? [values?: Record<never, never>, options?: ErrorOptions]
  : [values: MessageValues<Message>, options?: ErrorOptions];

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
    new Failure(source, problem, withFix(table[problem]!, values ?? {}), options);

/** Fills in the placeholders of a message. */
export const formatMessage = <Message extends string>(
  message: Message,
  ...[values]: ValuesOf<Message>
): string => fill(message, values ?? {});

/** Formats a message, and keeps what to do. */
export function withFix(
  message: string,
  values: Readonly<Record<string, string | number>>,
): FormattedMessage {
  const text = fill(message, values);
  const fix = /;[ \n]+(.*)$/s.exec(message)?.[1];
  return { text, fix: fix === undefined ? undefined : fill(fix, values) };
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
    parts = text.replaceAll(/\n */g, ' ').split(/\{(\w+)\}/);
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

/** Describes an operating system's error in words, with its code; any other by its message. */
export function describeSystemError(error: unknown): string {
  const { code, message = String(error) } = error as { code?: unknown; message?: string };
  const known = typeof code === 'string' ? systemErrors[code] : undefined;
  return known === undefined ? message : `${known} (${code})`;
}
