/** Client errors, and the table of their messages. */
import { formatMessage, type MessageTable, type ValuesOf } from '../../engine/protocol/messages.js';
import type { ErrorCode, Reason } from '../../engine/protocol/schema/reason.js';

const clientMessages = {
  NO_RESPONSE: 'no response from {url}: {cause}',
  FOREIGN_RESPONSE:
    'not a response of a folkmoot server: HTTP {status}; check the URL and any proxy',
  RESPONSE_UNSIGNED: `response signature missing or incomplete;
    start the server with a response key, or omit serverKey`,
  RESPONSE_KEY: 'unexpected response key: {key}; check serverKey',
  RESPONSE_UNREAD: 'the server answered {status} without reading the request',
  RESPONSE_SIGNATURE: 'invalid response signature',
  STREAM_CLOSED: 'connection closed with code {code}',
  NO_URL: 'no url; pass the URL of at least one server',
  INVALID_URL: 'invalid url: {url} (expected http:// or https://)',
  NO_KEYS: 'keys: missing or invalid; pass those of generateKeys, keysFromSeed or loadKeys',
  INVALID_KEY_TEXT: `keys: invalid text (expected JSON with public_key and private_key);
    create one with saveKeys or folkmoot keygen --out`,
  INVALID_PRIVATE_KEY: 'keys: invalid private_key (expected 64 hex characters)',
  KEY_MISMATCH: 'keys: public_key does not match private_key',
} as const satisfies MessageTable;

type ClientMessages = typeof clientMessages;
export type ClientProblem = keyof ClientMessages;

export const clientMessage = <K extends ClientProblem>(
  problem: K,
  ...values: ValuesOf<ClientMessages[K]>
): string => formatMessage(clientMessages[problem], ...values);

/** Builds a TypeError for an invalid argument, with the message key as `problem`. */
export const clientTypeError = <K extends ClientProblem>(
  problem: K,
  ...values: ValuesOf<ClientMessages[K]>
): TypeError => Object.assign(new TypeError(clientMessage(problem, ...values)), { problem });

/** `error` in a response envelope or an `error` message. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  details: { reason?: Reason; [member: string]: unknown };
}

/** Thrown if the server refused the request. */
export class ApiError extends Error {
  override name = 'ApiError';
  /** `INVALID_SIGNATURE`, `RATE_LIMITED`, `INVALID_AGENT`, `INVALID_REQUEST` or `NETWORK_ERROR`. */
  readonly code: ErrorCode;
  /** Null if a server other than folkmoot, such as a proxy, answered. */
  readonly reason: Reason | null;
  /** HTTP status. */
  readonly status: number;
  /** Members by reason: see docs/protocol.md. */
  readonly details: ErrorBody['details'];
  /** Id of the request in the server's log. */
  readonly request_id: string | null;
  /** Seconds to wait before a retry; null if the server gave no time. */
  readonly retryAfter: number | null;

  /** @internal */
  constructor(status: number, { code, message, details }: ErrorBody, retryAfter: string | null) {
    super(message);
    this.code = code;
    this.reason = details.reason ?? null;
    this.status = status;
    this.details = details;
    this.request_id = typeof details.request_id === 'string' ? details.request_id : null;
    // Browsers hide the header from other origins, so RATE_LIMITED repeats the time in its details.
    const seconds = Number(retryAfter ?? details.retry_after_s ?? Number.NaN);
    this.retryAfter = Number.isFinite(seconds) ? seconds : null;
  }
}

/** Thrown if no response arrived (connection failure or timeout). The outcome is unknown. */
export class UnreachableError extends Error {
  override name = 'UnreachableError';
}

/** Thrown if a response's signature is missing, invalid or made with an unexpected key. */
export class ResponseSignatureError extends Error {
  override name = 'ResponseSignatureError';
  /** Stable key of the message. */
  readonly problem: SignatureProblem;

  /** @internal */
  constructor(problem: SignatureProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** Problems with the signature of a response. */
export type SignatureProblem =
  | 'RESPONSE_UNSIGNED'
  | 'RESPONSE_KEY'
  | 'RESPONSE_UNREAD'
  | 'RESPONSE_SIGNATURE';

export const signatureError = <K extends SignatureProblem>(
  problem: K,
  ...values: ValuesOf<ClientMessages[K]>
): ResponseSignatureError => new ResponseSignatureError(problem, clientMessage(problem, ...values));

/** Thrown if an event stream ended with an error that a retry would not fix. */
export class StreamError extends Error {
  override name = 'StreamError';
  /** WebSocket close code; null if the server refused the subscription. */
  readonly closeCode: number | null;
  /** Code of the server's last error; null without an error. */
  readonly code: ErrorCode | null;
  /** Reason for the server's last error; null without an error. */
  readonly reason: Reason | null;
  /** Details from the server's last error. */
  readonly details: ErrorBody['details'];

  /** @internal */
  constructor(closeCode: number | null, error: ErrorBody | null) {
    super(error?.message ?? clientMessage('STREAM_CLOSED', { code: String(closeCode) }));
    this.closeCode = closeCode;
    this.code = error?.code ?? null;
    this.reason = error?.details.reason ?? null;
    this.details = error?.details ?? {};
  }
}
