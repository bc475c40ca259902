/**
 * Notifications of `serve` to systemd, received in its place. Skipped without systemd-notify and
 * Python, which has the datagram sockets that Node.js lacks.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '../../support/fixture.js';
import { host, stop } from '../../support/host.js';
import { root } from '../../support/paths.js';

const receiver = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    for line in s.recv(4096).decode().splitlines():
        print(line, flush=True)
`;

const python = '/usr/bin/python3';
const installed = existsSync('/usr/bin/systemd-notify') && existsSync(python);

/** Receives messages in place of systemd. */
async function receive(socket: string): Promise<string[]> {
  const child = spawn(python, ['-c', receiver, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line');
  const messages: string[] = [];
  lines.on('line', (line) => messages.push(line));
  return messages;
}

test.skipIf(!installed)('systemd: serve reports ready, the watchdog, and stopping', async () => {
  const folder = temporaryFolder();
  const socket = join(folder, 'notify');
  const messages = await receive(socket);
  const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' };
  const server = await host({ data: join(folder, 'data'), env });
  await expect
    .poll(() => messages.filter((message) => message === 'WATCHDOG=1').length)
    .toBeGreaterThan(2);
  const ready = messages.indexOf('READY=1');
  expect(ready).toBeGreaterThanOrEqual(0);
  expect(ready).toBeLessThan(messages.indexOf('WATCHDOG=1'));
  expect(messages).toContain(`STATUS=listening at ${server.url}`);
  expect(messages).not.toContain('STOPPING=1');
  await stop(server);
  await expect.poll(() => messages).toContain('STOPPING=1');
});

test('systemd: a failed notification is one warning, and the server continues', async () => {
  const folder = temporaryFolder();
  const env = { NOTIFY_SOCKET: join(folder, 'none'), PATH: folder };
  const server = await host({ data: join(folder, 'data'), env });
  await server.said('systemd-notify failed');
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  await stop(server);
  expect(server.stderr().split('systemd-notify failed').length).toBe(2);
});

test.skipIf(!existsSync('/usr/bin/systemd-analyze'))('systemd: accepts the unit', () => {
  const unit = join(root, 'deploy/folkmoot.service');
  // Prints the problems that it finds.
  const printed = execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  expect(printed).toBe('');
});
