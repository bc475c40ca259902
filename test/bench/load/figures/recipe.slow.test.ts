/** The commands for continuous integration in docs/load-testing.md, run as written. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { folkmoot } from '../../../support/cli.js';
import { expectOneLine } from '../../../support/command.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { loadResult } from '../fixture.js';
import { knownServer } from '../known/known-server.js';

const document = new URL('../../../../docs/load-testing.md', import.meta.url);

/** Returns the arguments of each command in the section, without quotes. */
function recipe(): string[][] {
  const text = readFileSync(document, 'utf8');
  const section = text.slice(text.indexOf('## 5. Compare runs in CI'));
  const [, commands] = /```sh\n([\s\S]*?)```/.exec(section)!;
  return commands!
    .trim()
    .split('\n')
    .map((line) => line.replace(/ +# .*/, ''))
    .map((line) =>
      [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!),
    )
    .map((words) => words.slice(words.indexOf('folkmoot') + 1));
}

const conditionsOf = (args: readonly string[]) => args[args.indexOf('--fail-on') + 1]!.split(',');

test('recipe: runs as printed, and a run compared with itself meets no condition', async () => {
  const [base, load, compare, ...more] = recipe();
  expect(more).toEqual([]);
  const folder = temporaryFolder();
  const { url } = await knownServer();
  // A low rate that a busy machine can handle.
  const little = ['--rate', '50', '--agents', '30', '--duration', '3s', '--warmup', '0s'];
  const first = await folkmoot([...base!, ...little, '--url', url], { cwd: folder });
  expect([0, 14], first.stderr).toContain(first.code);
  const { code, stderr } = await folkmoot([...load!, ...little, '--url', url], { cwd: folder });
  // If the machine cannot keep up, the command exits with 14 or 15, but has measured all figures.
  expect([0, 14, 15], stderr).toContain(code);
  cpSync(join(folder, 'runs/now'), join(folder, 'runs/base'), { recursive: true });
  const compared = await folkmoot(compare!, { cwd: folder });
  expect(compared.stderr).toBe('');
  expect(compared.code, compared.stdout).toBe(code === 14 ? 14 : 0);
});

test('recipe: its conditions on changes detect a worse run', async () => {
  const compare = recipe().at(-1);
  const conditions = conditionsOf(compare!);
  const base = loadResult();
  const vote = base.operations[0]!;
  const response = { ...vote.response, p99: 2 * vote.response.p99! };
  const worse: LoadResult = {
    ...base,
    operations: [{ ...vote, response }],
    arrivals: { ...base.arrivals, of_target: base.arrivals.of_target! / 2 },
  };
  const { judge, parseConditions } = await import('../../../../dist/bench/load/conditions.js');
  const judged = parseConditions(conditions, { relative: true }).map((one) => [
    judge(one, worse, base).met !== null,
    judge(one, base, base),
  ]);
  expect(judged).toEqual(conditions.map(() => [true, { met: null, unmeasured: null }]));
});

test.each([
  ['--fail-on', 'tps<1'],
  ['--fail-on', 'p99>1s,finality.p99>1s'],
  ['--fail-on', 'p999>1s', '--rate', '10'],
  ['--saturate', '--slo', 'tps=800'],
])('load: %s %s is unmeasured: exit code 17, without a request', async (...flags) => {
  // No server runs at this address, so a run that starts exits with 1.
  const ended = await folkmoot(['load', '--url', 'http://127.0.0.1:1', ...flags]);
  expectOneLine(ended);
  expect(ended.code).toBe(17);
});
