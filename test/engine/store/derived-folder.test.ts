/** Derived files are read only if this installation wrote them from exactly this log. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { constants, createBrotliCompress } from 'node:zlib';
import { DerivedFolder, type DerivedFrom } from '../../../dist/engine/store/derived-folder.js';
import { temporaryFolder } from '../../support/fixture.js';

const hex = (digit: string) => digit.repeat(64);
const from: DerivedFrom = {
  format: 'test 1',
  schema_version: 1,
  network_id: 'town',
  epoch: 'e',
  genesis: hex('0'),
  seq: 7,
  log_digest: hex('1'),
  digest: hex('2'),
};
const others: DerivedFrom[] = [
  { ...from, format: 'test 2' },
  { ...from, schema_version: 2 },
  { ...from, network_id: 'towns' },
  { ...from, epoch: 'f' },
  { ...from, genesis: hex('3') },
  { ...from, seq: 8 },
  { ...from, log_digest: hex('3') },
  { ...from, digest: hex('3') },
];
const content = Buffer.from('what was derived '.repeat(40));

const before = process.env.XDG_STATE_HOME;
let state = '';
beforeEach(() => {
  state = temporaryFolder();
  process.env.XDG_STATE_HOME = state;
});
afterEach(() => {
  process.env.XDG_STATE_HOME = before;
});
const keyFile = () => join(state, 'folkmoot', 'derived.key');

/** Creates a folder with one file, as written by this installation. */
async function written(): Promise<{ path: string; file: string }> {
  const path = join(temporaryFolder(), 'view');
  await new DerivedFolder(path).write('a', from, content);
  return { path, file: join(path, 'a') };
}

test('derived files: a later process of this installation reads a file', async () => {
  const { path } = await written();
  const later = new DerivedFolder(path);
  expect(await later.read('a', from)).toEqual(content);
  expect(later.list()).toMatchObject([{ name: 'a', inMemory: false }]);
  expect(later.problem).toBe(null);
  if (process.platform === 'win32') return;
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(keyFile())).mode & 0o777).toBe(0o700);
});

test('derived files: removes a file of another log, entry, format or name', async () => {
  for (const other of others) {
    const { path, file } = await written();
    expect(await new DerivedFolder(path).read('a', other)).toBe(null);
    expect(existsSync(file)).toBe(false);
  }
  const { path, file } = await written();
  writeFileSync(join(path, 'b'), readFileSync(file));
  expect(await new DerivedFolder(path).read('b', from)).toBe(null);
});

test('derived files: removes a file sealed by another installation', async () => {
  const { path, file } = await written();
  process.env.XDG_STATE_HOME = temporaryFolder();
  expect([await new DerivedFolder(path).read('a', from), existsSync(file)]).toEqual([null, false]);
});

test('derived files: detects any changed byte and any other length', async () => {
  const { path, file } = await written();
  const bytes = readFileSync(file);
  const folder = new DerivedFolder(path);
  for (let at = 0; at < bytes.length; at += 1) {
    for (const flip of [1, 0x80, 0xff]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= flip;
      writeFileSync(file, changed);
      expect(await folder.read('a', from), `byte ${at} ^ ${flip}`).toBe(null);
      expect(existsSync(file)).toBe(false);
    }
    writeFileSync(file, bytes.subarray(0, at));
    expect(await folder.read('a', from), `cut at ${at}`).toBe(null);
  }
  writeFileSync(file, Buffer.concat([bytes, Buffer.of(0)]));
  expect(await folder.read('a', from)).toBe(null);
});

test('derived files: neither unpacks nor fully reads a forged file', async () => {
  const { path, file } = await written();
  const header = readFileSync(file).subarray(0, 91);
  const packed = await packedZeros(2 ** 28);
  const folder = new DerivedFolder(path);
  const peak = process.resourceUsage().maxRSS;
  writeFileSync(file, Buffer.concat([header, packed]));
  expect(await folder.read('a', from)).toBe(null);
  header.writeUInt32BE(2 ** 28, 19);
  header.writeUInt32BE(packed.length, 23);
  writeFileSync(file, Buffer.concat([header, packed]));
  expect(await folder.read('a', from)).toBe(null);
  writeFileSync(file, header);
  truncateSync(file, 3 * 2 ** 30);
  expect(await folder.read('a', from)).toBe(null);
  // Limit in KiB. The unpacked content is four times as large.
  expect(process.resourceUsage().maxRSS - peak).toBeLessThan(64 * 1024);
});

/** Compresses zeros as a stream. */
async function packedZeros(length: number): Promise<Buffer> {
  const packer = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  const parts: Buffer[] = [];
  packer.on('data', (part: Buffer) => parts.push(part));
  const zeros = Buffer.alloc(2 ** 20);
  for (let done = 0; done < length; done += zeros.length) {
    await new Promise((resolve) => packer.write(zeros, resolve));
  }
  await new Promise((resolve) => packer.end(resolve));
  return Buffer.concat(parts);
}

test('derived files: a folder or link instead of a file has no content', async () => {
  const { path, file } = await written();
  rmSync(file);
  mkdirSync(file);
  expect(await new DerivedFolder(path).read('a', from)).toBe(null);
  rmSync(file, { recursive: true });
  if (process.platform === 'win32') return;
  symlinkSync('/dev/zero', file);
  expect(await new DerivedFolder(path).read('a', from)).toBe(null);
});

/** Ways to make the key unusable. */
const unusable: [string, () => void][] = [
  // Windows has no such file mode.
  ...(process.platform === 'win32'
    ? []
    : [['is readable by others', () => chmodSync(keyFile(), 0o644)] as [string, () => void]]),
  ['is truncated', () => truncateSync(keyFile(), 30)],
  ['is not a key', () => writeFileSync(keyFile(), `${'g'.repeat(64)}\n`)],
  ['cannot be created', () => (process.env.XDG_STATE_HOME = join(keyFile(), 'below'))],
];

test.each(unusable)('derived files: stay in memory if the key %s', async (_, spoil) => {
  const { path, file } = await written();
  const bytes = readFileSync(file);
  // A process caches its key, so the test uses a different installation's state folder.
  const known = readFileSync(keyFile());
  rmSync(keyFile());
  state = temporaryFolder();
  process.env.XDG_STATE_HOME = state;
  mkdirSync(dirname(keyFile()), { recursive: true });
  writeFileSync(keyFile(), known, { mode: 0o600 });
  spoil();
  const folder = new DerivedFolder(path);
  expect(await folder.read('a', from)).toBe(null);
  expect(folder.problem).toContain('derived.key');
  await folder.write('b', from, content);
  expect(await folder.read('b', from)).toEqual(content);
  expect(folder.list()).toMatchObject([{ name: 'b', inMemory: true }]);
  // Without the key, an installation's files are not removed.
  expect([readdirSync(path), readFileSync(file)]).toEqual([['a'], bytes]);
});

test('derived files: ignore a relative state folder', async () => {
  process.env.XDG_STATE_HOME = 'relative';
  const home = process.env.HOME;
  process.env.HOME = state;
  const { path } = await written();
  process.env.HOME = home;
  expect(existsSync(join(state, '.local', 'state', 'folkmoot', 'derived.key'))).toBe(true);
  expect([existsSync('relative'), readdirSync(path)]).toEqual([false, ['a']]);
});
