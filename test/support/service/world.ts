/** A service under test, used through its sockets only. */

import { testsWith } from '../fixture.js';
import { type Live, listen } from './live.js';
import { checkResponse } from './openapi-check.js';
import type { Agent, Fields, Request } from './signer.js';
import * as signer from './signer.js';

/** A service with an empty network. `url` has no trailing slash. */
export interface Service {
  url: string;
  wsUrl: string;
  close(): Promise<void>;
}

/** Starts a service. `bench` allows many requests at once. `spec` is for tests of the limits. */
export type Start = (limits: 'bench' | 'spec') => Promise<Service>;

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Members of the JSON body. */
  success: unknown;
  data: Fields;
  error: { code: string; message: string; details: Fields };
}

export const GENESIS_HASH = '0'.repeat(64);
export const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
/** Sends a request and reads the whole response. */
export async function call(url: string, request: Request): Promise<Answer> {
  const { method, path, headers, body } = request;
  const carried = body.length === 0 ? {} : { body: Buffer.from(body as Uint8Array) };
  const response = await fetch(`${url}${path}`, { method, headers, ...carried });
  const text = await response.text();
  const contentType = response.headers.get('content-type');
  const headerNames = [...response.headers.keys()];
  const { status } = response;
  const answer = { method, target: path, status, contentType, body: text, headerNames };
  // Every response must match the OpenAPI document. HEAD has no body.
  expect(method === 'HEAD' ? [] : checkResponse(answer)).toEqual([]);
  const isJson = contentType?.startsWith('application/json') && text;
  const parsed = (isJson ? JSON.parse(text) : {}) as Pick<Answer, 'success' | 'data' | 'error'>;
  return { status, headers: response.headers, text, ...parsed };
}

export const get = (url: string, path: string, headers: Record<string, string> = {}) =>
  call(url, { method: 'GET', path, headers, body: '' });

/** Expects an error envelope with a request id. */
export function expectError(answer: Answer, status: number, code: string, reason?: string): void {
  const { error } = answer;
  expect([answer.status, error?.code, reason && error?.details.reason], answer.text).toEqual([
    ...[status, code, reason],
  ]);
  expect(JSON.parse(answer.text)).toEqual({
    success: false,
    error: { code, message: expect.any(String), details: expect.any(Object) },
  });
  expect(error.message).not.toBe('');
  expect(error.details.reason).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
  expect(error.details.request_id).toBe(answer.headers.get('x-request-id'));
}

/** Expects a success envelope. */
export function expectSuccess(answer: Answer, status: number): Fields {
  expect(answer.status, answer.text).toBe(status);
  expect(JSON.parse(answer.text)).toEqual({ success: true, data: expect.any(Object) });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  return answer.data;
}

export class World {
  readonly url: string;
  readonly wsUrl: string;

  constructor({ url, wsUrl }: Omit<Service, 'close'>) {
    this.url = url;
    this.wsUrl = wsUrl;
  }

  send = (request: Request) => call(this.url, request);
  get = (path: string, headers?: Record<string, string>) => get(this.url, path, headers);

  /** Sends a request, expects success, and returns the data. */
  async do(request: Request, status = 201): Promise<Fields> {
    return expectSuccess(await this.send(request), status);
  }

  async read(path: string): Promise<Fields> {
    return expectSuccess(await this.get(path), 200);
  }

  /** Registers an agent with a key derived from its name. */
  async join(name: string, fields: Fields = {}): Promise<Agent> {
    const agent = signer.agentOf(name);
    await this.do(signer.register(agent, { name, ...fields }));
    return agent;
  }

  /** Registers agents that validate and produce. */
  async joinAll(...names: string[]): Promise<Agent[]> {
    const agents: Agent[] = [];
    for (const name of names) agents.push(await this.join(name));
    return agents;
  }

  async networkId(): Promise<string> {
    return String((await this.read('/api/v1/network/state')).network_id);
  }

  /** Proposes a block on the head and returns its hash. */
  async propose(by: Agent, fields: Fields = {}): Promise<string> {
    const { head_hash } = await this.read('/api/v1/network/state');
    const data = await this.do(signer.propose(by, { parent_hash: head_hash, ...fields }));
    return String(data.block_hash);
  }

  async vote(by: Agent, block_hash: string, fields: Fields = {}): Promise<Fields> {
    return this.do(signer.vote(by, { block_hash, ...fields }));
  }

  /** Returns the digest, which changes with every entry. */
  async digest(): Promise<unknown> {
    return (await this.read('/api/v1/meta')).digest;
  }

  listen = (agent: Agent, topics?: readonly string[]): Promise<Live> =>
    listen(this.wsUrl, agent, topics);
}

/** Starts a service for the current test. */
export async function begin(start: Start, limits: 'bench' | 'spec' = 'bench'): Promise<World> {
  const service = await start(limits);
  onTestFinished(() => service.close());
  return new World(service);
}

/** Defines tests that each start a service. */
export const testsOn = (start: Start) => testsWith(() => begin(start));
