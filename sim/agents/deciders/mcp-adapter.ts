/**
 * Decider that is a tool on an MCP server. The server is a local program or has a URL. Sessions are
 * opened lazily. The official SDK is an optional peer dependency, loaded when needed.
 */
import { ReadableStream } from 'node:stream/web';
import type { CallToolResult, Client, Transport } from '@modelcontextprotocol/client';
import { Agent as HttpAgent, type RequestInit as HttpInit, fetch as httpFetch } from 'undici';
import { ScenarioError, scenarioError } from '../../scenario/problem.js';
import { type DeciderAdapter, NoAnswer, toPayload } from './adapter.js';
import { bounded, getErrorText, parseAnswerText, waitMs } from './http-adapter.js';
import { cannotStart, type Program } from './program-adapter.js';
import { LARGEST_ANSWER_BYTES, plainLine } from './question.js';

interface McpOptions {
  sdk: Sdk;
  place: Place;
  tool: string;
  sessions: number;
}

export function createMcpAdapter({ sdk, place, tool, sessions }: McpOptions): DeciderAdapter {
  const open: (McpSession | undefined)[] = [];
  const closing = new Set<Promise<void>>();
  let answered = false;
  const close = (session: McpSession): void => {
    const closed = session.close().catch(() => {});
    closing.add(closed);
    closed.then(() => closing.delete(closed));
  };
  const leave = (lane: number): void => {
    const session = open[lane];
    if (!session?.over) return;
    open[lane] = undefined;
    close(session);
  };
  const at = (lane: number): McpSession => {
    leave(lane);
    open[lane] ??= new McpSession(sdk, place, tool);
    return open[lane];
  };
  return {
    lanes: sessions,
    atOnce: 1,
    async ask(question, lane, signal) {
      const session = at(lane);
      try {
        const result = await session.ask(toPayload(question), signal);
        answered = true;
        return { value: valueIn(result) };
      } catch (error) {
        // If the tool has answered before, the scenario is not at fault.
        const passes = answered && error instanceof ScenarioError;
        throw passes ? new NoAnswer('MCP_ERROR', { detail: error.message }) : error;
      } finally {
        leave(lane);
      }
    },
    async close() {
      for (const session of open) if (session) close(session);
      await Promise.all(closing);
    },
  };
}

/** Maximum number of tool-list pages to read. */
const MOST_PAGES = 100;
/** Longest possible timer. The caller aborts the call. */
const LONGEST_MS = 2_147_483_647;

class McpSession {
  /** True if the session is closed, or unusable after an error. */
  over = false;
  readonly #sdk: Sdk;
  readonly #place: Place;
  readonly #tool: string;
  readonly #client: Client;
  readonly #way: Way;
  #begun = false;
  #fail: (error: Error) => void = () => {};

