/** The story of one request: from its head, by its route, to its answer. A throw here is a 500. */
import { type KeyPair, type Refusal, refuse } from '../../engine/internal.js';
import { damagedPast } from '../checks/damaged-archive.js';
import { type UnknownName, unknownParameters } from '../checks/unknown-members.js';
import type { Match } from '../contract/match.js';
import type { ExchangeLimits } from '../transport/exchange-limits.js';
import type { Body, HttpResponse, IncomingRequest, RequestHead } from '../transport/transport.js';
import type { HandledRoute, Services } from './handler.js';
import { type Exchange, exchangeOf } from './observe.js';
import type { EntryChecks } from './request/entry-checks.js';
import type { HeadChecks } from './request/head-checks.js';
import type { RequestBudget } from './request/request-budget.js';
import { requestId } from './request/request-id.js';
import { type Answer, render, withUnknown } from './response/envelope.js';
import { beyond } from './response/quota-answers.js';
import { signResponse } from './response-signature.js';
import { noMethod, noRoute, optionsAnswer } from './route-answers.js';
import { match, parametersOf } from './routes.js';
import { socketRefusal } from './socket-refusal.js';
import { refuseByHead } from './writes/refuse.js';

/** What the requests of one server share. */
export interface Serving {
  readonly services: Services;
  readonly entryChecks: EntryChecks;
  readonly headChecks: HeadChecks;
  readonly exchangeLimits: ExchangeLimits;
  /** Sign every answer, where there are some. */
  readonly responseKeys: KeyPair | null;
  /** Whether an error is reported: a damaged segment only once. */
  isNews(error: unknown): boolean;
  onFault(error: unknown, requestId: string): void;
  /** Each request and its answer; null costs nothing. */
  readonly onExchange: ((exchange: Exchange) => void) | null;
}

export class Incoming implements IncomingRequest {
  readonly #serving: Serving;
  readonly #head: RequestHead;
  readonly #id = requestId();
  readonly #match: Match<HandledRoute> | null;
  readonly #budget: RequestBudget;
  readonly #address: string;
  /** Why it is refused for the way it comes. */
  readonly #unwelcome: Refusal | null;

  constructor(serving: Serving, head: RequestHead, declared: number | null) {
    this.#serving = serving;
    this.#head = head;
    this.#match = match(head.method, head.path);
    this.#budget = serving.headChecks.budgetOf(head, declared, this.#route);
    this.#unwelcome = serving.entryChecks.refuse(head);
    // Whoever is told of it is told its address, which is asked for now or not at all.
    this.#address = serving.onExchange ? head.address : '';
    if (this.#unwelcome) this.#budget.refuse({ refusal: this.#unwelcome });
  }

  get #route(): HandledRoute | null {
    return this.#match?.route ?? null;
  }

  get wanted(): boolean {
    return this.#budget.wanted;
  }

  take(bytes: number): boolean {
    return this.#budget.take(bytes);
  }

  release(): void {
    this.#budget.release();
  }

  answer(body: Body, held = false): HttpResponse | Promise<HttpResponse> {
    const started = this.#serving.onExchange ? performance.now() : 0;
    try {
      const answer = this.#handle(body, held);
      if (answer instanceof Promise) return this.#finishLater(answer, body, started);
      return this.#finish(answer, body, started);
    } catch (error) {
      return this.#finish({ refusal: this.#fault(error) }, body, started);
    }
  }

