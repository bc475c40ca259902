/** docs/own-client.md: its blocks form a script that finalizes a block. */
import { expect, test } from 'vitest';
import { document, fenced } from './markdown.js';
import { ownClient, python } from './programs.js';
import { served } from './start-server.js';

const what =
  'own-client.md: the Python agent registers, proposes, votes, sees the block final, leaves';
const lacking = python ? '' : ' (skipped: needs python3-nacl and python3-websockets)';

for (const transport of ['uws', 'node']) {
  test.skipIf(!python)(`${what}, ${transport}${lacking}`, async () => {
    const { url } = await served('--transport', transport);
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
}