  constructor(sdk: Sdk, place: Place, tool: string) {
    this.#sdk = sdk;
    this.#place = place;
    this.#tool = tool;
    // Version of the question protocol.
    this.#client = new sdk.Client(
      { name: 'folkmoot', version: '1' },
      // To probe a program for its revision would start it twice.
      { versionNegotiation: { mode: 'url' in place ? 'auto' : 'legacy' } },
    );
    const onBroken = (why: NoAnswer) => this.#broken(why);
    this.#way = 'url' in place ? httpWay(sdk, place, onBroken) : programWay(sdk, place);
    // A failing client calls onclose before it reports the error, so wait one turn.
    this.#client.onclose = () => void setImmediate(() => this.#broken(this.#way.ends));
    this.#client.onerror = (error) => this.#heard(error);
  }

  /** @throws {NoAnswer} @throws {ScenarioError} if the program or tool does not exist. */
  async ask(question: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
      // The client asks for the server's revision without this signal.
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    try {
      return await Promise.race([this.#call(question, signal), failed]);
    } catch (error) {
      // A tool error leaves the session usable.
      const isToolError = error instanceof this.#sdk.ProtocolError;
      if (!this.#begun || !isToolError || signal.aborted) this.over = true;
      throw this.#told(error);
    } finally {
      this.#fail = () => {};
    }
  }

  async close(): Promise<void> {
    this.over = true;
    await this.#way.close();
    await this.#client.close();
  }

  async #call(question: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const options = { signal, timeout: LONGEST_MS };
    if (!this.#begun) {
      await this.#client.connect(this.#way.transport, options);
      await this.#expectTool(options);
      this.#begun = true;
    }
    // The client's own callTool would compile and run the server's schemas.
    const params = { name: this.#tool, arguments: question };
    return this.#client.request({ method: 'tools/call', params }, options);
  }

  /** Lists the tools page by page. The client's own method would compile the server's schemas. */
  async #expectTool(options: { signal: AbortSignal; timeout: number }): Promise<void> {
    const names: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const request = { method: 'tools/list' as const, params };
      const listed = await this.#client.request(request, options);
      names.push(...listed.tools.map(({ name }) => name));
      cursor = listed.nextCursor;
      if (names.includes(this.#tool)) return;
      if (cursor === undefined) break;
    }
    const expected = names.length > 0 ? `one of ${names.join(', ')}` : 'a server with tools';
    throw scenarioError('UNKNOWN_TOOL', {
      tool: plainLine(this.#tool),
      expected: plainLine(expected),
    });
  }

  #broken(why: NoAnswer): void {
    this.over = true;
    this.#fail(why);
  }

  /** Attributes an SDK error to the pending question; each session has at most one. */
  #heard(error: Error): void {
    if (/exceeded maximum size/.test(error.message)) {
      this.#broken(new NoAnswer('ANSWER_TOO_LONG', { bytes: LARGEST_MESSAGE_BYTES }));
    } else if (isNoMessage(error)) {
      this.#broken(noMessage(error));
    }
  }

  #told(error: unknown): Error {
    if (error instanceof NoAnswer || error instanceof ScenarioError) return error;
    if (isNoMessage(error)) return noMessage(error);
    const { ProtocolError, SdkError, SdkErrorCode } = this.#sdk;
    if (error instanceof ProtocolError) {
      const detail = plainLine(`MCP error ${error.code}: ${error.message}`);
      return new NoAnswer('MCP_ERROR', { detail });
    }
    if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) {
      return this.#way.ends;
    }
    const { syscall = '' } = error as NodeJS.ErrnoException;
    if ('command' in this.#place && syscall.startsWith('spawn')) {
      const [file] = this.#place.command;
      return cannotStart(file!, error);
    }
    return new NoAnswer('MCP_ERROR', { detail: plainLine(error) });
  }
}

/** True for invalid JSON, a message with the wrong shape, or excessive nesting. */
const isNoMessage = (error: unknown): error is Error =>
  error instanceof SyntaxError ||
  error instanceof RangeError ||
  (error instanceof Error && error.name.endsWith('ZodError')) ||
  (error as { code?: unknown }).code === 'INVALID_RESULT';

const noMessage = (error: Error) =>
  new NoAnswer('INVALID_MCP_MESSAGE', { detail: plainLine(error.message) });

/** Server address. */
type Place = Program | { url: string; key: string | undefined };

type Body = ConstructorParameters<typeof Response>[0];

interface Way {
  transport: Transport;
  /** Error for questions that are pending when the transport closes. */
  ends: NoAnswer;
  /** Called before the session is closed. */
  close(): Promise<void>;
}

/** An answer can appear twice: escaped in text and as structured content. */
const LARGEST_MESSAGE_BYTES = 4 * LARGEST_ANSWER_BYTES;
/** Method that asks a server for its revisions. */
const DISCOVER = 'server/discover';
/** Timeout for closing a session. */
const GRACE_MS = 2_000;

function programWay(
  { StdioClientTransport }: Sdk,
  { command: [file, ...args], folder: cwd, env }: Program,
): Way {
  const maxBufferSize = LARGEST_MESSAGE_BYTES;
  // The server's stderr is passed through.
  const program = { command: file!, args, cwd, env: { ...env }, stderr: 'inherit' as const };
  return {
    transport: new StdioClientTransport({ ...program, maxBufferSize }) as Transport,
    ends: new NoAnswer('OUTPUT_CLOSED', {}),
    close: async () => {},
  };
}

/** @param onBroken called when a request fails, or when its response cannot be read to the end. */
function httpWay(
  { StreamableHTTPClientTransport }: Sdk,
  { url, key }: Extract<Place, { url: string }>,
  onBroken: (why: NoAnswer) => void,
): Way {
  // No timeouts here, because the caller aborts the request.
  const dispatcher = new HttpAgent({ headersTimeout: 0, bodyTimeout: 0 });
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: boundedFetch(dispatcher, onBroken),
  });
  return {
    transport: transport as Transport,
    ends: new NoAnswer('SESSION_CLOSED', {}),
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, GRACE_MS);
      });
      await Promise.race([transport.terminateSession().catch(() => {}), late]);
      clearTimeout(timer);
      await transport.close();
      await dispatcher.destroy();
    },
  };
}

