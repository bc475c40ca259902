/** Assignment of runs to shards, and the shard of a job array task. */
import { parseShard } from '../../../dist/cli/commands/sweep.js';
import { isDealtTo } from '../../../dist/sim/sweep/plan.js';

const keysOf = (cells: number) => Array.from({ length: cells }, (_, cell) => `key ${cell}`);
const planOf = (cells: number, until?: object) =>
  ({ sweep: { until }, keys: keysOf(cells) }) as never;

const invalid = expect.objectContaining({ code: 'commander.invalidArgument' });

/** Number of runs in each shard. */
function counted(cells: number, replicates: number, of: number, until?: object) {
  const dealt = isDealtTo(planOf(cells, until), of);
  const counts = Array.from({ length: of }, () => 0);
  for (const key of keysOf(cells)) {
    for (let replicate = 1; replicate <= replicates; replicate += 1) {
      counts[dealt(key, replicate)! - 1]! += 1;
    }
  }
  return counts;
}

test.each([
  [1, 1, 1],
  [3, 2, 4],
  [16, 10, 16],
  [10, 10, 16],
  [7, 5, 3],
  [2, 3, 100],
])('shards: %i cells, %i replicates, %i shards: sizes differ by at most one', (...of) => {
  const [cells, replicates] = of;
  const counts = counted(...of);
  expect(counts.reduce((sum, count) => sum + count)).toBe(cells * replicates);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
});

test('shards: spreads the replicates of a cell over different shards', () => {
  const dealt = isDealtTo(planOf(16), 16);
  const of = Array.from({ length: 16 }, (_, index) => dealt('key 3', index + 1));
  expect(new Set(of).size).toBe(16);
});

test('shards: with `until`, puts all runs of a cell in one shard', () => {
  expect(counted(4, 10, 2, { half_width: 1 })).toEqual([20, 20]);
  const dealt = isDealtTo(planOf(4, { half_width: 1 }), 2);
  for (const key of keysOf(4)) expect(dealt(key, 99)).toBe(dealt(key, 1));
});

test('shards: treats equal cells as one', () => {
  const dealt = isDealtTo({ sweep: {}, keys: ['a', 'a', 'b'] } as never, 2);
  expect([dealt('a', 1), dealt('b', 1), dealt('c', 1)]).toEqual([1, 2, null]);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Parses `--shard slurm` in the environment of a job array task. */
function taskOf(id: string, count: string, least: string, most: string) {
  const names = ['ID', 'COUNT', 'MIN', 'MAX'];
  for (const [at, value] of [id, count, least, most].entries()) {
    vi.stubEnv(`SLURM_ARRAY_TASK_${names[at]}`, value);
  }
  return parseShard('slurm');
}

test('shards: parses i/n', () => {
  expect(parseShard('1/1')).toEqual({ index: 1, of: 1 });
  expect(parseShard('3/16')).toEqual({ index: 3, of: 16 });
  expect(parseShard('1000000/1000000')).toEqual({ index: 1_000_000, of: 1_000_000 });
});

test.each([
  ...['0/4', '5/4', '1/0', '1/1000001', '1', '1/', '-1/4', '1.5/4', 'Slurm', '1/2/3', ''],
])('shards: refuses %s', (text) => {
  expect(() => parseShard(text)).toThrow(invalid);
});

test.each([
  ['1-16', ['3', '16', '1', '16'], { index: 3, of: 16 }],
  ['0-15', ['0', '16', '0', '15'], { index: 1, of: 16 }],
  ['0-15', ['15', '16', '0', '15'], { index: 16, of: 16 }],
  ['10-40:2', ['14', '16', '10', '40'], { index: 3, of: 16 }],
  ['1,3,5', ['5', '3', '1', '5'], { index: 3, of: 3 }],
  ['7', ['7', '1', '7', '7'], { index: 1, of: 1 }],
] as const)('shards: finds the task of --array=%s', (_, [id, count, least, most], shard) => {
  expect(taskOf(id, count, least, most)).toEqual(shard);
});

test.each([
  ['1,2,6', ['2', '3', '1', '6']],
  ['1,2,5', ['2', '3', '1', '5']],
  ['a task outside of the array', ['9', '4', '1', '4']],
  ['an empty array', ['1', '0', '1', '1']],
] as const)('shards: refuses %s, because the index of the task is ambiguous', (_, told) => {
  expect(() => taskOf(...(told as [string, string, string, string]))).toThrow(/unevenly spaced/);
});

test('shards: refuses slurm outside of an array, and a task id that is not a number', () => {
  vi.stubEnv('SLURM_ARRAY_TASK_ID', undefined);
  expect(() => parseShard('slurm')).toThrow(/SLURM_ARRAY_TASK_ID is not set/);
  expect(() => taskOf('x', '4', '1', '4')).toThrow(/SLURM_ARRAY_TASK_ID is "x"/);
});
