/** docs/own-client.md: its blocks form a script that finalizes a block. */
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { host } from '../support/host.js';
import { document, fenced } from './markdown.js';
import { callBlocks, ownClient, python } from './programs.js';

const what =
  'own-client.md: the Python agent registers, proposes, votes, sees the block final, leaves';
const lacking = python ? '' : ' (skipped: needs python3-nacl and python3-websockets)';

for (const transport of ['uws', 'node']) {
  test.skipIf(!python)(`${what}, ${transport}${lacking}`, async () => {
    const { url } = await host({ args: ['--limits', 'bench', '--transport', transport] });
    const stdout = await ownClient(url);
    const id = /agent_[0-9a-f]{32}/.exec(stdout)![0];
    const texts = fenced(document('docs/own-client.md'), 'text');
    const shown = texts.find((block) => block.startsWith('registered'))!;
    expect(stdout.startsWith(shown.replaceAll('agent_...', id)), stdout).toBe(true);
    const path = `/api/v1/agents/${id}/status`;
    expect(stdout.slice(shown.replaceAll('agent_...', id).length)).toMatch(
      new RegExp(`^valid: False because MISMATCH\nagentnet-v1-http\nPUT\n${path}\n.*\n\\w{64}\n$`),
    );
  });

  test.skipIf(!python)(`own-client.md: explains refusals, ${transport}${lacking}`, async () => {
    const { url } = await host({ args: ['--limits', 'bench', '--transport', transport] });
    const told = async (call: string, target = url) =>
      ownClient(target, [...callBlocks, call]).catch(({ stderr }: { stderr: string }) => stderr);
    const large = 'call("POST", "/api/v1/agents/register", b"x" * 3_000_000)';
    expect(await told(large)).toMatch(/^\/api\/v1\/agents\/register: 413 TOO_LARGE: /);
    // The transport refuses this head without an envelope.
    expect(await told('call("GET", "/healthz", X=30_000 * "x")')).toMatch(/^\/healthz: 431 \w/);
    expect(await told(large, await deafServer())).toMatch(/register: no response from /);
  });
}

/** Starts a server that closes each connection without an answer. */
async function deafServer(): Promise<string> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
