/** docs/own-client.md: its blocks, one after the other, are a script that finalizes a block. */
import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/fixture.js';
import { document, fenced } from './markdown.js';
import { served } from './served.js';

/** Debian's packages belong to Debian's Python, which need not be the first one on the path. */
const python = ['python3', '/usr/bin/python3'].find((candidate) => {
  try {
    execFileSync(candidate, ['-c', 'import nacl.signing, websockets'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

const what = 'own-client.md: the Python agent registers, proposes, votes and sees the block final';
const lacking = python ? '' : ' (skipped: needs python3-nacl and python3-websockets)';
/** Far above what it takes. */
const timeout = 60_000;

for (const transport of ['uws', 'node']) {
  test.skipIf(!python)(`${what}, ${transport}${lacking}`, async () => {
    const text = document('docs/own-client.md');
    const script = join(temporaryFolder(), 'agent.py');
    writeFileSync(script, fenced(text, 'python').join('\n'));
    const { url } = await served('--transport', transport);
    const { stdout } = await promisify(execFile)(python!, [script, url], { timeout });
    const id = /agent_[0-9a-f]{32}/.exec(stdout)![0];
    const shown = fenced(text, 'text').find((block) => block.startsWith('registered'))!;
    expect(stdout.startsWith(shown.replaceAll('agent_...', id)), stdout).toBe(true);
    const path = `/api/v1/agents/${id}/status`;
    expect(stdout.slice(shown.replaceAll('agent_...', id).length)).toMatch(
      new RegExp(`^valid: False because MISMATCH\nagentnet-v1-http\nPUT\n${path}\n.*\n\\w{64}\n$`),
    );
  });
}
