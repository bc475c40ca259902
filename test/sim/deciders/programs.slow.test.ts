/** Deciders that are programs, by the command line: killed, gone on with, and replayed without. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectOneLine, folkmoot, simJson } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { killed } from './killed.js';

/** Answers line by line; `how` is what is done with a question before. */
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

function townOf(how = '', strategy = '', agents = 50) {
  const folder = temporaryFolder();
  const file = join(folder, 'town.yaml');
  writeFileSync(join(folder, 'mind.mjs'), program(how));
  const command = JSON.stringify([process.execPath, 'mind.mjs']);
  writeFileSync(
    file,
    `title: minds
agents:
  - group: minds
    count: ${agents}
    producers: 3
    strategy: { kind: exec, command: ${command}, backoff_ms: 1${strategy} }
length: { blocks: 3 }
signatures: none
`,
  );
  const asked = () => {
    const name = join(folder, 'asked.txt');
    return existsSync(name) ? readFileSync(name, 'utf8').trim().split('\n') : [];
  };
  return { folder, file, asked };
}

test('programs: fifty minds, killed twice and gone on with, then without the program', async () => {
  const { folder, file, asked } = townOf('', ', processes: 3');
  const whole = join(folder, 'whole');
  const { json } = await simJson(file, '--record', '--out', whole);
  const questions = json.deciders!.questions;
  expect([json.deciders!.asked, asked().length]).toEqual([questions, questions]);

  writeFileSync(join(folder, 'asked.txt'), '');
  const out = join(folder, 'killed');
  const args = [file, '--record', '--out', out];
  for (const share of [0.3, 0.6]) {
    await killed(args, () => asked().length > share * questions);
    expect(existsSync(join(out, 'summary.json'))).toBe(false);
  }
  const resumed = await simJson(...args);
  expect(resumed.json.digest).toBe(json.digest);
  expect(resumed.ended.stderr).toMatch(/decisions\.cassette has \d+ answers: they are not asked/);
  // At each kill, the calls under way are made twice: one a process. All of them count.
  const { calls, retries } = resumed.json.deciders!;
  expect(retries).toBe(calls - questions);
  expect(calls).toBeLessThanOrEqual(questions + 2 * 3);
  expect(asked().length).toBeLessThanOrEqual(calls);
  const cassette = (of: string) =>
    readFileSync(join(of, 'decisions.cassette'), 'utf8').replaceAll(/"calls":\d+|"sum":"\w+"/g, '');
  expect(cassette(out)).toBe(cassette(whole));

  writeFileSync(join(folder, 'mind.mjs'), 'process.exit(1)');
  const again = await simJson(file, '--cassette', out, '--out', join(folder, 'again'));
  expect([again.json.digest, again.json.deciders!.asked]).toEqual([json.digest, 0]);
  const checked = await folkmoot(['sim', file, '--cassette', out, '--check-determinism']);
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining(json.digest)]);
  const replayed = await folkmoot(['replay', out]);
  expect(replayed.code).toBe(0);
});

test('programs: each way to fail is a reason, and the run goes on', async () => {
  const cases: [how: string, strategy: string, reason: string][] = [
    ['process.exit(3);', '', 'ended'],
    ["console.log('thinking'); continue;", '', 'no_json'],
    ["console.log(JSON.stringify({ id, commands: [{ do: 'fly' }] })); continue;", '', 'wrong'],
    ["process.stdout.write('x'.repeat(400_000)); continue;", '', 'too_long'],
    ['await new Promise(() => setInterval(() => {}, 1_000));', ', timeout_ms: 300', 'timeout'],
    ["console.log(JSON.stringify({ id: 'other' })); continue;", ', timeout_ms: 300', 'timeout'],
  ];
  for (const [how, strategy, reason] of cases) {
    const { folder, file } = townOf(how, `, retries: 0${strategy}`, 4);
    const { json } = await simJson(file, '--record', '--out', join(folder, 'run'));
    const { questions, failures } = json.deciders!;
    expect([reason, failures]).toEqual([reason, { [reason]: questions }]);
    const again = await simJson(file, '--cassette', join(folder, 'run'));
    expect(again.json.digest).toBe(json.digest);
  }
});

test('programs: what a user can mend is said in a line, with its exit code', async () => {
  const { folder, file } = townOf('', '', 4);
  const run = join(folder, 'run');
  const without = await folkmoot(['sim', file]);
  expectOneLine(without, 1);
  expect([without.code, without.stderr]).toEqual([
    2,
    expect.stringContaining('--record asks them'),
  ]);
  const kept = await folkmoot(['sim', file, '--record', '--out', run, '--most-calls', '2']);
  expect([kept.code, kept.stderr]).toEqual([
    16,
    expect.stringContaining('budget is spent: 2 calls'),
  ]);
  const beyond = await folkmoot(['sim', file, '--cassette', run]);
  expect([beyond.code, beyond.stderr]).toEqual([13, expect.stringContaining('is cut off after')]);
  await simJson(file, '--record', '--out', run);
  const other = await folkmoot(['sim', file, '--cassette', run, '--seed', '2']);
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('with seed 1, not')]);
  const stray = await folkmoot(['sim', file, '--cassette', run, '--most-calls', '2']);
  expect([stray.code, stray.stderr]).toEqual([2, expect.stringContaining('is for --record')]);
  const twice = await folkmoot(['sim', file, '--record', '--check-determinism']);
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('is not for --record')]);
  const nothing = `${folder}/nothing.yaml`;
  const text = readFileSync(file, 'utf8');
  writeFileSync(nothing, text.replace(JSON.stringify(process.execPath), '"no-such-program"'));
  const missing = await folkmoot(['sim', nothing, '--record', '--out', join(folder, 'none')]);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringContaining('decider no-such-program cannot be started'),
  ]);
  const live = await folkmoot(['serve', '--scenario', file, '--data', join(folder, 'data')]);
  expect(live.stderr + live.stdout).toContain('time waits for them');
  expect(live.code).not.toBe(0);
});

