/** A flood from more addresses than the server remembers, through real connections. */
import { raw, statusesOf } from '../../support/service/raw.js';
import { transports, world } from '../../support/service/server.js';
import { agentOf, type Request, register, status } from '../../support/service/signer.js';

const ADDRESSES = 66_500;
const CONNECTIONS = 20;
const EACH = ADDRESSES / CONNECTIONS;
const PART = 175;

const from = (address: string, { headers, ...request }: Request): Request => ({
  ...request,
  headers: { ...headers, 'X-Forwarded-For': address },
});
const get = (path: string, address: string) =>
  from(address, { method: 'GET', path, headers: {}, body: '' });

/** Addresses of one /48, of one /16, and without a common network. */
const floods: [string, (index: number) => string][] = [
  ['one /48', (index) => `2001:db8:7:${index.toString(16)}::1`],
  ['one /15', (index) => `10.${8 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`],
  ['no common network', (index) => `2001:${(index >> 8).toString(16)}:${index & 255}:1::1`],
];

describe.each(transports)('overflow over %s', (transport) => {
  test.each(floods)('addresses of %s: lock out no newcomer and no agent', async (_, addressOf) => {
    const there = await world({
      ...{ transport, limits: 'spec', server: { trustedProxies: ['127.0.0.1'] } },
    });
    const [ada, bob] = [agentOf('Ada'), agentOf('Bob')];
    const active = (by: typeof ada) => status(by, { status: 'active' }, by.agentId);
    await there.do(from('192.0.2.1', register(ada)));
    await there.do(from(addressOf(9), register(bob)));
    const line = async (first: number) => {
      for (let index = first; index < first + EACH; index += PART) {
        const requests = Array.from({ length: PART }, (_, at) =>
          [
            'GET /api/v1/network/state HTTP/1.1',
            'Host: localhost',
            `X-Forwarded-For: ${addressOf(index + at)}`,
            '\r\n',
          ].join('\r\n'),
        );
        await raw(there.url, requests.join(''), (text) => statusesOf(text).length === PART);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, at) => line(at * EACH)));
    for (const path of ['/api/v1/meta', '/ui/', '/api/v1/network/agents']) {
      expect((await there.send(get(path, '198.51.100.7'))).status, path).toBe(200);
    }
    expect((await there.send(from('198.51.100.8', register(agentOf('Cid'))))).status).toBe(201);
    await there.do(from('198.51.100.9', active(ada)), 200);
    // An agent in the flood's own network.
    await there.do(from(addressOf(9), active(bob)), 200);
    // No connection is refused.
    expect((await there.get('/healthz')).status).toBe(200);
  });
});