/**
 * Creates a fetch function that reports refused, oversized and interrupted responses. Accepts only
 * responses to requests: does not open the server's event stream and does not resume interrupted
 * streams.
 */
function boundedFetch(dispatcher: HttpAgent, onBroken: (why: NoAnswer) => void) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    if (init.method === 'GET') return new Response(null, { status: 405 });
    const headers = [...new Headers(init.headers)];
    const sent = { ...init, headers, redirect: 'manual', dispatcher } as HttpInit;
    const broken = (why: NoAnswer): never => {
      onBroken(why);
      throw why;
    };
    const answer = await httpFetch(url, sent).catch((error: Error) => {
      if (init.signal?.aborted) throw error;
      return broken(
        new NoAnswer('UNREACHABLE', { detail: plainLine(getErrorText(error.cause ?? error)) }),
      );
    });
    const { status, body } = answer;
    // A server of an earlier revision refuses this method, and the client then uses that revision.
    const asksRevision = headers.some(
      ([name, value]) => name === 'mcp-method' && value === DISCOVER,
    );
    const isOlder = asksRevision && status >= 400 && status < 500;
    if (init.method === 'POST' && !answer.ok && !isOlder) {
      await body?.cancel();
      const after = waitMs(answer.headers.get('retry-after') ?? undefined);
      return broken(new NoAnswer('HTTP_STATUS', { status }, { afterMs: after }));
    }
    const read = body && ReadableStream.from(readBody(body, broken));
    return new Response(read as Body | null, { status, headers: [...answer.headers] });
  };
}

async function* readBody(body: AsyncIterable<Uint8Array>, broken: (why: NoAnswer) => never) {
  try {
    yield* bounded(body, LARGEST_MESSAGE_BYTES);
  } catch (error) {
    const why = new NoAnswer('UNREACHABLE', { detail: plainLine(getErrorText(error)) });
    broken(error instanceof NoAnswer ? error : why);
  }
}

/** @throws {NoAnswer} */
function valueIn({ isError, structuredContent, content }: CallToolResult): unknown {
  const texts = content.flatMap((one) => (one.type === 'text' ? [one.text] : []));
  if (isError) throw new NoAnswer('TOOL_FAILED', { detail: plainLine(texts.join(' ')) });
  const given = structuredContent && bare(structuredContent as Record<string, unknown>);
  if (given !== undefined && typeof given !== 'string') return checked(written(given));
  if (given === undefined && texts.length === 0) throw new NoAnswer('EMPTY_RESULT', {});
  return checked(given ?? texts.join('\n'));
}

/** The Python SDK wraps values that are not objects in `{ result }`. */
function bare(structured: Record<string, unknown>): unknown {
  const wrapped = Object.keys(structured).length === 1 && 'result' in structured;
  return wrapped ? structured.result : structured;
}

/** Parses the text again with the strict JSON reader, which the SDK does not use. */
function checked(text: string): unknown {
  const bytes = Buffer.from(text);
  if (bytes.length > LARGEST_ANSWER_BYTES) {
    throw new NoAnswer('ANSWER_TOO_LONG', { bytes: LARGEST_ANSWER_BYTES });
  }
  return parseAnswerText(bytes);
}

function written(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new NoAnswer('INVALID_JSON', { detail: plainLine(error) });
  }
}

/** Returns the problem that a package of the SDK is missing, and how to install it. */
export function sdkIsMissing(side: 'client' | 'server'): string {
  const name = `@modelcontextprotocol/${side}`;
  return `${name} is not installed; run npm install ${name}@2.4.0`;
}

export const isMissing = (error: unknown): boolean =>
  (error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND';

type Sdk = Awaited<ReturnType<typeof sdkParts>>;

async function sdkParts() {
  const [client, stdio] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('@modelcontextprotocol/client/stdio'),
  ]);
  return { ...client, ...stdio };
}

/** @throws {ScenarioError} if the SDK is not installed. */
export async function loadSdk(group: string): Promise<Sdk> {
  try {
    return await sdkParts();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw scenarioError('SDK_NOT_INSTALLED', { group, problem: sdkIsMissing('client') });
  }
}
