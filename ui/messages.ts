/**
 * Error messages for the page, its workers and exported files, and the error classes that carry
 * such a message.
 */
import { formatMessage, type MessageTable, type ValuesOf } from '../engine/protocol/messages.js';

const pageMessages = {
  SERVER_UNREACHABLE: 'the server is not responding; if the server was stopped, start it again',
  SERVER_REFUSED: '{message}',
  SERVER_STATUS: 'the server answered {status} to {path}',
  CONNECTION_CLOSED: 'connection to the server closed',
  SERVER_SILENT: 'no message from the server for {seconds} s',
  CONTROL_FAILED: 'clock control failed: {message}',
  PLAYER_NOT_LOADED: 'part of this page failed to load; the page retries',
  VIEW_NOT_LOADED: 'failed to load the view: {view}; reload the page',
  ENTRY_NOT_FOUND: 'entry not found on the server: {entry}',
  ENTRY_UNKNOWN: 'unknown entry: {entry}; the last entry is {last}',
  ENTRY_TOO_NEW: 'no entry {entry} yet; showing the newest entry, {newest}',
  LOG_BEING_READ: 'the server is still reading the log',
  SNAPSHOT_PENDING: 'waiting for the server: {message}',
  HISTORY_REPLACED:
    'the server restarted with a different history; this page now shows the new history',
  FILE_DAMAGED: 'the file is incomplete or modified; download it again',
  FILE_PART_MISSING: 'part missing from the file: {part}',
  FILE_NOT_SHOWN:
    'cannot show this file: {message}; download it again, or open it in a newer browser',
  NOT_IN_FILE: 'not in this file; run npx folkmoot explore on the folder of the run',
  PAST_NOT_IN_FILE: `this file has only the last state of each agent;
    run npx folkmoot explore on the folder of the run`,
  MEME_TOO_LARGE: 'meme too large: more than {limit} MiB',
  IMAGE_TOO_LARGE: 'image too large: {width} × {height} pixels (at most {side} pixels per side)',
  IMAGE_DAMAGED: 'damaged image: this browser cannot decode it',
  VERIFIER_NOT_LOADED: 'the verifier failed to load; reload the page',
  ENTRY_DIVERGES: 'entry {entry} does not match the log: {field} is {found}, expected {expected}',
  RULE_NOT_RUN: `this page does not run the decision rule: {policy};
    run npx folkmoot replay or certify on the folder of the network`,
  CERTIFICATE_INVALID: 'invalid certificate: {message}',
  REQUEST_TOO_LONG:
    'request too long: {length} bytes as JSON (limit {limit} MiB); paste one request',
  REQUEST_NOT_JSON: 'invalid JSON: {message}',
  REQUEST_INCOMPLETE: `missing method, target or headers;
    if you have only a body, paste its request line and headers above it`,
  REQUEST_LINE_INVALID: `invalid request line: {line};
    begin with a method and a path, such as POST /api/v1/consensus/vote`,
  HEADER_INVALID: 'invalid header: {line}; put an empty line between headers and body',
  QUOTE_OPEN: 'unclosed quote in the command',
  BODY_IN_FILE: 'body in a file: {file}; paste the content of the file',
  ADDRESS_MISSING: 'no address in the command',
  ADDRESS_INVALID: 'invalid address: {address}',
} as const satisfies MessageTable;

type Messages = typeof pageMessages;
export type PageProblem = keyof Messages;
export type PageValues<P extends PageProblem> = ValuesOf<Messages[P]>;

/** Formats a message as text, without throwing an error. */
export const pageText = <P extends PageProblem>(problem: P, ...values: PageValues<P>): string =>
  formatMessage(pageMessages[problem], ...values);

export class PageError<P extends PageProblem = PageProblem> extends Error {
  override name = 'PageError';
  readonly problem: P;

  constructor(problem: P, ...values: PageValues<P>) {
    super(pageText(problem, ...values));
    this.problem = problem;
  }
}

interface Refusal {
  status: number;
  reason?: string;
  details?: Readonly<Record<string, unknown>>;
}

/** Error for a request that was refused or got no response. */
export class RefusedError<P extends PageProblem = PageProblem> extends PageError<P> {
  override name = 'RefusedError';
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** Reason code from the server; '' if the response contains none. */
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    problem: P,
    { status, reason = '', details = {} }: Refusal,
    ...values: PageValues<P>
  ) {
    super(problem, ...values);
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

/** Returns the response if the server accepted the request. @throws {RefusedError} */
export async function accepted(ask: () => Promise<Response>, path: string): Promise<Response> {
  const answer = await ask().catch(() => {
    throw new RefusedError('SERVER_UNREACHABLE', { status: 0 });
  });
  if (answer.ok) return answer;
  const { status } = answer;
  const text = await answer.text().catch(() => '');
  let error: { message: string; details: { reason: string; [member: string]: unknown } };
  try {
    ({ error } = JSON.parse(text) as { error: typeof error });
    error = { message: error.message.slice(0, 400), details: { ...error.details } };
  } catch {
    // The response may come from a proxy.
    throw new RefusedError('SERVER_STATUS', { status }, { status, path });
  }
  const { message, details } = error;
  throw new RefusedError(
    'SERVER_REFUSED',
    { status, reason: details.reason, details },
    { message },
  );
}
