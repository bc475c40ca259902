/**
 * A bare uWebSockets.js server in its own process. It answers each GET with given bytes, and
 * publishes each posted body to all subscribers. Its rates are the upper bound for a server on this
 * library.
 */
import type { us_listen_socket, us_socket } from 'uWebSockets.js';
import { answerParent } from './servers/child-server.js';

const uws = await import('uWebSockets.js');

let body = '';
const topic = 'events';

const app = uws
  .App()
  .ws('/*', {
    compression: 0,
    idleTimeout: 0,
    maxBackpressure: 0,
    open: (ws) => void ws.subscribe(topic),
  })
  .get('/*', (res) => {
    res.writeHeader('Content-Type', 'application/json');
    res.end(body);
  })
  .post('/*', (res) => {
    const chunks: Buffer[] = [];
    res.onAborted(() => {});
    res.onData((chunk, isLast) => {
      chunks.push(Buffer.from(chunk.slice(0)));
      if (!isLast) return;
      app.publish(topic, Buffer.concat(chunks), false);
      res.end('{}');
    });
  });

app.listen('127.0.0.1', 0, (socket: us_listen_socket | false) => {
  if (!socket) throw new Error('no free port on 127.0.0.1');
  const port = uws.us_socket_local_port(socket as unknown as us_socket);
  answerParent(port, (told) => {
    body = told.body;
  });
});
