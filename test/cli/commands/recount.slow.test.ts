/** `folkmoot recount` and `rule check` as processes: signals stop them between votes and polls. */
import { join } from 'node:path';
import type { DescribedRecount } from '../../../dist/sim/rules/recount.js';
import { simJson } from '../../support/command.js';
import { begin } from '../../support/running-command.js';
import { suiteFolder } from '../../support/runs.js';

const run = join(suiteFolder(), 'run');

beforeAll(async () => {
  await simJson('--agents', '100', '--blocks', '60', '--out', run);
});

test.each(['SIGINT', 'SIGTERM'] as const)('recount: %s ends with a part', async (by) => {
  const args = ['recount', run, '--rule', 'majority', '--rule', 'veto', '--json'];
  const command = begin(args, /^1\/\d+ blocks/m);
  await command.printed(/^1\/\d+ blocks/m);
  expect(await command.stop(by)).toEqual({ code: null, signal: by });
  const found = JSON.parse(command.stdout()) as DescribedRecount;
  expect(found.complete).toBe(false);
  expect(found.blocks.length).toBeGreaterThan(0);
  expect(found.blocks.every(({ rules }) => rules.every((of) => of.pivotal !== null))).toBe(true);
  expect(command.stderr()).toMatch(/^folkmoot: interrupted after \d+ of \d+ blocks/m);
});

test('rule check: SIGINT ends it without a result', async () => {
  const args = ['rule', 'check', 'schulze', '--polls', '100000', '--json'];
  const command = begin(args, /\/100000 polls/);
  await command.printed(/\/100000 polls/);
  expect(await command.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  expect(command.stdout()).toBe('');
  expect(command.stderr()).toMatch(/^folkmoot: interrupted after \d+ of 100000 polls/m);
});
