/** Valid and invalid WebSocket handshakes. */

export interface Upgrade {
  name: string;
  lines: string[];
}

const lines = {
  ...{ connection: 'Connection: Upgrade', upgrade: 'Upgrade: websocket' },
  ...{ version: 'Sec-WebSocket-Version: 13', key: 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' },
};

function upgrade(
  name: string,
  changed: Partial<Record<keyof typeof lines, string>> = {},
  first = 'GET /ws/v1',
): Upgrade {
  const all = Object.values({ ...lines, ...changed }).filter((line) => line !== '');
  return { name, lines: [`${first} HTTP/1.1`, 'Host: 127.0.0.1', ...all] };
}

export const upgrades: readonly Upgrade[] = [
  upgrade('right'),
  upgrade('in other letters', {
    upgrade: 'Upgrade: WebSocket',
    connection: 'Connection: keep-alive, upgrade',
  }),
  ...['7', '8', '0', '14', '13, 8', 'x', '', '013'].map((version) =>
    upgrade(`version ${version}`, { version: `Sec-WebSocket-Version: ${version}` }),
  ),
  ...['short', '', '!'.repeat(24), 'dGhlIHNhbXBsZSBub25jZQ', 'x'.repeat(2_000)].map((key) =>
    upgrade(`key ${key.slice(0, 30)}`, { key: `Sec-WebSocket-Key: ${key}` }),
  ),
  upgrade('without a version', { version: '' }),
  upgrade('without a key', { key: '' }),
  upgrade('without Connection', { connection: '' }),
  upgrade('without Upgrade', { upgrade: '' }),
  upgrade('to h2c', { upgrade: 'Upgrade: h2c' }),
  upgrade('to nothing', { upgrade: 'Upgrade: ' }),
  upgrade('at another path', {}, 'GET /nothing'),
  upgrade('at a read', {}, 'GET /api/v1/meta'),
  upgrade('at a path below', {}, 'GET /ws/v1/x'),
  upgrade('with a query', {}, 'GET /ws/v1?x=y'),
  upgrade('by POST', {}, 'POST /ws/v1'),
  upgrade('by HEAD', {}, 'HEAD /ws/v1'),
  {
    ...upgrade('from another origin'),
    lines: [...upgrade('').lines, 'Origin: http://evil.example'],
  },
  {
    ...upgrade('with compression'),
    lines: [...upgrade('').lines, 'Sec-WebSocket-Extensions: permessage-deflate'],
  },
  {
    ...upgrade('with a bad extension'),
    lines: [...upgrade('').lines, 'Sec-WebSocket-Extensions: ,;='],
  },
  { ...upgrade('with a protocol'), lines: [...upgrade('').lines, 'Sec-WebSocket-Protocol: chat'] },
  {
    ...upgrade('with two bad protocols'),
    lines: [...upgrade('').lines, 'Sec-WebSocket-Protocol: a a,,'],
  },
  { ...upgrade('with a length'), lines: [...upgrade('').lines, 'Content-Length: 0'] },
  {
    ...upgrade('for another host'),
    lines: upgrade('').lines.map((line) => line.replace('127.0.0.1', 'evil.example')),
  },
];
