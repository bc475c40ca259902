/** SIGHUP on a real server: it applies limits and log level, and survives a bad file. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';
import { transports } from '../../support/service/server.js';

interface Line {
  level: number;
  msg: string;
  changed?: { key: string; from: unknown; to: unknown }[];
  keys?: string[];
}

/** Starts a server with this section, and returns its address, its log and a way to reload. */
async function serveFile(section: object, args: readonly string[] = []) {
  const folder = temporaryFolder();
  const file = join(folder, 'folkmoot.yaml');
  const write = (text: string) => writeFileSync(file, text);
  const serve = (values: object) =>
    write(stringify({ serve: { port: 0, data: join(folder, 'data'), ...values } }));
  serve(section);
  const child = spawn(process.execPath, [main, 'serve', '--config', file, ...args]);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const log: Line[] = [];
  createInterface(child.stderr).on('line', (line) => log.push(JSON.parse(line) as Line));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', (line) => {
      resolve((JSON.parse(line) as { url: string }).url);
    });
    ended.then((code) => reject(new Error(`ended with ${code}: ${JSON.stringify(log)}`)));
  });
  /** Sends SIGHUP, and returns the lines up to the expected one. */
  const reload = async (isLast: (line: Line) => boolean): Promise<Line[]> => {
    const from = log.length;
    child.kill('SIGHUP');
    await expect.poll(() => log.slice(from).some(isLast)).toBe(true);
    return log.slice(from);
  };
  return { folder, file, write, serve, reload, url, log, child, ended };
}

const isReloaded = ({ msg }: Line) => msg === 'configuration reloaded';

async function quotas(url: string): Promise<{ profile: string; read: number; vote: number }> {
  const { data } = (await (await fetch(`${url}/api/v1/meta`)).json()) as {
    data: { limits: { profile: string; windows: Record<string, { quota: number }> } };
  };
  const { profile, windows } = data.limits;
  return { profile, read: windows.read!.quota, vote: windows.vote!.quota };
}

test.each(transports)('SIGHUP over %s: applies limits and log level', async (transport) => {
  const limits = join(temporaryFolder(), 'limits.json');
  writeFileSync(limits, '{"read": 50}');
  const common = { transport, limits_file: limits };
  const { serve, reload, url, log } = await serveFile({ ...common, limits: 'bench' });
  expect(await quotas(url)).toEqual({ profile: 'bench', read: 50, vote: 100_000 });
  expect(log.some(({ msg }) => msg === 'request')).toBe(false);

  writeFileSync(limits, '{"read": 5, "requests": 900}');
  serve({ ...common, limits: 'spec', log_level: 'debug', host: '127.0.0.2' });
  const isWarning = ({ msg }: Line) => msg.startsWith('restart the server');
  const lines = await reload(isWarning);
  expect(lines.find(isReloaded)!.changed).toEqual([
    { key: 'limits', from: 'bench', to: 'spec' },
    { key: 'log_level', from: 'info', to: 'debug' },
    { key: 'limits_file.read', from: 50, to: 5 },
    { key: 'limits_file.requests', from: null, to: 900 },
  ]);
  expect(lines.find(isWarning)!.keys).toEqual(['host']);
  expect(await quotas(url)).toEqual({ profile: 'spec', read: 5, vote: 10 });
  await expect.poll(() => log.some(({ msg }) => msg === 'request')).toBe(true);
  // Earlier reads count against the new limit.
  const statuses: number[] = [];
  for (let read = 0; read < 6; read += 1) {
    statuses.push((await fetch(`${url}/api/v1/network/state`)).status);
  }
  expect([statuses.slice(0, 1), statuses.at(-1)]).toEqual([[200], 429]);

  serve({ ...common, limits: 'spec', log_level: 'info', host: '127.0.0.2' });
  await reload(isReloaded);
  const requests = log.filter(({ msg }) => msg === 'request').length;
  await fetch(`${url}/healthz`);
  expect(log.filter(({ msg }) => msg === 'request').length).toBe(requests);
});

test('SIGHUP: a bad file changes nothing, and the server continues', async () => {
  const { write, serve, reload, url, file, child, ended } = await serveFile({ limits: 'spec' });
  const before = await quotas(url);
  const bad = [
    ['serve: {limits: fast}', 'serve.limits'],
    ['serve: {prot: 1}', 'serve.prot'],
    ['serve: {', file],
    ['serve: {limits: "off"}', 'limits'],
    ['serve: {limits_file: nowhere.json}', 'nowhere.json'],
  ] as const;
  for (const [text, part] of bad) {
    write(text);
    const lines = await reload(({ level }) => level === 50);
    expect(lines.filter(isReloaded)).toEqual([]);
    expect(lines.at(-1)!.msg).toContain(part);
    expect(await quotas(url)).toEqual(before);
  }
  serve({ limits: 'bench' });
  await reload(isReloaded);
  expect((await quotas(url)).profile).toBe('bench');
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test('SIGHUP: flags keep their precedence, and a server without a file ends', async () => {
  const { serve, reload, url } = await serveFile({ limits: 'bench' }, ['--log-level', 'debug']);
  serve({ limits: 'spec', log_level: 'error' });
  const lines = await reload(isReloaded);
  expect(lines.find(isReloaded)!.changed).toEqual([{ key: 'limits', from: 'bench', to: 'spec' }]);
  expect((await quotas(url)).profile).toBe('spec');
  const data = join(temporaryFolder(), 'data');
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--data', data]);
  const ended = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)));
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGHUP');
  expect(await ended).toBe('SIGHUP');
});

test('a control token from the environment is in the address of the page', async () => {
  const token = 'T0ken-'.repeat(6);
  const data = join(temporaryFolder(), 'data');
  const args = ['serve', '--port', '0', '--data', data, '--clock', 'held'];
  const env = { ...process.env, FOLKMOOT_CONTROL_TOKEN: token };
  const child = spawn(process.execPath, [main, ...args], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const first = await new Promise<string>((resolve) => {
    createInterface(child.stdout).once('line', resolve);
  });
  const { page_url, url } = JSON.parse(first) as { page_url: string; url: string };
  expect(page_url.endsWith(`#token=${token}`)).toBe(true);
  const control = (bearer: string) =>
    fetch(`${url}/api/v1/control`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
      body: '{"do": "pause"}',
    });
  expect((await control('x'.repeat(36))).status).toBe(401);
  expect((await control(token)).status).toBe(200);
});
