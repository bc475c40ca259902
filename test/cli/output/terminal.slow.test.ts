/** Control characters from servers, files and arguments do not reach the terminal. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { clientOf, live } from '../../client/helpers.js';
import { folkmoot } from '../../support/cli.js';
import type { Ended } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../support/paths.js';

/** Title, color, line feed, C1 CSI, right-to-left override, isolate, line separator. */
const evil =
  '\u001b]0;owned\u0007\u001b[31m\r\nfolkmoot: all is well\u009b2J\u202e\u2066\u061c\u2028\u007f';
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/** Expects output without control characters and without a forged line. */
function expectTame({ stdout, stderr }: Ended): void {
  for (const text of [stdout, stderr]) {
    expect(text.replaceAll('\n', '')).not.toMatch(steering);
    expect(text).not.toMatch(/^folkmoot: all is well/m);
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server with control characters in every text. */
async function hostile(answer: Answer): Promise<{ url: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    const say = (message: object) => socket.send(JSON.stringify(message));
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data)) as { type: string };
      if (type === 'auth')
        say({ type: 'auth_ok', data: { epoch: evil, last_seq: 0, heartbeat_ms: 1e4 } });
      if (type !== 'subscribe') return;
      say({ type: 'subscribed', data: { epoch: evil, last_seq: 0, gap: false } });
      say({ type: evil, seq: 1, data: { [evil]: evil, timestamp: evil } });
    });
  });
  onTestFinished(() => {
    sockets.close();
    server.close().closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const give = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

const refuses: Answer = (_, response) => {
  const error = { code: evil, message: evil, details: { reason: evil, request_id: evil } };
  give(response, 400, { success: false, error });
};

const agrees: Answer = (_, response) => {
  const limits = { profile: evil, per_minute: {} };
  const data = { version: evil, network_id: evil, epoch: evil, [evil]: evil, limits };
  give(response, 200, { success: true, data });
};

const key = () => {
  const file = join(temporaryFolder(), 'key.json');
  writeFileSync(file, JSON.stringify({ private_key: '01'.repeat(32) }), { mode: 0o600 });
  return file;
};

test.each([
  ['refuses', refuses],
  ['agrees', agrees],
])('terminal: escapes the texts of a server that %s', async (_, answer) => {
  const { url } = await hostile(answer);
  const env = { FOLKMOOT_URL: url, FOLKMOOT_KEY: key() };
  const hash = '0'.repeat(64);
  for (const args of [
    ['network', 'state'],
    ['network', 'agents'],
    ['network', 'blocks'],
    ['agent', 'register', '--name', 'a'],
    ['agent', 'vote', hash, 'approve'],
    ['agent', 'propose', '--tx', 'x', '--parent', hash],
    ['agent', 'watch', '--count', '1'],
    // A server that accepts everything but finalizes nothing causes a timeout.
    ...(answer === refuses ? [['sim', '--url', url, '--agents', '4', '--blocks', '1']] : []),
    ['load', '--workload', 'reads', '--rate', '20', '--duration', '1s', '--warmup', '0s'],
  ]) {
    const ended = await folkmoot(args, { env });
    expectTame(ended);
    expect(`${ended.stdout}${ended.stderr}`, args.join(' ')).not.toBe('');
    expect(ended.signal).toBe(null);
    expect(ended.stderr).not.toMatch(/^ +at /m);
    if (args[0] !== 'network' || answer !== agrees) continue;
    // The line is still JSON and contains the same text.
    expect(JSON.parse(ended.stdout)).toMatchObject({ [evil]: evil, version: evil });
    expect(ended.stdout).toContain('\\u001b[31m\\r\\nfolkmoot: all is well\\u009b2J\\u202e');
  }
});

test('terminal: escapes texts and names of a scenario, also in errors', async () => {
  const folder = temporaryFolder();
  const quoted = JSON.stringify(evil);
  const body = 'agents:\n  - { group: a, count: 4, producers: 1 }\nlength: { blocks: 1 }\n';
  const file = join(folder, 'evil.yaml');
  writeFileSync(file, `title: ${quoted}\nquestion: ${quoted}\n${body}`);
  for (const args of [
    ['sim', file],
    ['sim', file, '--json'],
    ['scenario', 'check', file],
    ['scenario', 'show', file],
  ]) {
    const ended = await folkmoot(args);
    expect(ended.code, ended.stderr).toBe(0);
    expectTame(ended);
  }
  const shown = await folkmoot(['scenario', 'show', file]);
  const again = join(folder, 'again.yaml');
  writeFileSync(again, shown.stdout);
  const json = await folkmoot(['scenario', 'show', again, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ title: evil, question: evil });
  for (const wrong of [
    `title: t\n${quoted}: 1\n${body}`,
    `title: t\nagents:\n  - { group: ${quoted}, count: 4 }\n`,
    `title: t\nlinks: ${quoted}\n${body}`,
  ]) {
    writeFileSync(file, wrong);
    for (const args of [
      ['sim', file],
      ['scenario', 'check', file],
      ['sweep', file],
    ]) {
      const ended = await folkmoot(args);
      expect(ended.code).toBe(2);
      expectTame(ended);
    }
  }
});

test('terminal: escapes logs, load results and signatures', async () => {
  const folder = temporaryFolder();
  const log = join(folder, 'log.ndjson');
  for (const line of [evil, JSON.stringify({ [evil]: evil }), JSON.stringify(evil)]) {
    writeFileSync(log, `${line.replaceAll('\n', ' ')}\n`);
    const ended = await folkmoot(['replay', log]);
    expect(ended.code).toBe(13);
    expectTame(ended);
  }
  const path = join(folder, 'kept');
  const { url, stop } = await live({ path });
  const ada = clientOf(url);
  await ada.register({
    ...{ name: 'Ada', personality: 'calm', capabilities: ['validator'], description: evil },
  });
  await ada.setStatus('maintenance', { reason: evil });
  await stop();
  const printed = await folkmoot(['log', path]);
  expectTame(printed);
  expect(printed.stdout).toContain('\\u009b2J');
  writeFileSync(log, printed.stdout);
  for (const source of [path, log]) {
    const { code, stdout } = await folkmoot(['replay', source, '--signatures']);
    expect([code, stdout.split('\n')[0]]).toEqual([0, 'match: 3 entries']);
  }
  writeFileSync(join(folder, 'result.json'), JSON.stringify({ format: evil }));
  expectTame(await folkmoot(['load', 'compare', folder, folder]));
});

test('terminal: arguments are escaped in error messages', async () => {
  const folder = join(temporaryFolder(), evil.replaceAll('/', ''));
  mkdirSync(folder);
  for (const args of [
    [`--${evil}`],
    [evil],
    ['sim', `--${evil}`],
    ['sim', evil],
    ['sim', '--agents', evil],
    ['sim', '--set', evil],
    ['sim', '--set', `${evil}=1`],
    ['load', '--fail-on', evil],
    ['replay', evil],
    ['replay', folder],
    ['log', folder],
    ['network', 'state', '--url', evil],
    ['agent', 'watch', '--key', evil],
    ['agent', 'meme', evil, '--key', key()],
    ['keygen', '--seed-hex', evil],
    ['serve', '--network-id', evil],
    ['serve', '--host', evil, '--port', '0', '--data', join(folder, 'data')],
  ]) {
    const ended = await folkmoot(args);
    expect(ended.code, args.join(' ')).toBeGreaterThan(0);
    expectTame(ended);
    expect(ended.stderr).not.toMatch(/^ +at /m);
  }
});

test('terminal: commands write only through cli/output/output.ts', () => {
  const folder = join(root, 'cli');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const past = files
    .filter((name) => name.endsWith('.ts') && name !== join('output', 'output.ts'))
    .filter((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return /\b(stdout|stderr)\s*\.write\b|\bconsole\.|from 'node:process'/.test(text);
    });
  expect(past).toEqual([]);
});
