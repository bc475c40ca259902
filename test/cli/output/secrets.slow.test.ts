/** File modes for keys and logs, independent of the umask, and warnings about readable keys. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';

const run = promisify(execFile);
const unmasked = (args: readonly string[], cwd: string) =>
  run('sh', ['-c', 'umask 0; exec "$@"', 'sh', process.execPath, main, ...args], { cwd });

const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

test('keygen --out: writes a key file with mode 0600 and prints no secret', async () => {
  const folder = temporaryFolder();
  const { stdout } = await unmasked(['keygen', '--out', 'ada.json', '--json'], folder);
  const file = join(folder, 'ada.json');
  expect(mode(file)).toBe('600');
  const key = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  expect(Object.keys(key)).toEqual(['agent_id', 'public_key', 'private_key']);
  const { private_key, ...known } = key;
  expect(JSON.parse(stdout)).toEqual({ ...known, file: 'ada.json' });
  expect(stdout).not.toContain(private_key);
  const { stdout: lines } = await unmasked(['keygen', '--out', 'bob.json'], folder);
  expect(lines).not.toContain('private');
});

test('keygen --out: overwrites no file and follows no link', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'key.json');
  writeFileSync(file, 'mine');
  symlinkSync(join(folder, 'elsewhere.json'), join(folder, 'link.json'));
  for (const name of ['key.json', 'link.json']) {
    const ended = await folkmoot(['keygen', '--out', join(folder, name)]);
    expect(ended.code).toBe(2);
    expectOneLine(ended);
    expect(ended.stderr).toContain(name);
  }
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect(readdirSync(folder).sort()).toEqual(['key.json', 'link.json']);
  const nowhere = await folkmoot(['keygen', '--out', join(folder, 'no', 'key.json')]);
  expect(nowhere.code).toBe(2);
  expectOneLine(nowhere);
});

test('--key and --response-key: warn about a file readable by others', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'key.json');
  await folkmoot(['keygen', '--out', file]);
  const url = ['--url', 'http://127.0.0.1:9'];
  const commands = [
    ['agent', 'status', 'active', '--key', file, ...url],
    ['serve', '--response-key', file, '--host', 'nowhere.invalid', '--data', join(folder, 'data')],
  ];
  for (const args of commands) {
    chmodSync(file, 0o600);
    expect((await folkmoot(args)).stderr).not.toContain('warning');
    chmodSync(file, 0o640);
    expect((await folkmoot(args)).stderr).toContain(`chmod 600 ${file}`);
  }
});

const modesIn = (folder: string) =>
  new Set(readdirSync(folder).map((name) => mode(join(folder, name))));

test('sim --out: the network folder has mode 0700 and its files 0600', async () => {
  const folder = temporaryFolder();
  await unmasked(['sim', '--agents', '5', '--blocks', '1', '--out', 'runs/one'], folder);
  const network = join(folder, 'runs/one/network');
  expect([mode(network), ...modesIn(network)]).toEqual(['700', '600']);
  await unmasked(['archive', 'runs/one', '--before', '5'], folder);
  const archive = join(network, 'archive');
  expect([mode(archive), [...modesIn(archive)]]).toEqual(['700', ['600']]);
  expect(mode(join(network, 'data.mdb'))).toBe('600');
  // Reports follow the umask.
  expect(mode(join(folder, 'runs/one'))).toBe('777');
  expect(mode(join(folder, 'runs/one/report.html'))).toBe('666');
});

test('serve: files have mode 0600, and an existing folder keeps its mode', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'there'), { mode: 0o755 });
  for (const data of ['made', 'there']) {
    const args = ['serve', '--data', data, '--host', 'nowhere.invalid'];
    await expect(unmasked(args, folder)).rejects.toMatchObject({ code: 1 });
    expect([...modesIn(join(folder, data))]).toEqual(['600']);
  }
  expect([mode(join(folder, 'made')), mode(join(folder, 'there'))]).toEqual(['700', '755']);
});
