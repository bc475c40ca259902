/** `folkmoot sim`: output, and equal digests for equal options. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measures } from 'folkmoot/sim';
import { folkmoot } from '../../support/cli.js';
import { type Ended, type SimJson, simJson } from '../../support/command.js';
import { full } from '../../support/counts.js';
import { linesOf } from '../../support/runs.js';

const size = full ? { agents: 300, blocks: 20 } : { agents: 80, blocks: 10 };
const ordinary = ['--seed', '7', '--agents', `${size.agents}`, '--blocks', `${size.blocks}`];

let first: { json: SimJson; ended: Ended };

beforeAll(async () => {
  first = await simJson(...ordinary);
});

test('sim: the same seed and options give the same digests', async () => {
  const { json } = await simJson(...ordinary);
  expect(figures(json)).toEqual(figures(first.json));
});

test.each(['off', 'inline'])('sim: --verifier %s gives the digests of the pool', async (name) => {
  const { json } = await simJson(...ordinary, '--verifier', name);
  const verified = name === 'off' ? 0 : first.json.verified;
  expect(figures(json)).toEqual({ ...figures(first.json), verifier: name, verified });
});

test('sim: the reference verifier gives the digests of the pool', async () => {
  const small = ['--seed', '7', '--agents', '30', '--blocks', '3'];
  const [reference, pool] = await Promise.all([
    simJson(...small, '--verifier', 'reference'),
    simJson(...small),
  ]);
  expect(figures(reference.json)).toEqual({ ...figures(pool.json), verifier: 'reference' });
});

test.each([
  ['another seed', ['--seed', '8']],
  ['one agent more', ['--agents', `${size.agents + 1}`]],
  ['another policy', ['--policy', 'majority']],
])('sim: %s changes the digest', async (_, changed) => {
  const { json } = await simJson(...ordinary, ...changed);
  expect(json.verdict).toBe('pass');
  expect(json.digest).not.toBe(first.json.digest);
  expect(json.log_digest).not.toBe(first.json.log_digest);
});

test('sim --json: prints one JSON object with every member', () => {
  const count = expect.toSatisfy((value) => Number.isSafeInteger(value) && value >= 0);
  const positive = expect.toSatisfy((value) => Number.isSafeInteger(value) && value > 0);
  const digest = expect.stringMatching(/^[0-9a-f]{64}$/);
  const lines = linesOf(first.ended.stdout);
  expect(lines).toHaveLength(1);
  const { version } = packageJson();
  expect(JSON.parse(lines[0]!)).toMatchObject({
    seed: '7',
    scenario: {
      population: size.agents,
      length: { blocks: size.blocks },
      consensus: { policy: 'bft', weights: 'equal' },
    },
    modules: {},
    files: {},
    verifier: 'pool',
    verdict: 'pass',
    broken: null,
    digest,
    log_digest: digest,
    measures: {
      ...{ proposed: positive, finalized: positive, rejected: count, expired: count },
      ...{ orphaned: count, votes: positive, transactions: positive },
    },
    entries: positive,
    events: positive,
    verified: positive,
    commits: positive,
    virtual_ms: positive,
    wall_ms: positive,
    votes_per_s: positive,
    peak_rss_bytes: positive,
    version,
    node: process.version,
  });
  expect(Object.keys(first.json.measures)).toEqual(Object.keys(measures));
  expect(first.json.commit === null || /^[0-9a-f]{40}$/.test(first.json.commit)).toBe(true);
});

test('sim: standard error starts with title, seed, size and policy', () => {
  const [line] = linesOf(first.ended.stderr);
  expect(line).toBe(`folkmoot sim: A town (seed=7 agents=${size.agents} bft)`);
});

test('sim: progress lines reach the end and name the durable entry', () => {
  const [, ...lines] = linesOf(first.ended.stderr);
  const told = lines.map((line) => {
    const form = /^\d+ %: (\d+) blocks, (\d+) votes, durable to entry (\d+) digest ([0-9a-f]{64})$/;
    const found = form.exec(line);
    expect(found, line).not.toBe(null);
    return { closed: Number(found![1]), votes: Number(found![2]), seq: Number(found![3]) };
  });
  expect(told.length).toBeGreaterThanOrEqual(5);
  for (const name of ['closed', 'votes', 'seq'] as const) {
    const numbers = told.map((one) => one[name]);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  }
  expect(told.at(-1)!.closed).toBeGreaterThanOrEqual(size.blocks);
});

test('sim: without --json the summary names verdict, seed and digest', async () => {
  const small = ['--seed', '7', '--agents', '20', '--blocks', '2'];
  const [{ code, stdout }, { json }] = await Promise.all([
    folkmoot(['sim', ...small]),
    simJson(...small),
  ]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^verdict +pass: 2 of 2 closed blocks/m);
  expect(stdout).toMatch(/^seed +7$/m);
  for (const part of [json.digest, json.log_digest]) expect(stdout).toContain(part);
});

test('sim: a run without a decided block exits with code 10 and names the cause', async () => {
  const silent = ['--set', 'agents.town.strategy.kind=silent', '--set', 'patience_periods=3'];
  const args = ['sim', '--agents', '4', '--blocks', '50', '--verifier', 'off', ...silent];
  const { code, stdout } = await folkmoot(args);
  expect(code).toBe(10);
  expect(stdout).toMatch(/^ended by +stalled$/m);
  expect(stdout).toMatch(/^cut short +.*patience: .* 3 voting periods/m);
});

/** Returns the members that do not depend on the machine, its load or batching. */
function figures(json: SimJson) {
  const { wall_ms, votes_per_s, peak_rss_bytes, commits, ...rest } = json;
  return rest;
}

function packageJson(): { version: string } {
  const file = join(import.meta.dirname, '../../../package.json');
  return JSON.parse(readFileSync(file, 'utf8')) as { version: string };
}
