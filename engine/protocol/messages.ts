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

/** Formats a row as `text; fix`. */
export function formatMessage<Row extends MessageRow>(
  row: Row,
  ...[values]: ValuesOf<Row>
): string {
  const known = (values ?? {}) as Record<string, string | number>;
  const fill = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) =>
      Object.hasOwn(known, name) ? String(known[name]) : placeholder,
    );
  return row.fix === undefined ? fill(row.text) : `${fill(row.text)}; ${fill(row.fix)}`;
}
