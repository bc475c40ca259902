/** Raw bytes that no HTTP client sends are refused without harm over both transports. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { abandon, raw, statusesOf } from '../../support/service/raw.js';
import { transports, world } from '../../support/service/server.js';
import { agentOf, type Request, register, status } from '../../support/service/signer.js';

const REGISTER = '/api/v1/agents/register';

describe.each(transports)('bytes over %s', (transport) => {
  const begin = async () => {
    const there = await world({ transport });
    // The server must still answer afterwards.
    onTestFinished(async () => expect((await there.get('/healthz')).status).toBe(200));
    return there;
  };

  test('pipelined requests: are answered in order', async () => {
    const there = await begin();
    const one = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const paths = ['/api/v1/network/state', '/nowhere', '/healthz', '/api/v1/blocks?limit=0'];
    const text = await raw(
      there.url,
      paths.map(one).join(''),
      (got) => statusesOf(got).length === 4 && got.endsWith('}'),
    );
    expect(statusesOf(text)).toEqual([200, 404, 200, 400]);
  });

  test('two pipelined requests of one agent: both count', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    const asText = ({ method, path, headers, body }: Request) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const length = `Content-Length: ${body.length}\r\n\r\n`;
      return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${length}${body}`;
    };
    const requests = ['inactive', 'maintenance'].map((to) => asText(status(ada, { status: to })));
    const text = await raw(
      there.url,
      requests.join(''),
      (got) => statusesOf(got).length === 2 && got.endsWith('}'),
    );
    expect(statusesOf(text)).toEqual([200, 200]);
    expect((await there.read(`/api/v1/agents/${ada.agentId}`)).status).toBe('maintenance');
  });

  const get = 'GET /api/v1/network/state HTTP/1.1\r\n';
  test('requests aborted half-way: the server still answers', async () => {
    const there = await begin();
    const line = `POST ${REGISTER} HTTP/1.1\r\nHost: localhost\r\n`;
    const head = `${line}Content-Type: application/json\r\n`;
    const { headers, body } = register(agentOf('Ada'));
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const whole = `${line}Content-Length: ${body.length}\r\n`;
    for (const bytes of [
      'POST /api',
      head,
      'HELLO\r\n\r\n',
      `${get}\r\n`,
      `${head}Content-Length: 100\r\n\r\n{"name":`,
      `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"na`,
      `${whole}${lines.join('')}\r\n${body}`,
    ]) {
      await abandon(there.url, bytes);
      expect((await there.get('/healthz')).status).toBe(200);
    }
  });
});
