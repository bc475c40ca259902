/** `folkmoot fork` and `compare`: output, errors and files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lively } from '../../sim/interventions/world.js';
import { smallRaw, writeScenario } from '../../sim/sweep/scenarios.js';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows, suiteFolder } from '../../support/runs.js';

const suite = suiteFolder();
const kept = join(suite, 'run');

beforeAll(async () => {
  const file = writeScenario(suite, lively({ length: { blocks: 5 } }));
  const { code } = await folkmoot(['sim', file, '--out', kept]);
  expect(code).toBe(0);
});

const fork = (...args: string[]) => folkmoot(['fork', kept, ...args]);

const intervene = (yaml: string) => ['--intervention', yaml];

const silence = intervene('{ kind: silence, whom: [{ group: town, count: 5 }], at_height: 2 }');
const drop = intervene('{ kind: drop, block: 1, at_ms: 0 }');

test('fork: prints the change, verifies the prefix, and compares', async () => {
  const out = join(temporaryFolder(), 'fork');
  const ended = await fork(...silence, '--out', out);
  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/^change +silence 5 of town: .* \d+ ms, .* entry \d+; /);
  expect(ended.stdout).toMatch(/^prefix +entries 0 to \d+ .* digest [0-9a-f]{64}$/m);
  expect(ended.stdout).toMatch(/^diverges at +entry \d+ \(/m);
  expect(readFileSync(join(out, 'report.html'), 'utf8')).toContain('silence 5 of town');
  const again = await folkmoot(['compare', kept, out, '--json']);
  const found = JSON.parse(again.stdout) as { same: boolean; first: { seq: number } };
  expect(found.same).toBe(false);
  expect(ended.stdout).toContain(`diverges at  entry ${found.first.seq} (`);
  const rerun = await folkmoot(['sim', join(out, 'scenario.json'), '--json']);
  const { log_digest } = JSON.parse(rerun.stdout) as { log_digest: string };
  const summary = readFileSync(join(out, 'summary.json'), 'utf8');
  expect((JSON.parse(summary) as { log_digest: string }).log_digest).toBe(log_digest);
  expect((await folkmoot(['compare', kept, kept])).stdout).toMatch(/^all +identical: /m);
});

test('fork: runs pairs over seeds, and adds more with --resume', async () => {
  const out = join(temporaryFolder(), 'seeds');
  const args = [...intervene('{ kind: mute, whom: [{}], at_ms: 0 }'), '--replicates'];
  expect((await fork(...args, '3', '--out', out)).code).toBe(0);
  const ended = await fork(...args, '5', '--out', out, '--resume', '--json');
  expect(ended.code).toBe(0);
  const { differences, completed } = JSON.parse(ended.stdout) as {
    completed: number;
    differences: { measure: string; n: number; mean: number; high: number }[];
  };
  expect(completed).toBe(10);
  const references = differences.find(({ measure }) => measure === 'meme_references')!;
  expect(references.n).toBe(5);
  expect(references.high).toBeLessThan(0);
  expect(new Set(csvRows(join(out, 'runs.csv')).map(({ seed }) => seed)).size).toBe(5);
});

test.each([
  [intervene('{ kind: mute, meme: 9999, at_ms: 0 }'), /--intervention 1: meme 9999 .*expected 0/],
  [
    intervene('{ kind: vote, agent: 99, block: 1, decision: none, at_ms: 0 }'),
    /agent is 99; expected an ordinal up to 29/,
  ],
  [intervene('{ kind: drop, block: 1, at_entry: 99999 }'), /entry 99999 .*expected at most/],
  [intervene('{ kind: drop, block: 1, at_ms: 32400000 }'), /32400000 ms .*expected at most \d+ ms/],
  [intervene('fly'), /--intervention 1 /],
  [intervene('{ kind: drop'), /--intervention 1 /],
  [intervene('{ kind: fly, at_ms: 0 }'), /--intervention 1: /],
  [[], /--intervention /],
  [[...drop, '--resume'], /--resume .*--replicates/],
  [
    [...intervene(`{ kind: drop, block: ${'ab'.repeat(32)}, at_ms: 0 }`), '--replicates', '3'],
    /block abab.*expected 0 to/,
  ],
  [
    [
      ...intervene('{ kind: set, path: links.loss, value: 0, at_ms: 0 }'),
      ...intervene('{ kind: set, path: links.loss, value: 1, at_ms: 0 }'),
    ],
    /--intervention 2: contradicts interventions.0 .*links.loss/,
  ],
] as [string[], RegExp][])('fork: %j is refused before anything runs', async (args, expected) => {
  const out = join(temporaryFolder(), 'fork');
  const ended = await fork(...args, '--out', out);
  expect(ended.code).toBe(2);
  expectOneLine(ended);
  expect(ended.stderr).toMatch(expected);
  expect(existsSync(out)).toBe(false);
});

test('fork: names a script that is not deterministic, and exits with code 12', async () => {
  const folder = temporaryFolder();
  const strategy = { kind: 'script', module: 'vote.mjs' };
  const body = "return { do: 'vote', decision: 'approve', reason: String(process.pid) };";
  writeFileSync(join(folder, 'vote.mjs'), `export function vote() { ${body} }`);
  const raw = smallRaw();
  const agents = [{ ...raw.agents[0], strategy }];
  const file = writeScenario(folder, { ...raw, agents });
  const run = join(folder, 'run');
  expect((await folkmoot(['sim', file, '--out', run])).code).toBe(0);
  const first = intervene('{ kind: silence, whom: [{ agent: 0 }], at_height: 1 }');
  const ended = await folkmoot(['fork', run, '--folder', folder, ...first]);
  expect(ended.code).toBe(12);
  expect(ended.stdout).toMatch(/^prefix .* entry \d+ \(vote\), .*: vote\.mjs$/m);
  expect(ended.stdout).toMatch(/^ {2}field +body.reason$/m);
});

test('compare: writes a new page and prints the votes', async () => {
  const folder = temporaryFolder();
  const out = join(folder, 'fork');
  expect((await fork(...silence, '--out', out)).code).toBe(0);
  const page = join(folder, 'both.html');
  const compared = await folkmoot(['compare', kept, out, '--out', page]);
  expect(compared.code).toBe(0);
  expect(compared.stdout).toMatch(/^votes +\d+ flipped, /m);
  expect(compared.stderr).toContain(page);
  expect(readFileSync(page, 'utf8')).toMatch(/<!doctype html>/i);
  const { futures } = JSON.parse((await folkmoot(['compare', kept, out, '--json'])).stdout) as {
    futures: { votes: { only_a: number }; voters: unknown[] };
  };
  expect(futures.votes.only_a).toBeGreaterThan(0);
  expect(futures.voters.length).toBeGreaterThan(0);
  for (const file of [page, join(folder, 'both.txt')]) {
    const refused = await folkmoot(['compare', kept, out, '--out', file]);
    expect(refused.code).toBe(2);
    expectOneLine(refused);
    expect(refused.stderr).toContain(file);
  }
  const nowhere = await folkmoot(['compare', kept, out, '--out', join(folder, 'no/both.html')]);
  expect(nowhere.code).toBe(2);
  expectOneLine(nowhere);
});
