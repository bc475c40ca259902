/**
 * What one front carries, in the engine's process: its requests and WebSockets are given to the
 * application as a transport of this process would, and what the application says goes back.
 */
import type { Application, Body, HttpResponse, IncomingRequest } from '../transport/transport.js';
import { CarriedSocket } from './carried-socket.js';
import type { Outgoing, Record } from './records.js';
import { SharedBytes } from './shared-bytes.js';
import { headersText, headFrom } from './texts.js';

/** What a WebSocket ends with whose front ended. */
const GONE = 1006;

interface Carried {
  request: IncomingRequest;
  /** Whether no more of its body is wanted: it was answered so. */
  refused: boolean;
}

export class Carrier {
  readonly #application: Application;
  readonly #out: Outgoing;
  readonly #shared: SharedBytes;
  readonly #requests = new Map<number, Carried>();
  readonly #sockets = new Map<number, CarriedSocket>();

  constructor(application: Application, out: Outgoing) {
    this.#application = application;
    this.#out = out;
    this.#shared = new SharedBytes(out);
  }

  /** A record of the front that is about a connection. */
  take(record: Record): void {
    const { kind, id, value, text, bytes } = record;
    if (kind === 'whole' || kind === 'held') this.#whole(record);
    else if (kind === 'begin') this.#begin(id, value, text);
    else if (kind === 'upgrade') this.#upgrade(id, text);
    else if (kind === 'release') this.#release(id);
    else if (kind === 'message') this.#sockets.get(id)?.handlers?.message(text);
    else if (kind === 'binary') this.#sockets.get(id)?.handlers?.message(null);
    else if (kind === 'pinged') this.#sockets.get(id)?.handlers?.pinged();
    else if (kind === 'ponged') this.#sockets.get(id)?.handlers?.pong();
    else if (kind === 'left') this.#sockets.get(id)?.left(value);
    else if (kind === 'closed') this.#closed(id, value);
    else {
      const carried = this.#requests.get(id);
      if (!carried) return;
      if (kind === 'took') this.#took(id, carried, value);
      else if (kind === 'late') this.#answer(id, carried, carried.request.late());
      else this.#body(id, carried, kind === 'unread' ? 'unread' : bytes);
    }
  }

  /** The front is no more: so are its connections. What was asked may be done all the same. */
  end(): void {
    for (const id of [...this.#requests.keys()]) this.#release(id);
    for (const id of [...this.#sockets.keys()]) this.#closed(id, GONE);
  }

  #whole({ kind, id, value, text, bytes }: Record): void {
    const request = this.#application.begin(headFrom(text), value < 0 ? null : value);
    const taken = bytes.length === 0 || (request.wanted && request.take(bytes.length));
    const carried = { request, refused: false };
    this.#requests.set(id, carried);
    this.#answer(id, carried, request.answer(taken ? bytes : 'unread', kind === 'held'));
  }

  #begin(id: number, value: number, text: string): void {
    const request = this.#application.begin(headFrom(text), value < 0 ? null : value);
    const carried = { request, refused: false };
    this.#requests.set(id, carried);
    if (!request.wanted) this.#refuse(id, carried);
  }

  #took(id: number, carried: Carried, bytes: number): void {
    if (!carried.refused && !carried.request.take(bytes)) this.#refuse(id, carried);
  }

  #body(id: number, carried: Carried, body: Body): void {
    if (!carried.refused) this.#answer(id, carried, carried.request.answer(body));
  }

  /** At once, and whatever still arrives of it: the front ends the connection with the answer. */
  #refuse(id: number, carried: Carried): void {
    carried.refused = true;
    this.#answer(id, carried, carried.request.answer('unread'));
  }

  #answer(id: number, carried: Carried, response: HttpResponse | Promise<HttpResponse>): void {
    if (response instanceof Promise) {
      void response.then((answer) => this.#send(id, carried, answer));
    } else this.#send(id, carried, response);
  }

  /** Nobody waits for a second answer, nor for one whose client has gone. */
  #send(id: number, carried: Carried, { status, headers, body }: HttpResponse): void {
    if (this.#requests.get(id) !== carried) return;
    this.#requests.delete(id);
    carried.request.release();
    this.#out.send('answer', id, { value: status, text: headersText(headers), bytes: body });
  }

  #release(id: number): void {
    this.#requests.get(id)?.request.release();
    this.#requests.delete(id);
    this.#closed(id, GONE);
  }

  /** The session begins here and now, so that what an address may have open is exact. */
  #upgrade(id: number, text: string): void {
    const request = this.#application.begin(headFrom(text), 0);
    const opened = request.upgrade();
    if (opened instanceof Promise) throw new Error('the application opens at once');
    if ('answer' in opened) {
      const carried = { request, refused: false };
      this.#requests.set(id, carried);
      return this.#answer(id, carried, opened.answer);
    }
    this.#out.send('upgraded', id);
    const socket = new CarriedSocket(id, opened.addressKey, this.#out, this.#shared);
    this.#sockets.set(id, socket);
    socket.handlers = this.#application.open(socket);
  }

  #closed(id: number, code: number): void {
    const socket = this.#sockets.get(id);
    this.#sockets.delete(id);
    socket?.gone(code);
  }
}
