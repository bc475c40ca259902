/** SharedQuota, compared with a model, and with real processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SharedQuota } from '../../../engine/store/scratch.js';
import { temporaryFolder } from '../../support/fixture.js';

const step = fc.record({
  subject: fc.constantFrom('address:a', 'address:b', 'address:2001:db8::'),
  wait: fc.oneof(fc.nat(12), fc.nat(25_000)),
  by: fc.nat(1),
});

test('SharedQuota: agrees with a model in every window', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 80 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 40 }),
      async (steps, quota, windowMs) => {
        const folder = temporaryFolder();
        const both = [0, 1].map(() => new SharedQuota({ folder, quota, windowMs }));
        const granted: { subject: string; at: number }[] = [];
        let now = 1_000_000;
        for (const { subject, wait, by } of steps) {
          now += wait;
          const live = granted.filter((use) => use.subject === subject && use.at > now - windowMs);
          const expected = live.length < quota;
          expect(both[by]!.take(subject, now)).toBe(expected);
          if (expected) granted.push({ subject, at: now });
        }
        for (const one of both) await one.close();
      },
    ),
    { numRuns: 30 },
  );
});

const module = fileURLToPath(new URL('../../../dist/engine/store/scratch.js', import.meta.url));
const program = `
  const { SharedQuota } = await import(process.argv[1]);
  const shared = new SharedQuota({ folder: process.argv[2], quota: 700, windowMs: 3_600_000 });
  let granted = 0;
  for (let times = 0; times < 600; times += 1) granted += shared.take('address:a', 1_000) ? 1 : 0;
  process.stdout.write(String(granted));
`;

test('SharedQuota: grants exactly the quota to concurrent processes', async () => {
  const folder = temporaryFolder();
  const granted = [0, 1, 2].map(async () => {
    const args = ['--input-type=module', '--eval', program, module, folder];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    await once(child, 'close');
    return Number(printed);
  });
  const counts = await Promise.all(granted);
  expect(counts.reduce((sum, one) => sum + one)).toBe(700);
});
