/** Sweeps that grow: runs stay, and the files equal those of the larger sweep. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectOneLine } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { copyOf, suiteFolder } from '../../support/runs.js';
import { expectSame, filesIn, rowsIn, sweepIn } from './folders.js';
import { smallRaw, writeScenario } from './scenarios.js';

const loss = (...values: number[]) => ({ path: 'links.loss', name: 'loss', values });
const around = suiteFolder();
let count = 0;
const fileOf = (sweep: object) =>
  writeScenario(around, { ...smallRaw(4), length: { blocks: 1 }, sweep }, `${++count}.yaml`);

/** Runs the smaller sweep, and then the larger one in the same folder. */
async function grown(small: object, large: object, ...args: string[]) {
  const out = join(temporaryFolder(), 'out');
  expect((await sweepIn(fileOf(small), out)).code).toBe(0);
  const kept = readdirSync(join(out, 'runs'));
  const before = filesIn(out);
  const ended = await sweepIn(fileOf(large), out, '--resume', ...args);
  return { out, kept, before, ended };
}

const range = { path: 'links.loss', name: 'loss', from: 0, to: 0.3 };
const other = { path: 'links.duplication', name: 'copies', from: 0, to: 0.3 };
const two = { factors: [loss(0, 0.1)], replicates: 1 };

test.each([
  ['replicates', two, { ...two, replicates: 3 }],
  ['values between those of a grid', two, { ...two, factors: [loss(0, 0.05, 0.1)] }],
  [
    'values of a list',
    { ...two, design: 'list' },
    { ...two, design: 'list', factors: [loss(0, 0.1, 0.2)] },
  ],
  [
    'trajectories',
    { design: 'morris', samples: 1, factors: [range, other] },
    { design: 'morris', samples: 3, factors: [range, other] },
  ],
  [
    'Sobol rows',
    { design: 'sobol', samples: 1, factors: [range, other] },
    { design: 'sobol', samples: 3, factors: [range, other] },
  ],
  [
    'replicates of a hypercube',
    { design: 'lhs', samples: 3, replicates: 1, factors: [range] },
    { design: 'lhs', samples: 3, replicates: 2, factors: [range] },
  ],
  ['responses', two, { ...two, responses: ['votes'] }],
])('sweep: %s', async (_, small, large) => {
  const { out, kept, ended } = await grown(small, large);
  const { code, stderr } = ended;
  expect(code, stderr).toBe(0);
  expect(Number(/^(\d+)\/(\d+) runs$/m.exec(stderr)![1])).toBe(kept.length);
  const fresh = join(temporaryFolder(), 'out');
  expect((await sweepIn(fileOf(large), fresh)).code).toBe(0);
  expectSame(fresh, out);
});

describe('sweep: refuses changes that are not additions', () => {
  const lhs = { design: 'lhs', samples: 3, replicates: 1, factors: [range] };
  test.each([
    ['fewer values', two, { ...two, factors: [loss(0)] }, /links\.loss\) .*0\.1/],
    ['a factor', two, { ...two, factors: [{ ...loss(0, 0.1), name: 'x' }] }, /name is "loss"/],
    ['another design', two, { ...two, design: 'list' }, /design is "grid" there and "list" now/],
    ['more samples in lhs', lhs, { ...lhs, samples: 6 }, /sweep\.samples is 3 there and 6 now/],
    ['another range', lhs, { ...lhs, factors: [{ ...range, to: 0.4 }] }, /to is 0\.3 there/],
  ])('sweep: %s', async (_, small, large, message) => {
    const { out, before, ended } = await grown(small, large);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(message)]);
    expectOneLine(ended, 1);
    expect(filesIn(out)).toEqual(before);
  });

  test('sweep: refuses a folder whose sweep.json has no format', async () => {
    const { out } = await grown(two, two);
    const old = copyOf(out, 'old');
    const { format: _, ...rest } = JSON.parse(readFileSync(join(old, 'sweep.json'), 'utf8'));
    writeFileSync(join(old, 'sweep.json'), JSON.stringify(rest));
    const { code, stderr } = await sweepIn(fileOf(two), old, '--resume');
    expect([code, stderr]).toEqual([2, expect.stringContaining(old)]);
  });
});

describe('sweep: until its interval is narrow', () => {
  const until = { half_width: 0.15, most: 40 };
  const sweep = { factors: [loss(0, 0.3)], replicates: 2, responses: ['participation'], until };
  const countsIn = (folder: string) => {
    const rows = rowsIn(join(folder, 'runs.csv'));
    return ['1', '2'].map((cell) => rows.filter((row) => row.cell === cell).length);
  };
  const widthsIn = (folder: string) =>
    rowsIn(join(folder, 'summary.csv'))
      .filter(({ measure }) => measure === 'participation')
      .map(({ low, high }) => (Number(high) - Number(low)) / 2);

  test('sweep: ends each cell independently of the number of jobs', async () => {
    const file = fileOf(sweep);
    const [one, more] = ['one', 'more'].map((n) => join(temporaryFolder(), n)) as [string, string];
    expect((await sweepIn(file, one)).code).toBe(0);
    for (const width of widthsIn(one)) expect(width).toBeLessThanOrEqual(0.15);
    for (const runs of countsIn(one)) expect([30, 40]).toContain(runs);
    expect((await sweepIn(file, more, '--jobs', '3')).code).toBe(0);
    expectSame(one, more);
    // A narrower interval continues from these runs.
    const args = ['--until-interval', '0.08', '--most-replicates', '40'];
    expect((await sweepIn(file, more, '--resume', ...args)).code).toBe(0);
    const fresh = join(temporaryFolder(), 'fresh');
    expect((await sweepIn(file, fresh, ...args)).code).toBe(0);
    expectSame(fresh, more);
    expect(Math.max(...countsIn(fresh))).toBeGreaterThan(Math.max(...countsIn(one)) - 1);
  });

  test('sweep: ends at --most-replicates if the interval stays wide', async () => {
    const out = join(temporaryFolder(), 'out');
    const file = fileOf({ factors: [loss(0, 0.1)], responses: ['proposed'] });
    const args = ['--until-interval', '0.001%', '--most-replicates', '12'];
    const { code, stdout } = await sweepIn(file, out, ...args);
    expect([code, countsIn(out)]).toEqual([0, [12, 12]]);
    expect(stdout).toMatch(/24 of 24 runs completed/);
  });
});
