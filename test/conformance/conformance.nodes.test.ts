/** The conformance suite against `folkmoot serve` on other versions of Node, per transport. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import { main } from '../support/paths.js';
import { loadsUws, nodes } from '../support/runner/nodes.js';
import type { Service, Start } from '../support/service/world.js';
import { conformance } from './suite.js';

const ends: (() => void)[] = [];
afterAll(() => {
  for (const end of ends) end();
});

/** Starts a new server in a new folder for each test. */
function serving(node: string, transport: string): Start {
  return async (limits): Promise<Service> => {
    const data = mkdtempSync(join(tmpdir(), 'folkmoot-test-'));
    const args = ['serve', '--port', '0', '--data', data, '--limits', limits];
    const quiet = ['--transport', transport, '--log-level', 'silent', '--network-id', 'testnet'];
    const child = spawn(node, [main, ...args, ...quiet], { stdio: ['ignore', 'pipe', 'inherit'] });
    const end = () => {
      child.kill('SIGKILL');
      rmSync(data, { recursive: true, force: true });
    };
    ends.push(end);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { url, ws_url: wsUrl } = JSON.parse(line as string);
    return { url, wsUrl, close: async () => end() };
  };
}

for (const node of nodes) {
  const version = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
  for (const transport of loadsUws(version) ? ['uws', 'node'] : ['node']) {
    conformance(`Node ${version}, ${transport}`, serving(node, transport));
  }
}
