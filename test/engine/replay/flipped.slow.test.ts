/**
 * Folders with one flipped bit. The change is detected or harmless, and causes neither a native
 * crash nor wrong data.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inParallel } from '../../live/clients/caller.js';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine, logText, simJson } from '../../support/command.js';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { suiteFolder } from '../../support/runs.js';
import { drawnFrom, seed } from '../../support/seeded.js';

const draw = drawnFrom(seed);
const run = join(suiteFolder(), 'run');
const data = join(run, 'network', 'data.mdb');
let log = '';
let digest = '';

beforeAll(async () => {
  const { json } = await simJson('--seed', '3', '--agents', '12', '--blocks', '3', '--out', run);
  digest = json.digest;
  log = await logText(run);
});

interface Flip {
  folder: string;
  at: number;
  bit: number;
}

function flipped(into: string, number: number): Flip {
  const bytes = readFileSync(data);
  // Every eighth flip is in the headers, which are a small part of the file.
  let at = number % 8 === 0 ? (number % 16 === 0 ? 0 : 8192) + draw(168) : draw(bytes.length);
  // Most bytes in a small file are unused zeros, so every second flip is in a nonzero byte.
  while (number % 8 > 3 && bytes[at] === 0) at = draw(bytes.length);
  const bit = draw(8);
  bytes[at]! ^= 1 << bit;
  const folder = join(into, `${number}`);
  mkdirSync(join(folder, 'network'), { recursive: true });
  writeFileSync(join(folder, 'network', 'data.mdb'), bytes);
  return { folder, at, bit };
}

/** Returns true if the folder contains the same data as before. */
async function expectFoundOrHarmless({ folder, at, bit }: Flip): Promise<boolean> {
  const where = `bit ${bit} of byte ${at}`;
  const checked = await folkmoot(['check', folder]);
  expect([0, 13], `${where}: ${checked.signal} ${checked.stderr}`).toContain(checked.code);
  if (checked.code === 13) expectOneLine(checked);
  const replayed = await folkmoot(['replay', folder, '--json']);
  expect([0, 12, 13], `${where}: ${replayed.signal} ${replayed.stderr}`).toContain(replayed.code);
  expect(replayed.code === 0, where).toBe(checked.code === 0);
  if (checked.code !== 0) return true;
  expect(JSON.parse(replayed.stdout), where).toMatchObject({ match: true, digest });
  expect(await logText(folder), where).toBe(log);
  return false;
}

describe(`damaged: seed ${seed}`, () => {
  test(`replay: detects harmful bits in ${counts.flippedBits} copies`, async () => {
    const into = temporaryFolder();
    let found = 0;
    const numbers = Array.from({ length: counts.flippedBits }, (_, number) => number);
    await inParallel(numbers, 2, async (number) => {
      if (await expectFoundOrHarmless(flipped(into, number))) found += 1;
    });
    expect(found).toBeGreaterThan(0);
  });

  test('check: accepts an intact folder, also with --pages', async () => {
    const whole = await folkmoot(['check', run, '--json']);
    expect(JSON.parse(whole.stdout)).toMatchObject({ whole: true, digest, problem: null });
    const pages = await folkmoot(['check', run, '--pages']);
    expect([pages.code, pages.stdout]).toEqual([0, expect.stringMatching(/^whole: \d+ pages/)]);
  });

  test('check: reports the page of a key out of order', async () => {
    const folder = join(temporaryFolder(), 'run');
    mkdirSync(join(folder, 'network'), { recursive: true });
    const file = join(folder, 'network', 'data.mdb');
    copyFileSync(data, file);
    const bytes = readFileSync(file);
    const name = 'records/agents';
    for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at)) {
      bytes.write('recordz', at);
    }
    writeFileSync(file, bytes);
    const ended = await folkmoot(['check', folder, '--pages']);
    expectOneLine(ended);
    expect([ended.code, ended.stderr]).toEqual([13, expect.stringMatching(/key .*page \d+/)]);
  });
});
