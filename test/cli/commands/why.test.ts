/** `folkmoot why`: explains a block in a saved run, as text and as JSON. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Explanation } from '../../../dist/sim/attribution/explanation.js';
import { runCommand, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows, linesOf, suiteFolder } from '../../support/runs.js';

const run = join(suiteFolder(), 'run');
let blocks: Record<string, string>[] = [];

beforeAll(async () => {
  const set = ['--set', 'consensus.policy=veto', '--set', 'consensus.weights=reputation'];
  await simJson('--agents', '60', '--blocks', '6', '--out', run, ...set);
  blocks = csvRows(join(run, 'blocks.csv'));
});

test('why: agrees with blocks.csv for each block', async () => {
  for (const row of blocks) {
    const { code, stdout, stderr } = await runCommand([
      ...['why', run, row.block_hash!, '--mechanical', '--json'],
    ]);
    expect([code, stderr]).toEqual([0, '']);
    const { block, electors, outcome, power, swings } = JSON.parse(stdout) as Explanation;
    expect(`${block.status} ${outcome}`).toBe(`${row.status} ${row.status}`);
    expect([block.approve, block.reject, block.total].map(String)).toEqual([
      ...[row.approve, row.reject, row.electorate],
    ]);
    expect(electors.filter(({ vote }) => vote !== null)).toHaveLength(Number(row.votes));
    expect(power.turnout).toBe(null);
    const shares = power.decision.electors.map(({ shapley_shubik }) => shapley_shubik!);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
    for (const swing of swings) expect(swing.outcome).not.toBe(row.status);
  }
});

test('why: the text names block, power, factors and tested candidates', async () => {
  const final = blocks.find(({ status }) => status === 'finalized')!;
  const few = ['--most', '3', '--replicates', '2'];
  const { code, stdout, stderr } = await runCommand(['why', run, final.height!, ...few]);
  expect(code, stderr).toBe(0);
  const lines = linesOf(stdout);
  expect(lines[0]).toMatch(
    /^finalized: \d+ of \d+ weight approved, .*; .*(?:cause|effect|finality)/,
  );
  expect(lines[2]).toMatch(
    new RegExp(`^block ${final.block_hash} .*\\b${final.height}: finalized$`),
  );
  expect(lines[3]).toMatch(/veto, weights reputation: \d+ for, \d+ against, of \d+; /);
  expect(stdout).toContain('Banzhaf ');
  expect(stdout).toMatch(/^ {2}content \d+, neighbours \d+, memes \d+, whim \d+$/m);
  expect(stdout).toMatch(/^tested one by one: 3 of \d+ /m);
  expect(stdout).toMatch(/^(?:no shown effect|shown effects) .*, at level /m);
  expect(stdout).toMatch(/^(?:undecided|not measured): \d+/m);
  expect(stderr).toMatch(/^folkmoot: \d+ forks of a run /m);
});

test('why: a data folder gets no attribution', async () => {
  const network = join(run, 'network');
  const text = await runCommand(['why', network, blocks[0]!.block_hash!]);
  expect([text.code, text.stderr]).toEqual([0, '']);
  expect(text.stdout).toMatch(/^no new runs: not a saved run/m);
  const { stdout } = await runCommand(['why', network, blocks[0]!.block_hash!, '--json']);
  expect(JSON.parse(stdout).attribution).toBe(null);
});

test('why: an unknown height, prefix or hash names blocks that exist', async () => {
  const heights = blocks.map(({ height }) => Number(height));
  for (const named of ['999999', 'ffffffff0', 'f'.repeat(64)]) {
    const { code, stderr } = await runCommand(['why', run, named]);
    expect(code).toBe(2);
    expect(stderr).toContain(`height ${Math.max(...heights)} (`);
    expect(stderr).toContain(`folkmoot events ${run} `);
  }
});

test.each([
  ['log'],
  ['replay'],
  ['events', '--out', join(run, 'none.ndjson')],
])('%s: an option beyond the end of the log names the last entry', async (name, ...more) => {
  const { code, stderr } = await runCommand([name!, run, '--to', '999999', ...more]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/--to 999999 .*last (?:entry|event): [1-9]\d*$/m);
});

test('replay: an option beyond the end of a printed log names the last entry', async () => {
  const file = join(temporaryFolder(), 'run.ndjson');
  writeFileSync(file, (await runCommand(['log', run])).stdout);
  const { code, stderr } = await runCommand(['replay', file, '--to', '999999']);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/--to 999999 .*last entry: [1-9]\d*/)]);
});
