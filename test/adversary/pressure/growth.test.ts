/** The rate at which a client can fill a disk under `spec`, compared with docs/operating.md. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { virtualClock } from 'folkmoot';
import { limitTable } from '../../../dist/api/contract/limit-table.js';
import { START_MS } from '../../support/citizens.js';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { serve } from '../../support/service/server.js';
import { agentOf, register } from '../../support/service/signer.js';
import { call } from '../../support/service/world.js';
import { write, writers } from './writers.js';

const operating = () => readFileSync('docs/operating.md', 'utf8');
/** Bytes written per counted byte, as stated in the document. */
const TIMES = 3.5;
const MIB = 1024 * 1024;
/** Size of the free pages from a folder's first commits, regardless of content. */
const FIRST_BYTES = MIB / 4;

/** Returns the disk usage of all files in a folder. */
function diskBytes(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0);
}

test('growth: the daily quotas of an agent and an address are as documented', () => {
  const minutes = 24 * 60;
  const agent = (limitTable.bytes.quota * minutes + limitTable.day_bytes.quota) / MIB;
  const address =
    (limitTable.address_bytes.quota * minutes + limitTable.address_day_bytes.quota) / MIB;
  expect(operating()).toContain(`| an agent | ${agent.toLocaleString('en')} MiB |`);
  expect(operating()).toContain(`| an address | ${address.toLocaleString('en')} MiB |`);
  const [, own, all] =
    /\*\*an agent fills at most ([\d.]+) GiB a day, an address at most ([\d.]+)/.exec(operating())!;
  const blocks = (2 * limitTable.vote.quota * minutes * 2 * 1_024) / MIB;
  expect(Number(own)).toBeCloseTo((agent * TIMES + blocks) / 1_024, 1);
  expect(Number(all)).toBeCloseTo((address * TIMES + blocks) / 1_024, 1);
});

test.each(Object.entries(writers))('growth: %s: as documented', async (name, writer) => {
  const path = temporaryFolder();
  const clock = virtualClock(START_MS);
  const there = await serve({ path, clock, limits: 'spec', transport: 'node' });
  onTestFinished(() => there.close());
  const ada = agentOf('who writes');
  await call(there.url, register(ada, {}, new Date(clock.now()).toISOString()));
  const before = diskBytes(path);
  const written = await write({ url: there.url, clock }, writer, ada, counts.growthMinutes);
  const grown = diskBytes(path) - before;
  const factor = grown / written.bytes;
  process.stdout.write(`growth: ${JSON.stringify({ name, ...written, grown, factor })}\n`);
  expect(written.requests).toBeGreaterThan(counts.growthMinutes);
  const told = /at most ([\d.]+) times the counted bytes, plus (\d+) KiB per request/;
  const [, times, each] = told.exec(operating().replaceAll('\n', ' '))!;
  expect(Number(times)).toBe(TIMES);
  const beyond = name.includes('proposals') ? Number(each) * 1_024 * written.requests : 0;
  const most = TIMES * written.bytes + beyond;
  expect(grown).toBeLessThan(most + FIRST_BYTES);
});
