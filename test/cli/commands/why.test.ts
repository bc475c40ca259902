/** `folkmoot why`: of a kept run, as text and as JSON; and what cannot be asked. */
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Explanation } from '../../../dist/sim/attribution/explanation.js';
import { expectOneLine, runCommand, simJson } from '../../support/command.js';
import { csvRows, linesOf, suiteFolder } from '../../support/runs.js';

const run = join(suiteFolder(), 'run');
let blocks: Record<string, string>[] = [];

beforeAll(async () => {
  const set = ['--set', 'consensus.policy=veto', '--set', 'consensus.weights=reputation'];
  await simJson('--agents', '60', '--blocks', '6', '--out', run, ...set);
  blocks = csvRows(join(run, 'blocks.csv'));
});

test('why: says of each block what its row in blocks.csv says, and why', async () => {
  for (const row of blocks) {
    const { code, stdout, stderr } = await runCommand([
      'why',
      run,
      row.block_hash!,
      '--mechanical',
      '--json',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    const { block, electors, outcome, power, swings } = JSON.parse(stdout) as Explanation;
    expect(`${block.status} ${outcome}`).toBe(`${row.status} ${row.status}`);
    expect([block.approve, block.reject, block.total].map(String)).toEqual([
      row.approve,
      row.reject,
      row.electorate,
    ]);
    expect(electors.filter(({ vote }) => vote !== null)).toHaveLength(Number(row.votes));
    expect(power.turnout).toBe(null);
    const shares = power.decision.electors.map(({ shapley_shubik }) => shapley_shubik!);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
    for (const swing of swings) expect(swing.outcome).not.toBe(row.status);
  }
});

test('why: the text names block, power, reasons, and what was left out', async () => {
  const final = blocks.find(({ status }) => status === 'finalized')!;
  const few = ['--most', '3', '--replicates', '2'];
  const { code, stdout, stderr } = await runCommand(['why', run, final.height!, ...few]);
  expect(code, stderr).toBe(0);
  const lines = linesOf(stdout);
  expect(lines[0]).toBe(`block ${final.block_hash} of height ${final.height}: finalized`);
  expect(lines[1]).toMatch(/^ {2}by veto, weights reputation: \d+ for, \d+ against, of \d+; /);
  expect(stdout).toContain('Banzhaf ');
  expect(stdout).toContain('nobody was asked again');
  expect(stdout).toMatch(/^ {2}content \d+, neighbours \d+, memes \d+, whim \d+$/m);
  expect(stdout).toMatch(/^left out, one by one: 3 of \d+, in pairs of runs/m);
  expect(stdout).toMatch(
    /^shown to change the chance that the block is finalized: \d+, at a level/m,
  );
  expect(stdout).toMatch(/^(?:not shown to change it|not measured): \d+/m);
  expect(stdout).not.toContain('nothing changes');
  expect(stderr).toMatch(/^folkmoot: \d+ forks of a run that took /m);
});

test('why: a folder without a run says that its agents cannot be asked again', async () => {
  const network = join(run, 'network');
  const text = await runCommand(['why', network, blocks[0]!.block_hash!]);
  expect([text.code, text.stderr]).toEqual([0, '']);
  expect(text.stdout).toContain('live log: its agents cannot be asked again');
  const { stdout } = await runCommand(['why', network, blocks[0]!.block_hash!, '--json']);
  expect(JSON.parse(stdout).attribution).toBe(null);
});

test.each([
  ['a block that is not there', () => [run, 'f'.repeat(64)], 'f'.repeat(64)],
  ['a height that is not final', () => [run, '999999'], 'block height 999999 not found'],
  ['what is no block', () => [run, '../etc'], 'unknown block name: ../etc'],
  ['a folder that is not there', () => [join(run, 'nowhere'), '1'], 'does not exist'],
] as const)('why: %s is usage', async (_, args, text) => {
  const ended = await runCommand(['why', ...args()]);
  expectOneLine(ended);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain(text);
});

test.each([
  [['--kind', 'mood'], "'mood' is invalid. expected one of meme, agent, alliance"],
  [['--margin', '1'], 'expected a number above 0 and below 1'],
  [['--most-replicates', '10'], '--most-replicates 10 is below --replicates 20'],
])('why: %j is usage', async (args, text) => {
  const { code, stderr } = await runCommand(['why', run, '1', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(text);
});
