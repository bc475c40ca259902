/** One session with an MCP server, begun when it is first asked, one question at a time. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { ScenarioError } from '../../../../scenario/problem.js';
import { plainLine } from '../../answer.js';
import { NoAnswer } from '../door.js';
import type { Sdk } from './sdk.js';
import { LARGEST_MESSAGE_BYTES, type Place, type Way, wayTo } from './ways.js';

/** Pages of tools that are looked through. */
const MOST_PAGES = 100;
/** The longest that a timer takes: how long a call may take is the caller's to say. */
const LONGEST_MS = 2_147_483_647;

export class McpSession {
  /** It can be asked no more. */
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
    // The version is that of the questions.
    this.#client = new sdk.Client({ name: 'folkmoot', version: '1' });
    this.#way = wayTo(sdk, place, (why) => this.#broken(why));
    // A client that cannot begin closes first, and says why afterwards.
    this.#client.onclose = () => void setImmediate(() => this.#broken(this.#way.ends));
    this.#client.onerror = (error) => this.#heard(error);
  }

  /** @throws {NoAnswer} @throws {ScenarioError} when it has no such program or tool. */
  async ask(question: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    try {
      return await Promise.race([this.#call(question, signal), failed]);
    } catch (error) {
      // What a tool refuses leaves its server as it was.
      if (!this.#begun || !this.#isRefusal(error) || signal.aborted) this.over = true;
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
    const call = { name: this.#tool, arguments: question };
    return (await this.#client.callTool(call, undefined, options)) as CallToolResult;
  }

  /** The client's own list would compile the server's schemas, and run their patterns. */
  async #expectTool(options: { signal: AbortSignal; timeout: number }): Promise<void> {
    const { ListToolsResultSchema } = this.#sdk;
    const names: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const request = { method: 'tools/list' as const, params };
      const listed = await this.#client.request(request, ListToolsResultSchema, options);
      names.push(...listed.tools.map(({ name }) => name));
      cursor = listed.nextCursor;
      if (names.includes(this.#tool)) return;
      if (cursor === undefined) break;
    }
    const there = names.length > 0 ? `expected one of ${names.join(', ')}` : 'it has none';
    throw new ScenarioError(plainLine(`its MCP server has no tool ${this.#tool}; ${there}`));
  }

  #broken(why: NoAnswer): void {
    this.over = true;
    this.#fail(why);
  }

  /** What the SDK can make nothing of: it is of the one question that waits. */
  #heard(error: Error): void {
    if (/exceeded maximum size/.test(error.message)) {
      this.#broken(new NoAnswer('too_long', `it said more than ${LARGEST_MESSAGE_BYTES} bytes`));
    } else if (isNoMessage(error)) {
      this.#broken(noMessage(error));
    }
  }

  #told(error: unknown): Error {
    if (error instanceof NoAnswer || error instanceof ScenarioError) return error;
    if (isNoMessage(error)) return noMessage(error);
    const { McpError, ErrorCode } = this.#sdk;
    if (error instanceof McpError) {
      const closed = error.code === ErrorCode.ConnectionClosed;
      return closed ? this.#way.ends : new NoAnswer('refused', plainLine(error));
    }
    const { syscall = '' } = error as NodeJS.ErrnoException;
    if ('command' in this.#place && syscall.startsWith('spawn')) {
      const [file] = this.#place.command;
      const why = `decider ${file} cannot be started: ${plainLine(error)}`;
      return new ScenarioError(why, { cause: error });
    }
    return new NoAnswer('refused', plainLine(error));
  }

  #isRefusal(error: unknown): boolean {
    const { McpError, ErrorCode } = this.#sdk;
    return error instanceof McpError && error.code !== ErrorCode.ConnectionClosed;
  }
}

/** Not JSON, not of the protocol's shape, or nested too deeply to be looked at. */
const isNoMessage = (error: unknown): error is Error =>
  error instanceof SyntaxError ||
  error instanceof RangeError ||
  (error instanceof Error && error.name.endsWith('ZodError'));

const noMessage = (error: Error) =>
  new NoAnswer('no_json', plainLine(`it said what is no message of MCP: ${error.message}`));
