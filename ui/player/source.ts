/** Where the worker has everything from, whoever gives it. */
import type { Overview, Picture, Span } from '../../api/view/model.js';

/** The answer is no. */
export class Refused extends Error {
  override name = 'Refused';
  readonly status: number;
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    reason: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

/** What it was made of is damaged: it will never answer. */
export class Damaged extends Error {
  override name = 'Damaged';
}

/** Its functions throw {@link Refused}, or an error of their own where nobody answers. */
export interface Source {
  /** Of the server whose socket tells what comes next; '' where nothing will. */
  readonly origin: string;
  /** The network after an entry; null: after the last. */
  view(at: number | null): Promise<Picture>;
  /** Rows of entries from one on, as far as one answer goes. */
  columns(from: number, to: number): Promise<Span>;
  overview(buckets: number): Promise<Overview>;
  /** The data of an answer to a path. */
  json<T>(path: string): Promise<T>;
}
