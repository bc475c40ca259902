/** What is tested of uws holds where other processes have the connections: the same tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));

/** Runs fast tests of uws; the end of what they print. */
async function run(threads: number, ...paths: string[]): Promise<{ code: number; end: string }> {
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--project', 'fast', '-t', 'uws|differential', '--maxWorkers', '1', ...paths],
    { env: { ...process.env, FOLKMOOT_TEST_THREADS: String(threads), NO_COLOR: '1' } },
  );
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, end: printed.slice(-6_000) };
}

test('two processes have the connections: requests, sockets, limits, transports', async () => {
  const folders = ['http', 'socket', 'limits', 'transport'].map((name) => `test/api/${name}`);
  const { code, end } = await run(2, ...folders, 'test/adversary/differential');
  expect(code, end).toBe(0);
  expect(Number(/Tests .*?(\d+) passed/.exec(end)?.[1])).toBeGreaterThan(180);
});
