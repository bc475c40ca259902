/** No command follows a link inside an output folder, which may come from someone else. */
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { smallRaw, writeScenario } from '../../sim/sweep/scenarios.js';
import { folkmoot } from '../../support/cli.js';
import { suiteFolder } from '../../support/runs.js';

const root = suiteFolder();
const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1] }], replicates: 1 };
const scenario = writeScenario(root, { ...smallRaw(), sweep });
const script = writeScenario(
  root,
  {
    ...smallRaw(),
    agents: [{ ...smallRaw().agents[0], strategy: { kind: 'script', module: 'sub/own.mjs' } }],
  },
  'scripted.yaml',
);
const [run, kept, shard] = ['run', 'kept', 'shard'].map((name) => join(root, name)) as [
  string,
  string,
  string,
];

async function succeed(...args: string[]): Promise<void> {
  const { code, stderr } = await folkmoot(args);
  expect(code, stderr).toBe(0);
}

beforeAll(async () => {
  mkdirSync(join(root, 'sub'));
  const vote = "export const vote = () => ({ do: 'vote', decision: 'approve' });";
  writeFileSync(join(root, 'sub/own.mjs'), vote);
  await succeed('sim', script, '--out', run);
  await succeed('sweep', scenario, '--out', kept, '--keep', '--jobs', '1');
  await succeed('sweep', scenario, '--out', shard, '--shard', '1/1', '--jobs', '1');
});

let number = 0;
/** A folder of someone else, and one that the output folder must not lead to. */
function folders(from?: string) {
  number += 1;
  const [out, outside] = ['out', 'outside'].map((name) => join(root, `${name}-${number}`));
  if (from === undefined) mkdirSync(out!);
  else cpSync(from, out!, { recursive: true });
  mkdirSync(outside!);
  return { out: out!, outside: outside! };
}

/** Everything below a folder, with the contents of files. */
const treeOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((one) => {
      const path = join(one.parentPath, one.name);
      return [path, one.isFile() ? readFileSync(path, 'latin1') : null];
    })
    .sort();

const change = '{ kind: remove, whom: [{ group: town, count: 1 }], at_height: 1 }';

type Args = (out: string) => string[];
const resume: Args = (out) => [
  'sweep',
  scenario,
  '--out',
  out,
  '--keep',
  '--jobs',
  '1',
  '--resume',
];
const firstLog = () => `logs/${readdirSync(join(kept, 'logs'))[0]}`;
const firstRun = () => `runs/${readdirSync(join(kept, 'runs'))[0]}`;

test.each<[what: string, name: () => string, args: Args]>([
  ['sweep --resume: runs/', () => 'runs', resume],
  ['sweep --resume: logs/', () => 'logs', resume],
  ['sweep --resume: the folder of a run', firstLog, resume],
  ['sweep --resume: the record of a run', firstRun, resume],
  ['sweep --resume: sweep.json', () => 'sweep.json', resume],
])('links: %s: is refused, and its target is unchanged', async (_, name, args) => {
  const { out, outside } = folders(kept);
  const target = join(outside, basename(name()));
  renameSync(join(out, name()), target);
  symlinkSync(target, join(out, name()));
  if (name() !== 'sweep.json') rmSync(join(out, 'sweep.json'));
  if (name() !== 'sweep.json') cpSync(join(kept, 'sweep.json'), join(out, 'sweep.json'));
  const before = treeOf(outside);
  const { code, stderr } = await folkmoot(args(out));
  expect([code, stderr]).toEqual([2, expect.stringContaining(join(out, name()))]);
  expect(treeOf(outside)).toEqual(before);
});

/** Commands that write a new folder: names of entries that they would write or enter. */
const writers: [command: string, args: Args, names: string[]][] = [
  ['sim', (out) => ['sim', scenario, '--out', out], ['network', 'summary.json', 'blocks.csv']],
  ['sweep', (out) => ['sweep', scenario, '--out', out], ['runs', 'logs', 'runs.csv']],
  ['sweep --record', (out) => ['sweep', scenario, '--out', out, '--resume'], ['cassettes']],
  ['merge', (out) => ['merge', shard, '--out', out], ['runs', 'cassettes', 'summary.csv']],
  ['merge --resume', (out) => ['merge', shard, '--out', out, '--resume'], ['runs']],
  ['fork', (out) => ['fork', run, '--intervention', change, '--out', out], ['network', 'sub']],
  ['swarm', (out) => ['swarm', '--seeds', '1', '--out', out], ['scenario.yaml']],
  ['conformance', (out) => ['conformance', '--out', out], ['logs', 'vectors', 'README.md']],
  [
    'load',
    (out) => ['load', '--url', 'http://127.0.0.1:9', '--duration', '1s', '--out', out],
    ['result.json', 'report.html'],
  ],
];
const all = writers.flatMap(([command, args, names]) =>
  names.flatMap((name) => [
    [command, name, 'a folder', args] as const,
    [command, name, 'nothing', args] as const,
  ]),
);
test.each(all)('links: %s: never writes through a link %s to %s', async (_, name, what, args) => {
  const { out, outside } = folders();
  symlinkSync(what === 'nothing' ? join(outside, 'absent') : outside, join(out, name), 'dir');
  const { code } = await folkmoot(args(out));
  expect(code).not.toBe(0);
  expect(treeOf(outside)).toEqual([]);
});

test('links: sim: a link in place of a part of a table is replaced', async () => {
  const { out, outside } = folders();
  const target = join(outside, 'notes');
  writeFileSync(target, 'notes');
  symlinkSync(target, join(out, '.blocks.csv.part'));
  await succeed('sim', scenario, '--out', out);
  expect(readFileSync(target, 'utf8')).toBe('notes');
});
