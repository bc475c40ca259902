/** Idle timeout of MCP sessions over HTTP. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { generateKeys, saveKeys } from 'folkmoot/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ActingAgents } from '../../../dist/cli/commands/mcp/acting-agents.js';
import { Sessions } from '../../../dist/cli/commands/mcp/http.js';
import { live } from '../../client/helpers.js';
import { temporaryFolder } from '../../support/fixture.js';

const MINUTE = 60_000;

/** Returns a client, and a probe of its session. */
async function host(url: string, listens: boolean) {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    // A listening host has an unfinished response.
    fetch: (to, init) =>
      init?.method === 'GET' && !listens
        ? Promise.resolve(new Response(null, { status: 405 }))
        : fetch(to, init),
  });
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  const asked = async () => {
    try {
      await client.listTools();
      return 'answered';
    } catch (error) {
      return String((error as { code?: number }).code);
    }
  };
  return { client, asked };
}

test('mcp sessions: closes a session idle for half an hour, keeps one in use', async () => {
  const { url: network } = await live();
  const key = join(temporaryFolder(), 'ada.key.json');
  writeFileSync(key, saveKeys(generateKeys()), { mode: 0o600 });
  const agents = await ActingAgents.read([network], [key]);
  onTestFinished(() => agents.close());
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const sessions = new Sessions(agents);
  onTestFinished(() => sessions.close());
  const server = createServer((request, response) => {
    sessions.handle(request, response).then((turned) => {
      if (turned) response.writeHead(turned.status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const [idle, busy, listening] = [
    await host(url, false),
    await host(url, false),
    await host(url, true),
  ];
  for (const { asked } of [idle, busy, listening]) expect(await asked()).toBe('answered');
  for (let minutes = 0; minutes < 27; minutes += 9) {
    vi.advanceTimersByTime(9 * MINUTE);
    expect(await busy.asked()).toBe('answered');
  }
  expect(await idle.asked()).toBe('answered');
  vi.advanceTimersByTime(40 * MINUTE);
  const after = async () => [await idle.asked(), await busy.asked(), await listening.asked()];
  await expect.poll(after).toEqual(['404', '404', 'answered']);
  // A returning host starts a new session.
  expect(await (await host(url, false)).asked()).toBe('answered');
});
