/**
 * One changed byte anywhere in a folder, including its archive, views and checkpoints, or in an
 * exported page. The change is detected, or the data is unchanged.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { History, KeptNetwork } from 'folkmoot';
import { parseHTML } from 'linkedom';
import { viewOf } from '../api/view/log/compare.js';
import { folkmoot } from '../support/cli.js';
import { counts } from '../support/counts.js';
import { temporaryFolder } from '../support/fixture.js';
import { suiteFolder } from '../support/runs.js';
import { drawnFrom, seed } from '../support/seeded.js';

const child = fileURLToPath(new URL('./flips-child.mjs', import.meta.url));
const draw = drawnFrom(seed);
const run = join(suiteFolder(), 'run');
const folder = join(run, 'network');

beforeAll(async () => {
  const size = ['--agents', '12', '--blocks', '3', '--seed', '3'];
  expect((await folkmoot(['sim', ...size, '--out', run])).code).toBe(0);
  const archived = await folkmoot(['archive', run, '--before', '40']);
  expect(archived.code, archived.stderr).toBe(0);
  const network = KeptNetwork.open({ path: folder });
  const view = viewOf(network, { chunkRows: 40 });
  await view.readSnapshot();
  await view.close();
  await network.close();
  const history = History.open({ path: folder, spacing: 16, share: 1 });
  await history.prepare();
  await history.close();
  for (const name of ['archive', 'view', 'history']) {
    expect(existsSync(join(folder, name)), name).toBe(true);
  }
});

const tell = (tally: Record<string, number>) =>
  process.stdout.write(`FOLKMOOT_TEST_SEED=${seed} ${JSON.stringify(tally)}\n`);

interface Flip {
  file: string;
  at: number;
  bit: number;
}

interface Found extends Flip {
  index: number;
  outcome: string;
  by?: string;
}

/**
 * Draws half of the bytes from anywhere in the folder, and half from nonzero bytes, equally per
 * kind of file.
 */
function drawn(count: number): Flip[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => relative(folder, join(one.parentPath, one.name)))
    .filter((file) => statSync(join(folder, file)).size > 0)
    .sort();
  const sizes = files.map((file) => statSync(join(folder, file)).size);
  const kinds = [/^data/, /^archive/, /^view/, /^history/].map((kind) =>
    files.filter((file) => kind.test(file)),
  );
  const anywhere = (): Omit<Flip, 'bit'> => {
    let at = draw(sizes.reduce((sum, size) => sum + size, 0));
    const place = sizes.findIndex((size) => {
      at -= size;
      return at < 0;
    });
    return { file: files[place]!, at: at + sizes[place]! };
  };
  const within = (kind: string[]): Omit<Flip, 'bit'> => {
    const file = kind[draw(kind.length)]!;
    const bytes = readFileSync(join(folder, file));
    let at = draw(bytes.length);
    while (bytes[at] === 0) at = draw(bytes.length);
    return { file, at };
  };
  return Array.from({ length: count }, (_, number) => ({
    ...(number % 2 === 0 ? anywhere() : within(kinds[(number >> 1) % kinds.length]!)),
    bit: 1 << draw(8),
  }));
}

test(`folder: detects ${counts.flippedBytes} changed bytes, or they are harmless`, async () => {
  const flips = drawn(counts.flippedBytes);
  const into = temporaryFolder();
  const list = join(into, 'flips.json');
  writeFileSync(list, JSON.stringify(flips));
  const tally: Record<string, number> = {};
  const wrong: unknown[] = [];
  const note = (found: { file: string; outcome: string }) => {
    const kind = `${found.file.split('/')[0]} ${found.outcome}`;
    tally[kind] = (tally[kind] ?? 0) + 1;
    if (found.outcome === 'BELIEVED' || found.outcome === 'THROWN') wrong.push(found);
  };
  for (let next = 0; next < flips.length; ) {
    const args = [child, folder, join(into, 'copy'), list, `${next}`];
    const ended = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(ended, 'close');
    const before = next;
    for await (const line of createInterface(ended.stdout)) {
      const found = JSON.parse(line) as Found;
      note(found);
      next = found.index + 1;
    }
    const [, signal] = (await closed) as [number | null, string | null];
    if (next === flips.length) break;
    // LMDB crashed the reading process. `folkmoot check` reports such a crash in its child process.
    expect([signal, next >= before], `${next}`).toEqual([expect.any(String), true]);
    note({ ...flips[next]!, outcome: 'ended' });
    next += 1;
  }
  tell(tally);
  expect(wrong).toEqual([]);
});

/** Parses a file as the page does. Returns its parts or the failure. */
async function partsOf(html: string): Promise<string> {
  const { document } = parseHTML(html);
  const policy = document.querySelector('meta[http-equiv=Content-Security-Policy]');
  const allowed = policy?.getAttribute('content') ?? '';
  const isAllowed = (text: string | Uint8Array) =>
    allowed.includes(`'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  const begin = [...document.querySelectorAll('script:not([type])')];
  if (!begin.some(({ textContent }) => isAllowed(textContent ?? ''))) return 'does not begin';
  const hash = createHash('sha256');
  for (const id of ['about', 'player', 'look', 'code', 'run']) {
    const text = document.getElementById(id)?.textContent;
    if (!text) return `lacks ${id}`;
    try {
      const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
      const part = new Uint8Array(await new Response(stream).arrayBuffer());
      if ((id === 'look' || id === 'code') && !isAllowed(part)) return `may not use ${id}`;
      hash.update(part);
    } catch {
      return `cannot unpack ${id}`;
    }
  }
  return hash.digest('hex');
}

test(`exported page: detects ${counts.flippedBytes} changed, harmful bytes`, async () => {
  const file = join(temporaryFolder(), 'run.html');
  const ended = await folkmoot(['explore', run, '--export', file]);
  expect(ended.code, ended.stderr).toBe(0);
  const bytes = readFileSync(file);
  const whole = await partsOf(bytes.toString());
  expect(whole).toMatch(/^[0-9a-f]{64}$/);
  const tally: Record<string, number> = {};
  const runAt = bytes.indexOf('id="run"');
  for (let flip = 0; flip < counts.flippedBytes; flip += 1) {
    // The run is a small part of a small file, so every second change is in the run.
    const at = flip % 2 === 0 ? draw(bytes.length) : runAt + draw(bytes.length - runAt);
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1 << draw(8);
    const found = await partsOf(changed.toString());
    const kind = found === whole ? 'the same' : found;
    expect(kind, `byte ${at}, FOLKMOOT_TEST_SEED=${seed}`).not.toMatch(/^[0-9a-f]{64}$/);
    tally[kind] = (tally[kind] ?? 0) + 1;
  }
  tell(tally);
});
