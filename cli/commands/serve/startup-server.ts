/**
 * Server at the address of a node that is catching up. The node reports alive but not ready. All
 * other requests get CATCHING_UP, so that clients use a different node.
 */
import { createServer } from 'node:http';
import { refuse } from '../../../engine/protocol/schema/reason.js';
import { listenError } from '../../output/exit.js';

const limits = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAlive: false,
} as const;

/** Listens until `close`. Does not listen on port 0, because no client would know the port. */
export interface StartupServer {
  /** Sets the reason that responses state. */
  because(why: string): void;
  close(): Promise<void>;
}

/** @throws {Failure} */
export async function startStartupServer(host: string, port: number): Promise<StartupServer> {
  let why = 'the node is catching up';
  const server = createServer(limits, (request, response) => {
    const { status, body } = request.url === '/healthz' ? alive : notReady(why);
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      Connection: 'close',
      ...(status === 200 ? {} : { 'Retry-After': '1' }),
    });
    response.end(JSON.stringify(body));
  });
  if (port !== 0) {
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) =>
        reject(listenError('CANNOT_SERVE', { reason: error.message })),
      );
      server.listen(port, host, resolve);
    });
  }
  return {
    because(text) {
      why = text;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const alive = { status: 200, body: { success: true, data: { status: 'ok' } } };

function notReady(why: string) {
  const { status, code, reason, message } = refuse('NODE_STARTING', { progress: why });
  return { status, body: { success: false, error: { code, message, details: { reason } } } };
}
