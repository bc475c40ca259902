/** Programs as deciders, by the command line: killed, resumed, and replayed without the program. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { type Ended, expectOneLine, simJson } from '../../support/command.js';
import { expectOneKey, expectResumed, mindsOf, notesKeys } from './minds.js';

/** A program that answers line by line; `how` runs before each answer. */
const program = (how = '') => `
import { createInterface } from 'node:readline';
import { appendFileSync } from 'node:fs';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, kind, view } = JSON.parse(line);
  appendFileSync('asked.txt', id + '\\n');
  ${how}
  const decision = view.block.soundness >= 80 ? 'approve' : 'reject';
  console.log(JSON.stringify({ id, commands: [{ do: 'vote', decision }] }));
}`;

const townOf = (how = '', strategy = '', agents = 4) =>
  mindsOf(program(how), `kind: exec${strategy}`, agents);

test('programs: fifty agents resume after two kills, and replay without the program', () =>
  expectResumed(townOf('', ', processes: 3', 50), program('continue;')));

test('programs: each failure has a reason, and the run continues', async () => {
  const cases: [how: string, strategy: string, reason: string][] = [
    ['process.exit(3);', '', 'ended'],
    ["console.log('thinking'); continue;", '', 'no_json'],
    ["console.log(JSON.stringify({ id, commands: [{ do: 'fly' }] })); continue;", '', 'wrong'],
    ["process.stdout.write('x'.repeat(400_000)); continue;", '', 'too_long'],
    ['await new Promise(() => setInterval(() => {}, 1_000));', ', timeout_ms: 300', 'timeout'],
    ["console.log(JSON.stringify({ id: 'other' })); continue;", ', timeout_ms: 300', 'timeout'],
  ];
  for (const [how, strategy, reason] of cases) {
    const { folder, file } = townOf(how, `, retries: 0${strategy}`);
    const { json } = await simJson(file, '--record', '--out', join(folder, 'run'));
    const { questions, failures } = json.deciders!;
    expect([reason, failures]).toEqual([reason, { [reason]: questions }]);
    expect((await simJson(file, '--cassette', join(folder, 'run'))).json.digest).toBe(json.digest);
  }
});

test('programs: reports user errors in one line, with the exit code', async () => {
  const { folder, file } = townOf();
  const run = join(folder, 'run');
  const without = await folkmoot(['sim', file]);
  expectOneLine(without, 1);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('--record')]);
  const kept = await folkmoot(['sim', file, '--record', '--out', run, '--most-calls', '2']);
  expect([kept.code, kept.stderr]).toEqual([
    16,
    expect.stringContaining('--most-calls after 2 calls'),
  ]);
  const beyond = await folkmoot(['sim', file, '--cassette', run]);
  expect([beyond.code, beyond.stderr]).toEqual([13, expect.stringMatching(/after record \d+/)]);
  await simJson(file, '--record', '--out', run);
  const other = await folkmoot(['sim', file, '--cassette', run, '--seed', '2']);
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('with seed 1, not')]);
  const stray = await folkmoot(['sim', file, '--cassette', run, '--most-calls', '2']);
  expect([stray.code, stray.stderr]).toEqual([2, expect.stringContaining('requires --record')]);
  const twice = await folkmoot(['sim', file, '--record', '--check-determinism']);
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('be used with --record')]);
  const nothing = `${folder}/nothing.yaml`;
  const text = readFileSync(file, 'utf8');
  writeFileSync(nothing, text.replace(JSON.stringify(process.execPath), '"no-such-program"'));
  const missing = await folkmoot(['sim', nothing, '--record', '--out', join(folder, 'none')]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('no-such-program')]);
  const live = await folkmoot(['serve', '--scenario', file, '--data', join(folder, 'data')]);
  expect(live.stderr + live.stdout).toContain('virtual time');
  expect(live.code).not.toBe(0);
});

test('programs: passes only the requested environment variables', () =>
  expectOneKey(townOf(notesKeys, ', env: [MIND_KEY]')));

