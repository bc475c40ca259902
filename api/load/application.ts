/**
 * The application that shows a load run: the page and what it shows, for whoever carries requests.
 * Names, origins and heads are checked as they are where a network is served.
 */
import { randomUUID } from 'node:crypto';
import { type Refusal, refuse } from '../../engine/internal.js';
import { serverBounds } from '../contract/limit-table.js';
import { EntryChecks } from '../http/request/entry-checks.js';
import { type Answer, render } from '../http/response/envelope.js';
import { noMethod, noRoute, optionsAnswer } from '../http/route-answers.js';
import { exchangeLimits } from '../transport/exchange-limits.js';
import type {
  Application,
  Body,
  HttpResponse,
  IncomingRequest,
  RequestHead,
} from '../transport/transport.js';
import { type LoadServices, match } from './routes.js';

export interface LoadApplicationOptions extends LoadServices {
  /** Names it is served under, beside localhost, this machine's and all addresses. */
  hosts: readonly string[];
  /** A fault inside one request, with its stack. */
  onFault: (error: unknown) => void;
}

/** A page that is left open does not hold the end. */
const STOP_MS = 2_000;

export function loadApplication(options: LoadApplicationOptions): Application {
  const entryChecks = new EntryChecks(options.hosts, []);
  return {
    limits: { ...exchangeLimits, stopMs: STOP_MS },
    // Nothing is opened there: what the page waits for, it waits for by a request.
    socketPath: '/ws/v1',
    connectionPolicy: { quota: null, trustedProxies: [] },
    verifiesFor: null,
    accepts: () => true,
    begin: (head, declared) => new Incoming(options, entryChecks, head, declared),
    open: () => {
      throw new Error('a load run has no WebSocket');
    },
  };
}

const MOST_BYTES = serverBounds.body.small;

class Incoming implements IncomingRequest {
  readonly wanted: boolean;
  readonly #options: LoadApplicationOptions;
  readonly #entryChecks: EntryChecks;
  readonly #head: RequestHead;
  readonly #gone = new AbortController();
  readonly #id = randomUUID();
  #taken = 0;

  constructor(
    options: LoadApplicationOptions,
    entryChecks: EntryChecks,
    head: RequestHead,
    declared: number | null,
  ) {
    this.#options = options;
    this.#entryChecks = entryChecks;
    this.#head = head;
    this.wanted = declared !== null && declared <= MOST_BYTES;
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
    return { answer: render(noRoute(this.#head), this.#id) };
  }

  late(): HttpResponse {
    const refusal = refuse(
      'DEADLINE',
      `no answer within ${exchangeLimits.requestMs} ms; try again`,
    );
    return render({ refusal }, this.#id);
  }

  release(): void {
    this.#gone.abort();
  }

  #handle(body: Body): Answer | Promise<Answer> {
    const head = this.#head;
    const refusal = this.#entryChecks.refuse(head) ?? this.#tooLarge(body);
    if (refusal) return { refusal };
    const found = match(head.method, head.path);
    if (!found) return noRoute(head);
    if (head.method === 'OPTIONS') return optionsAnswer(head, found.allowed, this.#entryChecks);
    if (!found.route) return noMethod(head, found.allowed);
    const { params, route } = found;
    return route.handle({
      ...{ services: this.#options, head, params, body },
      gone: this.#gone.signal,
    });
  }

  #tooLarge(body: Body): Refusal | null {
    if (body !== 'unread') return null;
    return refuse('TOO_LARGE', `the body is larger than ${MOST_BYTES} bytes`);
  }

  #fault(error: unknown): Refusal {
    this.#options.onFault(error);
    return refuse('INTERNAL', 'a fault of the server, which was logged');
  }
}
