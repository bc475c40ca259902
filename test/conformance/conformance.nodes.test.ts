/** The conformance suite against `folkmoot serve` on other versions of Node, per transport. */
import { execFileSync } from 'node:child_process';
import { host } from '../support/host.js';
import { loadsUws, nodes } from '../support/runner/nodes.js';
import type { Start } from '../support/service/world.js';
import { conformance } from './suite.js';

/** Starts a new server in a new folder for each test. */
const serving =
  (node: string, transport: string): Start =>
  async (limits) => {
    const quiet = ['--transport', transport, '--log-level', 'silent', '--network-id', 'testnet'];
    const { url, wsUrl, kill } = await host({ node, args: ['--limits', limits, ...quiet] });
    return { url, wsUrl, close: async () => void (await kill('SIGKILL')) };
  };

for (const node of nodes) {
  const version = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
  for (const transport of loadsUws(version) ? ['uws', 'node'] : ['node']) {
    conformance(`Node ${version}, ${transport}`, serving(node, transport));
  }
}