test('programs: a program is given no more of the environment than it asks for', async () => {
  const how = `
  const named = ['MIND_KEY', 'OTHER_KEY'].map((name) => process.env[name] ?? 'none').join(' ');
  appendFileSync('env.txt', named + '\\n');`;
  const { folder, file } = townOf(how, ', env: [MIND_KEY]', 4);
  const args = ['sim', file, '--record', '--out', join(folder, 'run')];
  const unset = await folkmoot(args);
  expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('variable MIND_KEY')]);
  const env = { MIND_KEY: 'key-of-the-mind', OTHER_KEY: 'of nobody else' };
  const ended = await folkmoot(args, { env });
  expect([ended.code, ended.stderr]).toEqual([0, expect.anything()]);
  const seen = new Set(readFileSync(join(folder, 'env.txt'), 'utf8').trim().split('\n'));
  expect([...seen]).toEqual(['key-of-the-mind none']);
  for (const name of ['decisions.cassette', 'summary.json', 'report.html', 'scenario.json']) {
    expect(readFileSync(join(folder, 'run', name), 'utf8')).not.toContain('key-of-the-mind');
  }
});

test('programs: a sweep keeps a cassette for each run, and is made again from them', async () => {
  const { folder, file, asked } = townOf('', '', 6);
  const factor = '{ path: consensus.policy, values: [bft, veto] }';
  const text = `${readFileSync(file, 'utf8')}sweep: { factors: [${factor}], replicates: 2 }\n`;
  writeFileSync(file, text);
  const tablesOf = (out: string) =>
    ['runs.csv', 'summary.csv'].map((name) => readFileSync(join(out, name), 'utf8'));
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  const without = await folkmoot(['sweep', file, '--out', b, '--json']);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('--record asks')]);
  const recorded = await folkmoot(['sweep', file, '--record', '--out', a]);
  expect([recorded.code, recorded.stderr]).toEqual([0, expect.anything()]);
  const before = asked().length;
  writeFileSync(join(folder, 'mind.mjs'), 'process.exit(1)');
  const again = await folkmoot(['sweep', file, '--cassette', a, '--out', b, '--resume']);
  expect([again.code, again.stderr]).toEqual([0, expect.anything()]);
  expect(tablesOf(b)).toEqual(tablesOf(a));
  expect(asked().length).toBe(before);
});

test('programs: a sweep whose runs spend their calls is resumed to the same bytes', async () => {
  const { folder, file, asked } = townOf('', '', 6);
  const factor = '{ path: consensus.policy, values: [bft, veto] }';
  const text = `${readFileSync(file, 'utf8')}sweep: { factors: [${factor}], replicates: 2 }\n`;
  writeFileSync(file, text);
  const filesOf = (out: string) =>
    ['runs', 'cassettes'].flatMap((part) =>
      readdirSync(join(out, part)).map((name) => readFileSync(join(out, part, name), 'utf8')),
    );
  const [whole, out] = [join(folder, 'whole'), join(folder, 'parts')];
  const args = ['sweep', file, '--record', '--on-error', 'continue', '--json'];
  const recorded = await folkmoot([...args, '--out', whole]);
  expect([recorded.code, recorded.stderr]).toEqual([0, expect.anything()]);
  const questions = asked().length;

  writeFileSync(join(folder, 'asked.txt'), '');
  const budget = ['--out', out, '--most-calls', '7'];
  let ended = await folkmoot([...args, ...budget]);
  for (let tries = 1; ended.code === 16; tries += 1) {
    const { completed, finished, failed } = JSON.parse(ended.stdout);
    expect([finished, failed.kind]).toEqual([false, 'unanswered']);
    expect(readdirSync(join(out, 'runs')).length).toBe(completed);
    // Each run makes at least one call a time.
    expect(tries).toBeLessThanOrEqual(questions);
    ended = await folkmoot([...args, ...budget, '--resume']);
  }
  expect([ended.code, ended.stderr]).toEqual([0, expect.anything()]);
  expect(JSON.parse(ended.stdout)).toMatchObject({ completed: 4, finished: true, failed: null });
  expect(asked().length).toBe(questions);
  expect(filesOf(out)).toEqual(filesOf(whole));

  // An earlier version kept such a run as failed.
  const [kept] = readdirSync(join(out, 'runs'));
  const record = join(out, 'runs', kept!);
  const before = readFileSync(record, 'utf8');
  const error = { kind: 'unanswered', message: 'the call budget is spent' };
  const failed = { ...JSON.parse(before), verdict: 'error', error, measures: null };
  writeFileSync(record, `${JSON.stringify(failed, null, 2)}\n`);
  const resumed = await folkmoot([...args, '--out', out, '--resume']);
  expect([resumed.code, readFileSync(record, 'utf8')]).toEqual([0, before]);
  expect(asked().length).toBe(questions);
});
