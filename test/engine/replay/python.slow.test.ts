/** A short Python program recomputes the log digest from the output of `folkmoot log`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logText, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { linesOf } from '../../support/runs.js';

const script = join(import.meta.dirname, 'log_digest.py');
const recompute = (input: string) =>
  execFileSync('python3', [script], { input, encoding: 'utf8' }).trim();

test('log: Python recomputes log_digest from the printed log', async (context) => {
  if (spawnSync('python3', ['--version']).status !== 0) return context.skip('no python3 here');
  const out = join(temporaryFolder(), 'run');
  const { json } = await simJson('--seed', '7', '--agents', '60', '--blocks', '6', '--out', out);
  const text = await logText(out);
  expect(recompute(text)).toBe(json.log_digest);
  const [first = '', ...rest] = linesOf(text);
  expect(recompute(`${first}\n`)).toBe((JSON.parse(first) as { log_digest: string }).log_digest);
  expect(recompute(`${rest.join('\n')}\n`)).not.toBe(json.log_digest);
});
