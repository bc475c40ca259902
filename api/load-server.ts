/** Serves pages without a network: a load run, whose process writes a board, and the gallery. */

import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatInstant } from '../engine/protocol/schema/primitives.js';
import { type Refusal, refuse } from '../engine/protocol/schema/reason.js';
import type { Control, ControlName } from './contract/control.js';
import { serverBounds } from './contract/limit-table.js';
import type { LoadAnswer, LoadState } from './contract/load.js';
import { createMatcher, type Route, type RouteName, routes } from './contract/routes.js';
import { serverRoutes } from './contract/server.js';
import { newToken, readControl, readGallery, writeControl } from './http/control.js';
import { EntryChecks } from './http/entry-checks.js';
import { builtFile, document, parameterReader, parseQuery } from './http/reads.js';
import { type Answer, jsonResponse, render, success } from './http/response.js';
import { methodNotAllowed, optionsAnswer, routeNotFound } from './http/route-responses.js';
import {
  type Application,
  type Body,
  exchangeLimits,
  type HttpResponse,
  type IncomingRequest,
  type RequestHead,
} from './transport/transport.js';
import { chooseTransport, formatUrl } from './transport/uws-transport.js';

interface PageServerOptions {
  control: Control;
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** Default: uWebSockets.js if available, else node:http. */
  transport?: 'uws' | 'node';
  /** Called with each exception raised inside a request. */
  onFault?: (error: unknown) => void;
}

interface PageServer {
  url: string;
  /** URL of the page; includes the control token if the world can be controlled. */
  page: string;
  /** Answers waiting readers, then closes. Idempotent. */
  close(): Promise<void>;
}

/** @throws {Failure} if the port is unavailable. */
export const startLoadServer = (
  options: PageServerOptions & { board: Board },
): Promise<PageServer> => startPageServer('load', options);

/** @throws {Failure} if the port is unavailable. */
export const startGalleryServer = (options: PageServerOptions): Promise<PageServer> =>
  startPageServer('gallery', options);

async function startPageServer(
  shows: PageName,
  options: PageServerOptions & { board?: Board },
): Promise<PageServer> {
  const { board, control, host, port, onFault = () => {} } = options;
  const { transport } = await chooseTransport(options.transport);
  const token = newToken();
  const hosts = isIP(host) === 0 ? [host] : [];
  const application = pageApplication({ shows, board, control, token, hosts, onFault });
  const listening = await transport.listen(application, { host, port });
  const url = formatUrl(host, listening.port);
  let closed: Promise<void> | null = null;
  return {
    url,
    page: `${url}/ui/${shows}${control.can.length > 0 ? `#token=${token}` : ''}`,
    close() {
      board?.close();
      closed ??= listening.close();
      return closed;
    },
  };
}

/*
 * The application, which serves the page and its data. Hosts, origins and heads are checked as for
 * a network.
 */

interface PageApplicationOptions extends PageServices {
  /** Allowed host names, in addition to localhost, the host name and all IP addresses. */
  hosts: readonly string[];
  /** Called with an exception raised inside a request. */
  onFault: (error: unknown) => void;
}

/** Shutdown delay. A page left open must not delay command exit. */
const STOP_MS = 2_000;

function pageApplication(options: PageApplicationOptions): Application {
  const entryChecks = new EntryChecks(options.hosts, []);
  return {
    limits: { ...exchangeLimits, stopMs: STOP_MS },
    // Not used, because the page uses long polling.
    socketPath: '/ws/v1',
    accepts: () => true,
    begin: (head, declared) => new Incoming(options, entryChecks, head, declared),
    open: () => {
      throw new Error('a page without a network has no WebSocket');
    },
  };
}

const MOST_BYTES = serverBounds.body.small;

class Incoming implements IncomingRequest {
  readonly readsBody: boolean;
  readonly #options: PageApplicationOptions;
  readonly #entryChecks: EntryChecks;
  readonly #head: RequestHead;
  readonly #gone = new AbortController();
  readonly #id = randomUUID();
  #taken = 0;

  constructor(
    options: PageApplicationOptions,
    entryChecks: EntryChecks,
    head: RequestHead,
    declared: number | null,
  ) {
    this.#options = options;
    this.#entryChecks = entryChecks;
    this.#head = head;
    this.readsBody = declared !== null && declared <= MOST_BYTES;
  }

