/** Forks of runs that decide by a module. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DescribedRecount } from '../../../dist/sim/rules/recount.js';
import { replayJson, runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../support/paths.js';

const source = readFileSync(join(root, 'examples/rules/sixty.js'), 'utf8');

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args);
  expect(code, stderr).toBe(0);
  return stdout;
}

/** Runs a scenario whose module is in a file, and deletes the file. */
async function moduleRun(): Promise<{ folder: string; run: string }> {
  const folder = temporaryFolder();
  const [file, module] = [join(folder, 'town.json'), join(folder, 'own.js')];
  writeFileSync(module, source);
  const rule = { file: 'own.js', parameters: { for_bps: 7_000 } };
  const scenario = {
    ...{ title: 'A module', agents: [{ group: 'town', count: 30, producers: 2 }] },
    ...{ consensus: { policy: 'module', rule, voting_period_ms: 8_000 }, length: { blocks: 6 } },
  };
  writeFileSync(file, JSON.stringify(scenario));
  const run = join(folder, 'run');
  const ended = await runCommand(['sim', file, '--out', run]);
  expect([0, 10]).toContain(ended.code);
  rmSync(module);
  return { folder, run };
}

test('fork: a run with a module forks without the file of the module', async () => {
  const { folder, run } = await moduleRun();
  const out = join(folder, 'fork');
  const change = '{ kind: silence, whom: [{ group: town, share: 0.5 }], at_height: 2 }';
  const forked = JSON.parse(
    await done('fork', run, '--out', out, '--json', '--intervention', change),
  );
  expect(forked.prefix).toMatchObject({ same: true, difference: null });
  expect(forked.prefix.entry).toBeGreaterThan(30);
  for (const path of [run, out]) expect(await replayJson(path)).toMatchObject({ match: true });
  // Both runs keep the module with its parameters.
  const [block] = (
    JSON.parse(await done('recount', out, '--rule', 'bft', '--json')) as DescribedRecount
  ).blocks;
  const why = JSON.parse(await done('why', out, block!.block_hash, '--mechanical', '--json'));
  expect(why.block.policy).toBe('module');
  expect(JSON.parse(await done('compare', run, out, '--json')).same).toBe(false);
});

test('recount: the module of a run gives the recorded outcomes', async () => {
  const { folder, run } = await moduleRun();
  const module = join(folder, 'named.js');
  writeFileSync(module, source);
  const own = ['--rule', module, '--parameter', 'for_bps=7000'];
  const other = ['--rule', module, '--parameter', 'for_bps=1,turnout_bps=0'];
  const found = JSON.parse(
    await done('recount', run, '--json', ...own, ...other),
  ) as DescribedRecount;
  const [same, changed] = found.rules;
  expect(same).toMatchObject({ differs: 0, waits: 0, faults: 0, policy: 'module' });
  const approved = found.blocks.filter(({ votes }) => votes > 0).length;
  expect(changed!.statuses.finalized).toBe(approved);
});
