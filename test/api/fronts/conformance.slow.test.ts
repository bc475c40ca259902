/** Runs the uws transport's tests with front processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));

/** Runs fast tests over uws. Returns the end of their output. */
async function run(count: number, ...paths: string[]): Promise<{ code: number; end: string }> {
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--project', 'fast', '-t', 'uws|differential', '--maxWorkers', '1', ...paths],
    { env: { ...process.env, FOLKMOOT_TEST_FRONTS: String(count), NO_COLOR: '1' } },
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

test('fronts: pass the tests of uws with two processes', async () => {
  const folders = ['http', 'socket', 'limits', 'transport'].map((name) => `test/api/${name}`);
  const { code, end } = await run(2, ...folders, 'test/adversary/differential');
  expect(code, end).toBe(0);
  expect(Number(/Tests .*?(\d+) passed/.exec(end)?.[1])).toBeGreaterThan(180);
});
