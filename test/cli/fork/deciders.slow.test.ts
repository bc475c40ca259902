/** `folkmoot fork` and `why` on runs with an external decider. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';

const mind = `
import { createInterface } from 'node:readline';
import { appendFileSync } from 'node:fs';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, view } = JSON.parse(line);
  appendFileSync('asked.txt', id + '\\n');
  const decision = view.block.soundness >= 80 ? 'approve' : 'reject';
  console.log(JSON.stringify({ id, commands: [{ do: 'vote', decision }] }));
}`;

async function recorded() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'mind.mjs'), mind);
  const strategy = { kind: 'exec', command: [process.execPath, 'mind.mjs'], backoff_ms: 1 };
  const agents = [
    { group: 'town', count: 6, producers: 2 },
    { group: 'minds', count: 4, strategy },
  ];
  const file = join(folder, 'town.json');
  const raw = { title: 'minds', signatures: 'none', agents, length: { blocks: 5 } };
  writeFileSync(file, JSON.stringify(raw));
  const run = join(folder, 'run');
  const { json } = await simJson(file, '--record', '--out', run);
  const asked = () => readFileSync(join(folder, 'asked.txt'), 'utf8').trim().split('\n').length;
  return { folder, run, json, asked };
}

test('fork: re-runs deciders with --record; why needs --mechanical', async () => {
  const { folder, run, json, asked } = await recorded();
  const before = asked();
  const out = join(folder, 'fork');
  const silence = '{ kind: silence, whom: [{ agent: 1 }], at_height: 2 }';
  const what = ['fork', run, '--intervention', silence, '--out', out];
  for (const [args, said] of [
    [[], /^folkmoot: .*minds \(exec\).*--record$/m],
    [['--record'], /minds .* mind\.mjs; .*--folder$/m],
    [['--replicates', '2'], /--record$/m],
    [['--replicates', '2', '--record'], /--folder$/m],
    [['--most-calls', '3'], /--most-calls .*--record/],
  ] as [string[], RegExp][]) {
    const ended = await folkmoot([...what, ...args]);
    expectOneLine(ended);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(said)]);
    expect(existsSync(out)).toBe(false);
  }
  expect(asked()).toBe(before);
  const record = ['--record', '--folder', folder];
  const spent = await folkmoot([...what, ...record, '--most-calls', '0']);
  expect([spent.code, spent.stderr]).toEqual([
    16,
    expect.stringContaining('--most-calls after 0 calls'),
  ]);
  const forked = await folkmoot([...what, ...record, '--json']);
  expect([forked.code, forked.stderr]).toEqual([0, expect.anything()]);
  expect(JSON.parse(forked.stdout).prefix.same).toBe(true);
  const anew = asked() - before;
  expect([anew > 0, anew < json.deciders!.questions]).toEqual([true, true]);

  const seeds = join(folder, 'seeds');
  const replicates = ['--replicates', '2', '--out', seeds];
  const over = ['fork', run, '--intervention', silence, ...replicates, ...record];
  const ended = await folkmoot([...over, '--json']);
  expect([ended.code, ended.stderr]).toEqual([0, expect.anything()]);
  expect(JSON.parse(ended.stdout).completed).toBe(4);
  expect(readdirSync(join(seeds, 'cassettes')).length).toBe(4);
  // Recorded answers are not requested again.
  const all = asked();
  expect((await folkmoot([...over, '--resume'])).code).toBe(0);
  expect(asked()).toBe(all);

  const why = await folkmoot(['why', run, '1']);
  expectOneLine(why);
  expect([why.code, why.stderr]).toEqual([2, expect.stringContaining('--mechanical')]);
  const mechanical = await folkmoot(['why', run, '1', '--mechanical']);
  expect([mechanical.code, mechanical.stderr]).toEqual([0, '']);
});
