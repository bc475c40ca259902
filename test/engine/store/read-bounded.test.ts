/** File size limits. */
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { splitLines } from '../../../dist/engine/replay/lines.js';
import { FileTooLarge, fileBounds, readBounded } from '../../../dist/engine/store/folder.js';
import { writeRunReport } from '../../../dist/sim/report/index.js';
import { planSweep } from '../../../dist/sim/sweep/plan.js';
import { temporaryFolder } from '../../support/fixture.js';

test('readBounded: reads up to the limit, and not a byte more', () => {
  const path = join(temporaryFolder(), 'file');
  for (const size of [0, 1, 99, 100]) {
    writeFileSync(path, 'x'.repeat(size));
    expect(readBounded(path, 100).toString()).toBe('x'.repeat(size));
  }
  writeFileSync(path, 'x'.repeat(101));
  expect(() => readBounded(path, 100)).toThrow(FileTooLarge);
});

test.skipIf(process.platform === 'win32')('readBounded: refuses an endless device', () => {
  expect(() => readBounded('/dev/zero', 1_000_000)).toThrow(FileTooLarge);
});

test('readBounded: refuses a large sparse file as result or script', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'summary.json');
  writeFileSync(path, '{}');
  truncateSync(path, fileBounds.result + 1);
  await expect(writeRunReport(folder)).rejects.toMatchObject({
    ...{ code: 'UNREADABLE', cause: expect.any(FileTooLarge) },
  });
  const script = join(folder, 'agent.mjs');
  writeFileSync(script, 'export const vote = () => null;');
  truncateSync(script, fileBounds.result + 1);
  const strategy = { kind: 'script', module: './agent.mjs' };
  const scenario = join(folder, 'scenario.json');
  const raw = {
    ...{ title: 'large', agents: [{ group: 'all', count: 4, producers: 1, strategy }] },
    sweep: { design: 'list', factors: [{ path: 'links.loss', values: [0] }] },
  };
  writeFileSync(scenario, JSON.stringify(raw));
  expect(() => planSweep(scenario)).toThrow(/expected at most/);
});

test('splitLines: refuses an endless line while reading', async () => {
  let chunks = 0;
  async function* endless() {
    for (; ; chunks += 1) yield new Uint8Array(1_048_576).fill(0x78);
  }
  const read = async () => {
    for await (const line of splitLines(endless())) void line;
  };
  await expect(read()).rejects.toMatchObject({ code: 'CORRUPT' });
  expect(chunks).toBeLessThan(100);
});
