/** WebSockets over uWebSockets.js, as the application sees them. */
import type { WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { socketLimits } from '../contract/channels.js';
import type { Flight } from './in-flight.js';
import type { Application, Socket, SocketHandlers } from './transport.js';
import { Exchange, requestOf } from './uws-exchange.js';

interface SocketData {
  whom: string;
  handlers: SocketHandlers | null;
}

/** What `send` says of a message that was dropped. */
const DROPPED = 2;

export function sockets(application: Application, flight: Flight): WebSocketBehavior<SocketData> {
  return {
    compression: 0,
    maxPayloadLength: socketLimits.transportBytes,
    // The application beats itself. This is for a peer that was told to go and does not listen.
    idleTimeout: socketLimits.silenceSeconds,
    sendPingsAutomatically: false,
    // Holds for its pongs as well. The application stops well before, and hears of what is dropped.
    maxBackpressure: socketLimits.backlogBytes,
    upgrade(res, req, context) {
      const { request } = requestOf(res, req);
      const admitted = application.admitSocket(request);
      if ('answer' in admitted) {
        return new Exchange(application, flight, res, request).refuse(() => admitted.answer);
      }
      res.upgrade<SocketData>(
        { whom: admitted.whom, handlers: null },
        req.getHeader('sec-websocket-key'),
        req.getHeader('sec-websocket-protocol'),
        req.getHeader('sec-websocket-extensions'),
        context,
      );
    },
    open(ws) {
      ws.getUserData().handlers = application.open(socketOf(ws));
    },
    message(ws, message, isBinary) {
      // Copied by the decoding: the memory is uWebSockets.js' own.
      ws.getUserData().handlers?.message(isBinary ? null : Buffer.from(message).toString());
    },
    ping: (ws) => ws.getUserData().handlers?.pinged(),
    pong: (ws) => ws.getUserData().handlers?.pong(),
    drain: (ws) => ws.getUserData().handlers?.drained(),
    close(ws, code) {
      const data = ws.getUserData();
      const { handlers } = data;
      data.handlers = null;
      handlers?.closed(code);
    },
  };
}

/** Calls on a closed socket throw in uWebSockets.js: they are nothing here. */
function socketOf(ws: WebSocket<SocketData>): Socket {
  const data = ws.getUserData();
  let ended = false;
  const alive = () => !ended && data.handlers !== null;
  return {
    whom: data.whom,
    send: (text) => ended || ws.send(text, false) !== DROPPED,
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
