/** Explanations of why uWebSockets.js does not load, by platform, with the action to take. */
import { expect, test } from 'vitest';
import { describeLoadProblem, type Platform } from '../../../api/transport/uws-transport.js';

const on = (version: string, arch: NodeJS.Architecture = 'x64'): Platform => ({
  platform: 'linux',
  arch,
  version,
});
const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
const glibc = new Error(
  "Error: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by uws.node)",
);
const noBinary = new Error("Error: Cannot find module './uws_linux_x64_137.node'");

const registry = 'npm install uWebSockets.js@npm:uws-pack@20.0.8';
const upstream = 'npm install uWebSockets.js@uNetworking/uWebSockets.js#v20.67.0';

test.each([
  ['absent on Node 20', missing, on('v20.20.2'), ['not installed', registry]],
  ['absent on Node 22', missing, on('v22.23.3'), ['not installed', upstream]],
  ['absent on Node 26', missing, on('v26.12.1'), ['not installed', upstream]],
  ['an old C library', glibc, on('v24.21.0'), ['glibc 2.38', 'linux x64 with Node v24.21.0']],
  ['no binary for Node 24', noBinary, on('v24.21.0'), ['no binary', upstream]],
  ['no binary for this processor', noBinary, on('v20.20.2', 'arm'), ['linux arm', registry]],
])('uws: explains a failed load: %s', (_, error, platform, parts) => {
  const text = describeLoadProblem(error, platform);
  for (const part of parts) expect(text).toContain(part);
});
