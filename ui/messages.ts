/**
 * Error messages for the page, its workers and exported files, and the error class that carries
 * such a message.
 */
import { formatMessage, type MessageTable, type ValuesOf } from '../engine/protocol/messages.js';

const pageMessages = {
  // Requests and the connection.
  SERVER_UNREACHABLE: {
    text: 'the server is not responding',
    fix: 'if the server was stopped, start it again',
  },
  SERVER_MESSAGE: { text: '{message} (HTTP {status})' },
  SERVER_REFUSED: { text: '{message}' },
  SERVER_STATUS: { text: 'the server answered {status} to {path}' },
  CONNECTION_CLOSED: { text: 'connection to the server closed' },
  SERVER_SILENT: { text: 'no message from the server for {seconds} s' },
  CONTROL_FAILED: { text: 'clock control failed: {message}' },
  PLAYER_NOT_LOADED: { text: 'part of this page failed to load', fix: 'the page retries' },
  VIEW_NOT_LOADED: { text: 'failed to load the view: {view}', fix: 'reload the page' },
  // Entries and snapshots.
  ENTRY_NOT_FOUND: { text: 'entry not found on the server: {entry}' },
  ENTRY_UNKNOWN: { text: 'unknown entry: {entry}', fix: 'the last entry is {last}' },
  ENTRY_TOO_NEW: { text: 'no entry {entry} yet', fix: 'showing the newest entry, {newest}' },
  LOG_BEING_READ: { text: 'the server is still reading the log' },
  SNAPSHOT_PENDING: { text: 'waiting for the server: {message}' },
  HISTORY_REPLACED: {
    text: 'the server restarted with a different history',
    fix: 'this page now shows the new history',
  },
  // Exported files.
  FILE_DAMAGED: { text: 'the file is incomplete or modified', fix: 'download it again' },
  FILE_PART_MISSING: { text: 'part missing from the file: {part}' },
  FILE_NOT_SHOWN: {
    text: 'cannot show this file: {message}',
    fix: 'download it again, or open it in a newer browser',
  },
  NOT_IN_FILE: {
    text: 'not in this file',
    fix: 'run npx folkmoot explore on the folder of the run',
  },
  PAST_NOT_IN_FILE: {
    text: 'this file has only the last state of each agent',
    fix: 'run npx folkmoot explore on the folder of the run',
  },
  // Memes.
  MEME_TOO_LARGE: { text: 'meme too large: more than {limit} MiB' },
  IMAGE_TOO_LARGE: {
    text: 'image too large: {width} × {height} pixels (at most {side} pixels per side)',
  },
  IMAGE_DAMAGED: { text: 'damaged image: this browser cannot decode it' },
  // Recomputation.
  VERIFIER_NOT_LOADED: { text: 'the verifier failed to load', fix: 'reload the page' },
  ENTRY_DIVERGES: {
    text: 'entry {entry} does not match the log: {field} is {found}, expected {expected}',
  },
  RULE_NOT_RUN: {
    text: 'this page does not run the decision rule: {policy}',
    fix: 'run npx folkmoot replay or certify on the folder of the network',
  },
  CERTIFICATE_INVALID: { text: 'invalid certificate: {message}' },
  // Pasted requests.
  REQUEST_TOO_LONG: {
    text: 'request too long: {length} bytes as JSON (limit {limit} MiB)',
    fix: 'paste one request',
  },
  REQUEST_NOT_JSON: { text: 'invalid JSON: {message}' },
  REQUEST_INCOMPLETE: {
    text: 'missing method, target or headers',
    fix: 'if you have only a body, paste its request line and headers above it',
  },
  REQUEST_LINE_INVALID: {
    text: 'invalid request line: {line}',
    fix: 'begin with a method and a path, such as POST /api/v1/consensus/vote',
  },
  HEADER_INVALID: {
    text: 'invalid header: {line}',
    fix: 'put an empty line between headers and body',
  },
  QUOTE_OPEN: { text: 'unclosed quote in the command' },
  BODY_IN_FILE: { text: 'body in a file: {file}', fix: 'paste the content of the file' },
  ADDRESS_MISSING: { text: 'no address in the command' },
  ADDRESS_INVALID: { text: 'invalid address: {address}' },
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