  late(): HttpResponse | Promise<HttpResponse> {
    const { services, exchangeLimits } = this.#serving;
    const most = `no answer within ${exchangeLimits.requestMs} ms`;
    const message = `${most}; it may have been done: try again`;
    const response = render({ refusal: refuse('DEADLINE', message) }, this.#id);
    services.metrics.answered(this.#route, response.status);
    return this.#sent(response, nothing);
  }

  upgrade(): { answer: HttpResponse | Promise<HttpResponse> } | { addressKey: string } {
    const { services, entryChecks, headChecks } = this.#serving;
    const addressKey = headChecks.keyOf(this.#head);
    const { problem } = this.#budget;
    const refused = socketRefusal({ head: this.#head, addressKey, problem }, services, entryChecks);
    if (!refused) return { addressKey };
    return { answer: this.#sent(render(refused, this.#id), nothing) };
  }

  /** Refused for the way it comes, for what is used up, or for its head; or its route answers. */
  #handle(body: Body, held: boolean): Answer | Promise<Answer> {
    const { problem } = this.#budget;
    if (this.#unwelcome) {
      // Nobody's secrets were tried: a foreign page must not use up what an address has.
      this.#budget.vouch();
      return { refusal: this.#unwelcome };
    }
    if (problem && 'quota' in problem) return beyond(problem.quota);
    if (!this.#match) return noRoute(this.#head);
    const { route, params, allowed } = this.#match;
    const { services, entryChecks } = this.#serving;
    if (this.#head.method === 'OPTIONS') return optionsAnswer(this.#head, allowed, entryChecks);
    if (!route) return noMethod(this.#head, allowed);
    const call = { services, route, head: this.#head, params, body, held, budget: this.#budget };
    if (!problem) return route.handle(call);
    const { refusal } = problem;
    return route.command ? refuseByHead(call, route.command, refusal) : { refusal };
  }

  /** What a throw is to the caller; whoever runs the server gets it with its stack. */
  #fault(error: unknown): Refusal {
    const damage = damagedPast(error);
    if (!damage || this.#serving.isNews(error)) this.#serving.onFault(error, this.#id);
    return damage ?? refuse('INTERNAL', 'a fault of the server, which was logged');
  }

  async #finishLater(answer: Promise<Answer>, body: Body, started: number): Promise<HttpResponse> {
    try {
      const sent = this.#finish(await answer, body, started);
      return sent instanceof Promise ? await sent : sent;
    } catch (error) {
      return this.#finish({ refusal: this.#fault(error) }, body, started);
    }
  }

  #finish(answer: Answer, body: Body, started: number): HttpResponse | Promise<HttpResponse> {
    const { services, onExchange } = this.#serving;
    const response = render(withUnknown(answer, this.#unknownParameters()), this.#id);
    this.#budget.conclude(response.status);
    this.#budget.release();
    services.metrics.answered(this.#route, response.status);
    const sent = this.#sent(response, body);
    if (!onExchange) return sent;
    const notify = () => {
      const refusal = 'refusal' in answer ? answer.refusal : null;
      const ms = performance.now() - started;
      const { method, target } = this.#head;
      const asked = { method, target, address: this.#address };
      onExchange(exchangeOf(asked, response.status, this.#id, refusal, ms));
    };
    if (sent instanceof Promise) sent.then(notify, () => {});
    else notify();
    return sent;
  }

  /** Query parameters that the route does not read. */
  #unknownParameters(): readonly UnknownName[] {
    const { target, path } = this.#head;
    const route = this.#route;
    if (target.length === path.length || !route?.path.startsWith('/api/')) return [];
    return unknownParameters(target, parametersOf(route));
  }

  /** With what every answer carries: what browsers may read, and the server's signature. */
  #sent(response: HttpResponse, body: Body): HttpResponse | Promise<HttpResponse> {
    const { entryChecks, responseKeys, services } = this.#serving;
    entryChecks.origins.addHeaders(response.headers, this.#head.headers);
    const cutOffMs = services.network.cutOffMs?.() ?? 0;
    if (cutOffMs > 0) response.headers['Folkmoot-Stale'] = `${Math.ceil(cutOffMs / 1_000)}`;
    if (!responseKeys) return response;
    const request = { kind: this.#route?.command ?? null, head: this.#head, body };
    return signResponse(responseKeys, services.now(), request, response);
  }
}

const nothing = new Uint8Array();
