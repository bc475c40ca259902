/** Streamable HTTP: sessions for hosts that come over the network, behind a door. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ListenProblem } from '../../../../api/transport/listen-problem.js';
import { Strangers } from '../../../../cluster/peer/strangers.js';
import { ListenError, UsageError } from '../../../output/exit.js';
import { printJson, say } from '../../../output/output.js';
import type { Stopping } from '../../serve/stopping.js';
import type { ActingAgents } from '../acting.js';
import { tellFault } from '../results.js';
import { Door, PATH, type TurnedAway } from './door.js';
import { Sessions } from './sessions.js';

const MOST_CONNECTIONS = 256;
/** Of these without the token. */
const MOST_STRANGERS = 128;
/** Of a request's head, and of all of it; Node's server compares every so often. */
const HEAD_MS = 10_000;
const REQUEST_MS = 30_000;
const CHECK_MS = 1_000;

export interface HttpOptions {
  host: string;
  port: number;
  hosts: readonly string[];
}

/** Serves until it is asked to stop. */
export async function serveHttp(
  agents: ActingAgents,
  options: HttpOptions,
  stopping: Stopping,
): Promise<void> {
  const { token, own } = tokenOf(process.env.FOLKMOOT_MCP_TOKEN);
  const door = doorOf(token, options.hosts);
  const sessions = new Sessions(agents);
  const server = createServer(
    {
      headersTimeout: HEAD_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: CHECK_MS,
    },
    (request, response) => {
      const turned = door.turnsAway(request);
      if (turned) return turnAway(response, turned);
      strangers.isKnown(request.socket);
      answer(request, response, sessions).catch((error) => {
        tellFault(error);
        turnAway(response, { status: 500, message: 'a fault of folkmoot mcp: its log says more' });
      });
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  const strangers = new Strangers(server, { most: MOST_STRANGERS, ms: HEAD_MS });
  const url = await listening(server, options);
  printJson({ event: 'listening', url, ...(own ? {} : { token }) });
  say(`folkmoot mcp: serving ${agents.urls.join(', ')} at ${url} as ${agents.names.join(', ')}`);
  await stopping.asked;
  server.close();
  await sessions.close();
  server.closeAllConnections();
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  sessions: Sessions,
): Promise<void> {
  const turned = await sessions.handle(request, response);
  if (turned) turnAway(response, turned);
}

/** An error as JSON-RPC has it, and no more of the request. */
function turnAway(response: ServerResponse, { status, message, headers }: TurnedAway): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, {
    'Content-Type': 'application/json',
    Connection: 'close',
    ...headers,
  });
  const error = { code: -32_000, message };
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}

function tokenOf(given: string | undefined): { token: string; own: boolean } {
  if (given === undefined) return { token: randomBytes(32).toString('base64url'), own: false };
  if (/^[\x21-\x7e]{32,512}$/.test(given)) return { token: given, own: true };
  throw new UsageError('FOLKMOOT_MCP_TOKEN: expected 32 to 512 characters without blanks');
}

function doorOf(token: string, names: readonly string[]): Door {
  try {
    return new Door({ token, names });
  } catch (error) {
    throw new UsageError(`--hosts: ${(error as Error).message}`);
  }
}

async function listening(
  server: ReturnType<typeof createServer>,
  { host, port }: HttpOptions,
): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new ListenError(new ListenProblem({ host, port }, error).message);
  }
  const { address, family, port: taken } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}${PATH}`;
}