  take(bytes: number): boolean {
    this.#taken += bytes;
    return this.#taken <= MOST_BYTES;
  }

  answer(body: Body): HttpResponse | Promise<HttpResponse> {
    const shown = (answer: Answer) => render(answer, this.#id);
    const fault = (error: unknown) => shown({ refusal: this.#fault(error) });
    try {
      const answer = this.#handle(body);
      return answer instanceof Promise ? answer.then(shown).catch(fault) : shown(answer);
    } catch (error) {
      return fault(error);
    }
  }

  upgrade(): { answer: HttpResponse | Promise<HttpResponse> } {
    return { answer: render(routeNotFound(this.#head), this.#id) };
  }

  timeOut(): HttpResponse {
    const refusal = refuse('REQUEST_TIMEOUT', { limit: exchangeLimits.requestMs });
    return render({ refusal }, this.#id);
  }

  release(): void {
    this.#gone.abort();
  }

  #handle(body: Body): Answer | Promise<Answer> {
    const head = this.#head;
    const refusal = this.#entryChecks.refuse(head) ?? this.#tooLarge(body);
    if (refusal) return { refusal };
    const found = matchers[this.#options.shows](head.method, head.path);
    if (!found) return routeNotFound(head);
    if (head.method === 'OPTIONS') return optionsAnswer(head, found.allowed, this.#entryChecks);
    if (!found.route) return methodNotAllowed(head, found.allowed);
    const { params, route } = found;
    return route.handle({
      ...{ services: this.#options, head, params, body },
      gone: this.#gone.signal,
    });
  }

  #tooLarge(body: Body): Refusal | null {
    if (body !== 'unread') return null;
    return refuse('BODY_TOO_LARGE', { bytes: this.#taken, limit: MOST_BYTES });
  }

  #fault(error: unknown): Refusal {
    this.#options.onFault(error);
    return refuse('SERVER_FAULT');
  }
}

/*
 * A load run's current state, serialized once for all readers. Readers that know the current
 * version wait for the next version. Without readers, no state need be computed.
 */

/** Long-poll timeout, after which the unchanged version is returned. */
const WAIT_MS = 20_000;
const READERS = 64;
/** Time after which a reader counts as gone. Normally it polls again right after a response. */
const AWAY_MS = 1_500;
/** Time without requests after which the board counts as unwatched. */
const UNREAD_MS = 5_000;
const LOOK_MS = 25;

interface Reader {
  answer(text: string): void;
}

export class Board {
  readonly #onWatched: (watched: boolean) => void;
  readonly #readers = new Set<Reader>();
  /** Times of responses whose readers have not returned. */
  readonly #away: number[] = [];
  #text: string;
  #version = 1;
  #watched = false;
  #askedAt = 0;
  /** True once the last state is posted. */
  #over = false;
  #closed = false;

  /** @param onWatched called with true on the first read, and false when all readers have left */
  constructor(load: LoadState, onWatched: (watched: boolean) => void = () => {}) {
    this.#text = textOf({ version: this.#version, load });
    this.#onWatched = onWatched;
  }

  /** Posts a state. `last` marks the final state. */
  post(load: LoadState, last = false): void {
    this.#version += 1;
    this.#over = last;
    this.#text = textOf({ version: this.#version, load });
    if (this.#readers.size > 0) this.#askedAt = performance.now();
    this.#answerAll();
    if (this.#watched && performance.now() - this.#askedAt > UNREAD_MS) this.#watch(false);
  }

  /**
   * Returns a response as JSON, immediately or when a version after `after` is posted. Returns null
   * if too many readers are waiting. `gone` aborts when the client disconnects.
   */
  read(after: number | null, gone: AbortSignal): string | Promise<string> | null {
    this.#askedAt = performance.now();
    if (after !== null) this.#away.shift();
    if (!this.#watched) this.#watch(true);
    if (after !== this.#version || this.#closed) return this.#given();
    if (this.#readers.size >= READERS) return null;
    return this.#next(gone);
  }

  /** Resolves once all current readers have received the last state or left. */
  async seen(): Promise<void> {
    while (this.#isAwaited()) await sleep(LOOK_MS);
  }

  close(): void {
    this.#closed = true;
    this.#answerAll();
  }

  #next(gone: AbortSignal): Promise<string> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', end);
        this.#readers.delete(reader);
      };
      const reader: Reader = {
        answer: (text) => {
          end();
          resolve(text);
        },
      };
      const timer = setTimeout(() => reader.answer(this.#given()), WAIT_MS);
      timer.unref();
      gone.addEventListener('abort', end, { once: true });
      this.#readers.add(reader);
    });
  }

  #answerAll(): void {
    for (const reader of [...this.#readers]) reader.answer(this.#given());
  }

  /** Returns the current text, and expects the reader to return unless the text is final. */
  #given(): string {
    this.#forget();
    if (!this.#over) this.#away.push(performance.now());
    return this.#text;
  }

  #isAwaited(): boolean {
    this.#forget();
    return this.#away.length > 0;
  }

  #forget(): void {
    const since = performance.now() - AWAY_MS;
    while (this.#away[0] !== undefined && this.#away[0] < since) this.#away.shift();
  }

  #watch(watched: boolean): void {
    this.#watched = watched;
    this.#onWatched(watched);
  }
}

const textOf = (data: LoadAnswer): string => JSON.stringify({ success: true, data });

/** Stage of the run, used by its control: waiting to start, running, or over. */
export type RunStage = 'waiting' | 'going' | 'over';

const can: Record<RunStage, readonly ControlName[]> = {
  waiting: ['resume', 'stop'],
  going: ['stop'],
  over: [],
};

/** @param ask starts the run, or ends it, possibly before its start */
export const loadControl = (
  standing: () => RunStage,
  ask: (what: 'resume' | 'stop') => void,
): Control => ({
  kind: 'load',
  get can() {
    return can[standing()];
  },
  clock() {
    const paused = standing() === 'waiting';
    const at = formatInstant(Date.now());
    return { holds: paused ? 'run' : 'nothing', paused, speed: 1, until: null, at };
  },
  async do({ do: what }) {
    if (what === 'resume' || what === 'stop') ask(what);
    return null;
  },
  onChange: () => () => {},
});

/*
 * Routes of a page: its files, data and control. The paths come from the route table, but there is
 * no network.
 */

type PageName = 'load' | 'gallery';

interface PageServices {
  readonly shows: PageName;
  readonly board: Board | undefined;
  readonly control: Control;
  readonly token: string;
}

interface PageCall {
  readonly services: PageServices;
  readonly head: RequestHead;
  readonly params: readonly string[];
  readonly body: Body;
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal;
}

type Handler = (call: PageCall) => Answer | Promise<Answer>;

interface HandledRoute extends Route {
  readonly handle: Handler;
}

const page: Handler = ({ services: { shows }, head }) => builtFile(`${shows}.html`, head);

const askedOf = parameterReader(serverRoutes.load);

const load: Handler = ({ services: { board }, head, gone }) => {
  const sent = askedOf([], parseQuery(head.target));
  if ('refusal' in sent) return sent;
  const text = board!.read(sent.asked.after, gone);
  if (text === null) return { refusal: refuse('LOAD_READERS_WAITING') };
  const answer = (json: string) => jsonResponse(200, json);
  return typeof text === 'string' ? answer(text) : text.then(answer);
};

const root: Handler = ({ services: { shows } }) => ({
  ...{ status: 302, headers: { Location: `/ui/${shows}` }, body: '' },
});

const handlers: Partial<Record<RouteName, Handler>> = {
  ...{ root, control: readControl, control_write: writeControl },
  ...{ page, page_bare: page, page_view: page, page_item: page },
  page_asset: ({ params: [name = ''], head }) => builtFile(name, head),
  live: () => success(200, { status: 'ok' }),
  openapi: document('openapi'),
  asyncapi: document('asyncapi'),
  docs: document('docs'),
  docs_socket: document('docs_socket'),
  docs_theme: document('docs_theme'),
  docs_viewer: document('docs_viewer'),
};

const matching = (own: typeof handlers) =>
  createMatcher(
    routes.flatMap((route): HandledRoute[] => {
      const handle = own[route.name] ?? handlers[route.name];
      return handle ? [{ ...route, handle }] : [];
    }),
  );

const matchers = { load: matching({ load }), gallery: matching({ gallery: readGallery }) };
