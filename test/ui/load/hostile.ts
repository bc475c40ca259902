/** A server that responds to a load run with hostile text. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>';
/** Bidirectional overrides and invisible characters. */
export const bidi = '\u202egnp.exe\u2066\u200b';
const long = `${markup}${bidi}${'long '.repeat(2_500)}`;

const error = (code: string, reason: string, message: string) =>
  JSON.stringify({ success: false, error: { code, message, details: { reason } } });

/**
 * Starts a server that refuses all reads, including the state, so that other workloads cannot
 * start.
 */
export async function hostileServer(): Promise<string> {
  let count = 0;
  const server = createServer((request, answer) => {
    const path = (request.url ?? '').split('?')[0];
    answer.setHeader('Content-Type', 'application/json');
    if (path === '/') {
      answer.end(JSON.stringify({ success: true, data: { page: 'javascript:alert(3)' } }));
    } else if (path === '/api/v1/meta') {
      const meta = { version: `${markup}${bidi}`, network_id: long, limits: { profile: bidi } };
      answer.end(JSON.stringify({ success: true, data: meta }));
    } else {
      count += 1;
      answer.statusCode = 500;
      const codes = [markup, `${bidi}CODE`, '', long, `K${count}`];
      answer.end(error(codes[count % codes.length]!, `<b>${bidi}</b>`, long));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
