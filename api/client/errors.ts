/** What can go wrong for a client: refused, nobody there, an unproven answer, a stream's end. */
import type { ErrorCode, Reason } from '../../engine/protocol/schema/reason.js';

/** The `error` member of an answer or of an `error` event. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  details: { reason?: Reason; [member: string]: unknown };
}

/** The server refused. `code` and `reason` say why, `details` what helps to go on. */
export class ApiError extends Error {
  override name = 'ApiError';
  /**
   * Its class: `INVALID_SIGNATURE`, `RATE_LIMITED`, `INVALID_AGENT`, `INVALID_REQUEST` or
   * `NETWORK_ERROR`.
   */
  readonly code: ErrorCode;
  /** Null where the answer was none of folkmoot's: a proxy's, say. */
  readonly reason: Reason | null;
  /** Of HTTP. */
  readonly status: number;
  /** What helps to go on: docs/protocol.md has the members of each reason. */
  readonly details: ErrorBody['details'];
  /** By which the server's log names the request. */
  readonly request_id: string | null;
  /** Seconds until it makes sense to try again, where the server says so. */
  readonly retryAfter: number | null;

  /** @internal */
  constructor(status: number, { code, message, details }: ErrorBody, retryAfter: string | null) {
    super(message);
    this.code = code;
    this.reason = details.reason ?? null;
    this.status = status;
    this.details = details;
    this.request_id = typeof details.request_id === 'string' ? details.request_id : null;
    // Browsers do not show the header to another origin; the details have it for RATE_LIMITED.
    const seconds = Number(retryAfter ?? details.retry_after_s ?? Number.NaN);
    this.retryAfter = Number.isFinite(seconds) ? seconds : null;
  }
}

/** No answer came: no connection, or none in time. The request may or may not have been done. */
export class UnreachableError extends Error {
  override name = 'UnreachableError';
}

/** A response is not signed as it says, or not by the key that was expected. */
export class ResponseSignatureError extends Error {
  override name = 'ResponseSignatureError';
}

/** The stream of events ended for a reason that trying again does not mend. */
export class StreamError extends Error {
  override name = 'StreamError';
  /** Of the WebSocket; null where the server refused the subscription. */
  readonly closeCode: number | null;
  /** What the server's last error was of; null where it sent none. */
  readonly code: ErrorCode | null;
  /** Why, likewise. */
  readonly reason: Reason | null;
  /** What helps to go on. */
  readonly details: ErrorBody['details'];

  /** @internal */
  constructor(closeCode: number | null, error: ErrorBody | null) {
    super(error?.message ?? `the connection was closed with ${closeCode}`);
    this.closeCode = closeCode;
    this.code = error?.code ?? null;
    this.reason = error?.details.reason ?? null;
    this.details = error?.details ?? {};
  }
}