/** Creates a town with a sweep over two policies. */
function sweptTown(replicates: number) {
  const town = townOf('', '', 6);
  const alone = readFileSync(town.file, 'utf8');
  const factor = '{ path: consensus.policy, values: [bft, veto] }';
  writeFileSync(town.file, `${alone}sweep: { factors: [${factor}], replicates: ${replicates} }\n`);
  return { ...town, alone };
}

const expectDone = ({ code, stderr }: Ended) =>
  expect([code, stderr]).toEqual([0, expect.anything()]);

test('programs: a sweep writes a cassette per run, and is repeated from them', async () => {
  const { folder, file, asked } = sweptTown(2);
  const tablesOf = (out: string) =>
    ['runs.csv', 'summary.csv'].map((name) => readFileSync(join(out, name), 'utf8'));
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  const without = await folkmoot(['sweep', file, '--out', b, '--json']);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('--record')]);
  expectDone(await folkmoot(['sweep', file, '--record', '--out', a]));
  const before = asked().length;
  writeFileSync(join(folder, 'mind.mjs'), 'process.exit(1)');
  expectDone(await folkmoot(['sweep', file, '--cassette', a, '--out', b, '--resume']));
  expect(tablesOf(b)).toEqual(tablesOf(a));
  expect(asked().length).toBe(before);
});

test('programs: a kept run of a sweep has its cassette', async () => {
  const { folder, file, asked, alone } = sweptTown(1);
  const out = join(folder, 'kept');
  expectDone(await folkmoot(['sweep', file, '--record', '--keep', '--out', out]));
  const before = asked().length;
  writeFileSync(file, alone);
  writeFileSync(join(folder, 'mind.mjs'), 'process.exit(1)');
  const names = readdirSync(join(out, 'logs'));
  expect(names).toHaveLength(2);
  for (const name of names) {
    const [own, common] = [
      join(out, 'logs', name, 'decisions.cassette'),
      join(out, 'cassettes', `${name}.cassette`),
    ].map((path) => readFileSync(path, 'utf8'));
    expect(own).toBe(common);
  }
  const first = join(out, 'logs', names[0]!);
  const { seed, scenario } = JSON.parse(readFileSync(join(first, 'summary.json'), 'utf8'));
  const policy = ['--seed', seed, '--policy', scenario.consensus.policy];
  expectDone(await folkmoot(['sim', file, '--cassette', first, '--json', ...policy]));
  expect(asked().length).toBe(before);
});

test('programs: a sweep with spent call budgets resumes to the same bytes', async () => {
  const { folder, file, asked } = sweptTown(2);
  const filesOf = (out: string) =>
    ['runs', 'cassettes'].flatMap((part) =>
      readdirSync(join(out, part)).map((name) => readFileSync(join(out, part, name), 'utf8')),
    );
  const [whole, out] = [join(folder, 'whole'), join(folder, 'parts')];
  const args = ['sweep', file, '--record', '--on-error', 'continue', '--json'];
  expectDone(await folkmoot([...args, '--out', whole]));
  const questions = asked().length;

  writeFileSync(join(folder, 'asked.txt'), '');
  const budget = ['--out', out, '--most-calls', '7'];
  let ended = await folkmoot([...args, ...budget]);
  for (let tries = 1; ended.code === 16; tries += 1) {
    const { completed, finished, failed } = JSON.parse(ended.stdout);
    expect([finished, failed.kind]).toEqual([false, 'unanswered']);
    expect(readdirSync(join(out, 'runs')).length).toBe(completed);
    // Each attempt makes at least one call per run.
    expect(tries).toBeLessThanOrEqual(questions);
    ended = await folkmoot([...args, ...budget, '--resume']);
  }
  expectDone(ended);
  expect(JSON.parse(ended.stdout)).toMatchObject({ completed: 4, finished: true, failed: null });
  expect(asked().length).toBe(questions);
  expect(filesOf(out)).toEqual(filesOf(whole));
});
