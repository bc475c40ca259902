/** The fast transport: uWebSockets.js. Its memory is gone when a callback returns: copy at once. */
import type { HttpResponse, us_listen_socket, us_socket } from 'uWebSockets.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { InFlight } from './in-flight.js';
import { listenProblem } from './listen-problem.js';
import type { Address, Application, Listening, Transport } from './transport.js';
import { addressOf, serve } from './uws-exchange.js';
import { sockets } from './uws-sockets.js';

type Uws = typeof import('uWebSockets.js');

/** The transport, or why there is none: it is not installed, or its binary does not load. */
export async function uwsTransport(): Promise<Transport | { missing: string }> {
  let uws: Uws;
  try {
    uws = await import('uWebSockets.js');
  } catch (error) {
    return { missing: reasonOf(error) };
  }
  return { name: 'uws', listen: (application, address) => listen(uws, application, address) };
}

/** There are no binaries for musl, nor for Node 24 and later. */
function reasonOf(error: unknown): string {
  const { code } = error as { code?: string };
  if (code === 'ERR_MODULE_NOT_FOUND') {
    return 'uWebSockets.js is not installed (npm install uWebSockets.js@npm:uws-pack@20.0.8)';
  }
  const { platform, arch, version } = process;
  return `uWebSockets.js does not load on ${platform} ${arch} with Node ${version}`;
}

async function listen(
  uws: Uws,
  application: Application,
  { host, port, shared = false }: Address,
): Promise<Listening> {
  const inFlight = new InFlight(application.limits);
  const app = uws.App();
  app
    .filter((res, change) => connectionChanged(application, res, change))
    .ws(application.socketPath, sockets(app, application, inFlight))
    .any('/*', (res, req) => serve(application, inFlight, res, req));
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    // The library takes host, port and options together; its types know only pairs of them.
    const listenOn = app.listen as unknown as ListenOn;
    listenOn.call(app, host, port, shared ? 0 : EXCLUSIVE_PORT, resolve);
  });
  if (!socket) throw await listenProblem({ host, port });
  return {
    port: uws.us_socket_local_port(socket as unknown as us_socket),
    async close() {
      uws.us_listen_socket_close(socket);
      await inFlight.drained();
      // What was answered last leaves when this turn of the library ends.
      await nextTurn();
      app.close();
    },
  };
}

/** A connection began, or ended: then the library knows its address no more. */
function connectionChanged(application: Application, res: HttpResponse, change: number): void {
  if (change > 0 && !application.accepts(addressOf(res))) res.close();
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT: by default a second server would share the port in silence. */
const EXCLUSIVE_PORT = 1;
type ListenOn = (
  host: string,
  port: number,
  options: number,
  listening: (socket: us_listen_socket | false) => void,
) => void;
