/** WebSockets over uWebSockets.js, as the application sees them. */
import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js';
import { socketLimits } from '../contract/channels.js';
import type { InFlight } from './in-flight.js';
import type { Application, Socket, SocketHandlers } from './transport.js';
import { Exchange, UwsHead } from './uws-exchange.js';

interface SocketData {
  addressKey: string;
  handlers: SocketHandlers | null;
}

/** What `send` says of a message that was dropped. */
const DROPPED = 2;

export function sockets(
  app: Pick<TemplatedApp, 'publish'>,
  application: Application,
  inFlight: InFlight,
): WebSocketBehavior<SocketData> {
  return {
    compression: 0,
    maxPayloadLength: socketLimits.transportBytes,
    // The application beats itself. This is for a peer that was sent away and does not listen.
    idleTimeout: socketLimits.silenceSeconds,
    sendPingsAutomatically: false,
    // Holds for its pongs as well. The application stops well before, and learns what is dropped.
    maxBackpressure: socketLimits.backlogBytes,
    upgrade: (res, req, context) => upgrade(application, inFlight, res, req, context),
    open(ws) {
      ws.getUserData().handlers = application.open(socketOf(app, ws));
    },
    message(ws, message, isBinary) {
      // Copied by the decoding: the memory is uWebSockets.js' own.
      ws.getUserData().handlers?.message(isBinary ? null : Buffer.from(message).toString());
    },
    ping: (ws) => ws.getUserData().handlers?.pinged(),
    pong: (ws) => ws.getUserData().handlers?.pong(),
    drain: (ws) => ws.getUserData().handlers?.drained(),
    // Later: the library is in the middle of its list of those who are sent the same.
    dropped: (ws) => void setImmediate((data) => data.handlers?.missed(), ws.getUserData()),
    close(ws, code) {
      const data = ws.getUserData();
      const { handlers } = data;
      data.handlers = null;
      handlers?.closed(code);
    },
  };
}

function upgrade(
  application: Application,
  inFlight: InFlight,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
): void {
  try {
    const head = new UwsHead(res, req);
    const request = application.begin(head, 0);
    const opened = request.upgrade();
    const open = ({ addressKey }: { addressKey: string }) => {
      const header = (name: string) => head.headers.get(`sec-websocket-${name}`) ?? '';
      const data = { addressKey, handlers: null };
      const asked = [header('key'), header('protocol'), header('extensions')] as const;
      res.upgrade<SocketData>(data, ...asked, context);
    };
    if (opened instanceof Promise) {
      const exchange = new Exchange(inFlight, res, head, request);
      exchange.watch();
      void opened.then((later) => exchange.open(later, open));
    } else if ('answer' in opened) {
      new Exchange(inFlight, res, head, request).refuse(() => opened.answer);
    } else open(opened);
  } catch (error) {
    // A handshake that is neither answered nor watched would end the process.
    res.onAborted(() => {});
    res.close();
    throw error;
  }
}

/** Calls on a closed socket throw in uWebSockets.js: they are nothing here. */
function socketOf(app: Pick<TemplatedApp, 'publish'>, ws: WebSocket<SocketData>): Socket {
  const data = ws.getUserData();
  let ended = false;
  const alive = () => !ended && data.handlers !== null;
  return {
    addressKey: data.addressKey,
    together: {
      join: (topic) => void ws.subscribe(topic),
      leave(topic) {
        if (alive()) ws.unsubscribe(topic);
      },
      publish: (topic, text) => void app.publish(topic, text, false),
    },
    send: (text) => ended || ws.send(text, false) !== DROPPED,
    sendBytes: (bytes) => ended || ws.send(bytes, true) !== DROPPED,
    bufferedBytes: () => (alive() ? ws.getBufferedAmount() : 0),
    cork(work) {
      if (alive()) ws.cork(work);
    },
    ping() {
      if (alive()) ws.ping();
    },
    close(code, reason) {
      if (ended) return;
      ended = true;
      ws.end(code, reason);
    },
  };
}
