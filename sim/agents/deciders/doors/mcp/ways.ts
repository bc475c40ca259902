/** The ways to an MCP server: a program's standard input and output, or HTTP up to a limit. */
import { ReadableStream } from 'node:stream/web';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Agent as HttpAgent, type RequestInit as HttpInit, fetch as httpFetch } from 'undici';
import { LARGEST_ANSWER_BYTES, plainLine } from '../../answer.js';
import { NoAnswer } from '../door.js';
import { reasonOf, waitMs } from '../http.js';
import type { Sdk } from './sdk.js';

/** Where a server is. */
export type Place =
  | { command: readonly string[]; folder: string; env: Readonly<Record<string, string>> }
  | { url: string; key: string | undefined };

type Body = ConstructorParameters<typeof Response>[0];

export interface Way {
  transport: Transport;
  /** What it is called when it ends. */
  ends: NoAnswer;
  /** Once the session on it is closed. */
  close(): Promise<void>;
}

/** A message has the largest answer as text, with its escapes, and once more as a structure. */
export const LARGEST_MESSAGE_BYTES = 4 * LARGEST_ANSWER_BYTES;
/** How long a server may take to end a session. */
const GRACE_MS = 2_000;

/** @param onBroken told when what a server says cannot be read to its end. */
export function wayTo(sdk: Sdk, place: Place, onBroken: (why: NoAnswer) => void): Way {
  return 'url' in place ? httpWay(sdk, place, onBroken) : programWay(sdk, place);
}

function programWay(
  { StdioClientTransport }: Sdk,
  { command: [file, ...args], folder: cwd, env }: Extract<Place, { folder: string }>,
): Way {
  const maxBufferSize = LARGEST_MESSAGE_BYTES;
  // Its own messages go where ours go.
  const program = { command: file!, args, cwd, env: { ...env }, stderr: 'inherit' as const };
  return {
    transport: new StdioClientTransport({ ...program, maxBufferSize }) as Transport,
    ends: new NoAnswer('ended', 'its process ended, or closed its output'),
    close: async () => {},
  };
}

function httpWay(
  { StreamableHTTPClientTransport }: Sdk,
  { url, key }: Extract<Place, { url: string }>,
  onBroken: (why: NoAnswer) => void,
): Way {
  // How long a call may take is the caller's to say.
  const dispatcher = new HttpAgent({ headersTimeout: 0, bodyTimeout: 0 });
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: boundedFetch(dispatcher, onBroken),
  });
  return {
    transport: transport as Transport,
    ends: new NoAnswer('unreachable', 'the session was closed'),
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
 * What is refused, too long or broken off is told as such. Nothing is taken but answers to what was
 * sent: a stream of the server's own is not opened, and one that broke off is not gone on with.
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
      return broken(new NoAnswer('unreachable', plainLine(reasonOf(error.cause ?? error))));
    });
    const { status, body } = answer;
    if (init.method === 'POST' && !answer.ok) {
      await body?.cancel();
      const after = waitMs(answer.headers.get('retry-after') ?? undefined);
      return broken(
        new NoAnswer('refused', `it answered with status ${status}`, { afterMs: after }),
      );
    }
    const read = body && ReadableStream.from(bounded(body, broken));
    return new Response(read as Body | null, { status, headers: [...answer.headers] });
  };
}

async function* bounded(body: AsyncIterable<Uint8Array>, broken: (why: NoAnswer) => never) {
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > LARGEST_MESSAGE_BYTES) {
        throw new NoAnswer('too_long', `it said more than ${LARGEST_MESSAGE_BYTES} bytes`);
      }
      yield chunk;
    }
  } catch (error) {
    const why = new NoAnswer('unreachable', plainLine(reasonOf(error)));
    broken(error instanceof NoAnswer ? error : why);
  }
}
