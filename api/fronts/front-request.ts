/**
 * One request in a front: what its transport asks, told to the engine's process. A small body that
 * is there with its head is told in one record; otherwise the head goes first, and what arrives of
 * the body is counted over there as it comes.
 */
import { serverBounds } from '../contract/limit-table.js';
import { createMatcher } from '../contract/match.js';
import { type Route, routes } from '../contract/routes.js';
import type { Body, HttpResponse, IncomingRequest, RequestHead } from '../transport/transport.js';
import type { Outgoing } from './records.js';
import type { SignaturesAhead } from './signatures-ahead.js';
import { headText } from './texts.js';

type Opened = { answer: HttpResponse } | { addressKey: string };

/** What it has of its front. */
interface Side {
  out: Outgoing;
  ahead: SignaturesAhead;
  /** Its client has gone before it was answered. */
  gone: () => void;
}

const match = createMatcher(routes);

export class FrontRequest implements IncomingRequest {
  readonly #out: Outgoing;
  readonly #id: number;
  readonly #ahead: SignaturesAhead;
  readonly #head: RequestHead;
  /** Asked for at once: a peer that has gone has none. */
  readonly #address: string;
  readonly #route: Route | null;
  readonly #declared: number | null;
  readonly #gone: () => void;
  /** Whether the engine's process knows of it. */
  #told = false;
  #taken = 0;
  #over = false;
  /** Given before it was asked for: then no more of the body is wanted. */
  #early: HttpResponse | null = null;
  #answered: ((response: HttpResponse) => void) | null = null;
  #opened: ((opened: Opened) => void) | null = null;
  #onUnwanted: () => void = () => {};
  wanted: boolean;

  constructor({ out, ahead, gone }: Side, id: number, head: RequestHead, declared: number | null) {
    this.#out = out;
    this.#ahead = ahead;
    this.#gone = gone;
    this.#id = id;
    this.#head = head;
    this.#address = head.address;
    this.#route = match(head.method, head.path)?.route ?? null;
    this.#declared = declared;
    // What is small is read whatever is wrong; what is too large for its path, never.
    const most = Math.max(serverBounds.body.small, this.#route?.bodyBytes ?? 0);
    this.wanted = declared !== null && declared <= most;
  }

  /** The turn of its head is over: from now on it counts over there. */
  tell(): void {
    if (this.#told || this.#over) return;
    this.#told = true;
    const value = this.#declared ?? -1;
    this.#out.send('begin', this.#id, { value, text: this.#headText() });
    if (this.#taken > 0) this.#out.send('took', this.#id, { value: this.#taken });
  }

  take(bytes: number): boolean {
    this.#taken += bytes;
    if (this.#told) this.#out.send('took', this.#id, { value: bytes });
    // One that sends more than it declared is cut by the transport.
    return this.#early === null;
  }

  unwanted(listener: () => void): void {
    this.#onUnwanted = listener;
  }

  answer(body: Body): HttpResponse | Promise<HttpResponse> {
    if (this.#early) return this.#early;
    if (body === 'unread') {
      this.tell();
      this.#out.send('unread', this.#id);
    } else if (this.#told) this.#out.send('body', this.#id, { bytes: body });
    else {
      this.#told = true;
      const value = this.#declared ?? -1;
      const held = this.#route !== null && this.#ahead.holds(this.#route, this.#head, body);
      const kind = held ? 'held' : 'whole';
      this.#out.send(kind, this.#id, { value, text: this.#headText(), bytes: body });
    }
    return this.#response();
  }

  late(): Promise<HttpResponse> {
    this.tell();
    this.#out.send('late', this.#id);
    return this.#response();
  }

  upgrade(): Promise<Opened> {
    this.#told = true;
    this.#out.send('upgrade', this.#id, { text: this.#headText() });
    return new Promise((resolve) => {
      this.#opened = resolve;
    });
  }

  release(): void {
    if (this.#over) return;
    this.#over = true;
    this.#gone();
    if (this.#told) this.#out.send('release', this.#id);
  }

  /** The engine's process answers. */
  answered(response: HttpResponse): void {
    this.#over = true;
    if (this.#route) this.#ahead.answered(this.#route, this.#head, response.status);
    this.#opened?.({ answer: response });
    if (this.#answered) return this.#answered(response);
    this.#early = response;
    this.#onUnwanted();
  }

  /** A WebSocket may be opened for it; until it is, its end is told by `release`. */
  upgraded(): void {
    this.#opened?.({ addressKey: String(this.#id) });
  }

  /** The WebSocket is open, and tells its end itself. */
  opened(): void {
    this.#over = true;
  }

  #headText(): string {
    return headText(this.#head, this.#address);
  }

  #response(): Promise<HttpResponse> {
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }
}
