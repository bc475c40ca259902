/** Merged shards equal the whole sweep, byte for byte, for any design. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { folkmoot } from '../../../support/cli.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { main } from '../../../support/paths.js';
import { linesOf, suiteFolder } from '../../../support/runs.js';
import { expectSame, filesIn, rowsIn, runsIn } from '../folders.js';
import { smallRaw, writeScenario } from '../scenarios.js';
import { dealt, foldersIn, merged, whole } from './shards.js';

const around = suiteFolder();
let count = 0;
const fileOf = (sweep: object, raw: object = smallRaw(4)) =>
  writeScenario(around, { ...raw, length: { blocks: 1 }, sweep }, `${++count}.yaml`);

const loss = (...values: number[]) => ({ path: 'links.loss', name: 'loss', values });
const range = { path: 'links.loss', name: 'loss', from: 0, to: 0.3 };
const other = { path: 'links.duplication', name: 'copies', from: 0, to: 0.3 };

describe('merge: the same bytes as a sweep in one folder', () => {
  test.each<[string, number, object]>([
    ['a grid, a base', 4, { factors: [loss(0, 0.1, 0.2)], replicates: 3, baseline: { loss: 0 } }],
    ['a list with a duplicate cell', 3, { design: 'list', factors: [loss(0, 0.1, 0)] }],
    ['trajectories', 2, { design: 'morris', samples: 2, factors: [range, other] }],
    ['Sobol rows', 3, { design: 'sobol', samples: 2, factors: [range, other] }],
    ['a hypercube, one shard', 1, { design: 'lhs', samples: 2, replicates: 2, factors: [range] }],
    ['more shards than runs', 5, { factors: [loss(0)], replicates: 2 }],
    ['audited first', 2, { factors: [loss(0, 0.1)], replicates: 2, audit: 'first' }],
  ])('merge: %s', async (_, of, design) => {
    const file = fileOf(design);
    const folder = temporaryFolder();
    const [alone, out] = [join(folder, 'alone'), join(folder, 'out')];
    const expected = await whole(file, alone);
    const results = await dealt(file, folder, of);
    const sum = results.reduce((total, { completed }) => total + completed, 0);
    expect([sum, results.every(({ finished }) => finished)]).toEqual([expected.completed, true]);
    expect(await merged(foldersIn(folder, of).reverse(), out)).toEqual(expected);
    expectSame(alone, out);
  });

  test('merge: includes cells that stop at a narrow interval', async () => {
    const until = { half_width: 0.15, most: 40 };
    const file = fileOf({ factors: [loss(0, 0.1, 0.3)], responses: ['participation'], until });
    const folder = temporaryFolder();
    const [alone, out] = [join(folder, 'alone'), join(folder, 'out')];
    const expected = await whole(file, alone);
    const counts = (await dealt(file, folder, 2)).map(({ completed }) => completed);
    // The first look at a cell comes at thirty runs.
    expect(counts.every((runs) => runs >= 30)).toBe(true);
    expect(await merged(foldersIn(folder, 2), out)).toEqual(expected);
    expectSame(alone, out);
  });

  test('merge: includes script measures, and does not need the scripts', async () => {
    const folder = temporaryFolder();
    const script = `export const vote = () => ({ do: 'vote', decision: 'approve' });
export const report = ({ blocks }) => ({ seen: blocks.length });`;
    writeFileSync(join(around, 'script.mjs'), script);
    const [town] = smallRaw(4).agents;
    const agents = [{ ...town, strategy: { kind: 'script', module: 'script.mjs' } }];
    const file = fileOf({ factors: [loss(0, 0.1)], replicates: 2 }, { ...smallRaw(4), agents });
    const [alone, out] = [join(folder, 'alone'), join(folder, 'out')];
    const expected = await whole(file, alone);
    await dealt(file, folder, 2);
    writeFileSync(join(around, 'script.mjs'), 'throw new Error("a merge needs no script");');
    expect(await merged(foldersIn(folder, 2), out)).toEqual(expected);
    expect(Object.keys(rowsIn(join(out, 'runs.csv'))[0]!)).toContain('reported.seen');
    expectSame(alone, out);
  });

  test('merge: includes the answers of deciders, each run with its cassette', async () => {
    const folder = temporaryFolder();
    const program = `import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const commands = [{ do: 'vote', decision: 'approve' }];
  console.log(JSON.stringify({ id: JSON.parse(line).id, commands }));
}`;
    writeFileSync(join(around, 'mind.mjs'), program);
    const strategy = { kind: 'exec', command: [process.execPath, 'mind.mjs'] };
    const [town] = smallRaw(4).agents;
    const file = fileOf(
      { factors: [loss(0, 0.1)], replicates: 1 },
      { ...smallRaw(4), agents: [{ ...town, strategy }] },
    );
    const [again, out] = [join(folder, 'again'), join(folder, 'out')];
    await dealt(file, folder, 2, { deciders: { record: true } });
    expect((await merged(foldersIn(folder, 2), out)).verdicts).toMatchObject({ pass: 2 });
    expect(readdirSync(join(out, 'cassettes'))).toHaveLength(2);
    const kept = foldersIn(folder, 2).flatMap((shard) => [...filesIn(join(shard, 'cassettes'))]);
    expect(new Map(kept)).toEqual(filesIn(join(out, 'cassettes')));
    writeFileSync(join(around, 'mind.mjs'), 'process.exit(1)');
    await whole(file, again, { deciders: { cassette: out } });
    const tables = (at: string) => readFileSync(join(at, 'runs.csv'), 'utf8');
    expect(tables(again)).toBe(tables(out));
  });
});

describe('merge: on the command line', () => {
  const sweep = { factors: [loss(0, 0.1)], replicates: 2 };

  test('docs/sweeps.md: its job array runs, and its merge equals the sweep', async () => {
    const folder = temporaryFolder();
    writeScenario(folder, { ...smallRaw(4), length: { blocks: 1 }, sweep }, 'minority.yaml');
    const text = readFileSync(new URL('../../../../docs/sweeps.md', import.meta.url), 'utf8');
    const [, script] = /```sh\n(#!\/bin\/sh\n#SBATCH [\s\S]*?)```/.exec(text)!;
    for (const id of [4, 6, 8]) {
      const array = { ID: id, COUNT: 3, MIN: 4, MAX: 8, STEP: 2 };
      const names = Object.entries(array).map(([of, value]) => [`SLURM_ARRAY_TASK_${of}`, value]);
      const commands = script!.replace('npx folkmoot', `'${process.execPath}' '${main}'`);
      const env = { ...process.env, ...Object.fromEntries(names) };
      await promisify(execFile)('sh', ['-ec', commands], { cwd: folder, env });
    }
    const shards = [4, 6, 8].map((id) => join(folder, `runs/shards/${id}`));
    const heads = shards.map((at) => JSON.parse(readFileSync(join(at, 'sweep.json'), 'utf8')));
    expect(heads.map(({ shard }) => `${shard.index}/${shard.of}`)).toEqual(['1/3', '2/3', '3/3']);
    expect(shards.map(runsIn)).toEqual([1, 2, 1]);
    const out = join(folder, 'out');
    const ended = await folkmoot(['merge', ...shards, '--out', out, '--json']);
    const alone = join(folder, 'alone');
    const args = ['sweep', join(folder, 'minority.yaml'), '--out', alone, '--json'];
    const expected = await folkmoot(args);
    expect([ended.code, expected.code], ended.stderr).toEqual([0, 0]);
    expect(JSON.parse(ended.stdout)).toEqual({ ...JSON.parse(expected.stdout), out });
    expectSame(alone, out);
    // A merged sweep can grow like any other.
    const more = ['--resume', '--replicates', '3', '--out', out];
    expect([(await folkmoot([...args.slice(0, 2), ...more])).code, runsIn(out)]).toEqual([0, 6]);
  });

  test('sweep --shard: names its folder after the shard, which --json includes', async () => {
    const folder = temporaryFolder();
    const args = ['sweep', fileOf(sweep), '--shard', '2/2', '--jobs', '1'];
    const { code, stdout, stderr } = await folkmoot([...args, '--json'], { cwd: folder });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('2 cells, 2 runs each, shard 2/2, ');
    const out = `sweep-${count}-2-of-2`;
    expect(JSON.parse(stdout)).toMatchObject({ out, shard: { index: 2, of: 2 }, completed: 2 });
    const again = await folkmoot([...args, '--resume'], { cwd: folder });
    expect(again.stdout).toMatch(/^2 of 2 runs completed: 2 pass\n.*folkmoot merge/);
  });

  test('merge: lists missing runs and writes nothing', async () => {
    const folder = temporaryFolder();
    const file = fileOf(sweep);
    await dealt(file, folder, 3);
    const [first, second, third] = foldersIn(folder, 3) as [string, string, string];
    const [lost] = readdirSync(join(first, 'runs'));
    rmSync(join(first, 'runs', lost!));
    rmSync(join(third, 'runs.sha256'));
    const out = join(folder, 'out');
    const { code, stdout, stderr } = await folkmoot([
      ...['merge', first, third, '--out', out, '--json'],
    ]);
    expect(code).toBe(2);
    const [replicate] = /\d+(?=\.json)/.exec(lost!)!;
    const runs = [{ cell: expect.any(Number), replicate: Number(replicate) }];
    const missing = [
      { shard: 1, of: 3, folder: first, runs },
      { shard: 2, of: 3, folder: null, runs: [1, 2].map((one) => ({ cell: 2, replicate: one })) },
      { shard: 3, of: 3, folder: third, runs: [] },
    ];
    expect(JSON.parse(stdout)).toEqual({ out, missing });
    const { cell } = JSON.parse(stdout).missing[0].runs[0];
    const parts = [
      ['folkmoot: ', 'missing runs: 3'],
      [first, ` ${cell}/${replicate};`, `--shard 1/3 --resume --out ${first}`],
      ['--shard 2/3: ', ' 2 runs'],
      [third, `--shard 3/3 --resume --out ${third}`],
    ];
    const lines = linesOf(stderr);
    expect(lines).toHaveLength(parts.length);
    for (const [at, texts] of parts.entries()) {
      for (const text of texts) expect(lines[at]).toContain(text);
    }
    expect(existsSync(out)).toBe(false);
    // Following the advice of each line completes the merge.
    await dealt(file, folder, 3, { resume: true });
    expect((await merged([first, second, third], out)).completed).toBe(4);
  });
});
