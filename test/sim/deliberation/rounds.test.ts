/** Rounds of a deliberation: barrier, visibility, early ends, roles, and the log. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, simulate } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { bodyOf, logLines, replayHere } from '../../support/runs.js';
import type { Raw } from '../fixture.js';
import { deliberate, group, scenarioOf } from './fixture.js';

const five = group('five', 5, { model: 'independent', p: 0.6 });

test('rounds: an agent sees every statement of the round before, and none of its own', async () => {
  const { statements, samples } = await deliberate([five], { rounds: 3 });
  const complete = statements.filter(({ block }) => Number(block) < samples.length);
  expect(complete.length).toBe(samples.length * 15);
  for (const { agent, round, seen } of complete) {
    const others = ['0', '1', '2', '3', '4'].filter((one) => one !== agent);
    expect(seen.split(' ').filter(Boolean)).toEqual(round === '0' ? [] : others);
  }
  const times = new Set(complete.filter(({ block }) => block === '0').map(({ at_ms }) => at_ms));
  expect(times.size).toBe(3);
});

test('rounds: asynchronous agents speak at different times', async () => {
  const { statements } = await deliberate([five], { rounds: 3, timing: 'asynchronous' });
  const times = statements.filter(({ block }) => block === '0').map(({ at_ms }) => at_ms);
  expect(new Set(times).size).toBeGreaterThan(10);
});

test.each([
  ['nearest', { sees: 'nearest', nearest: 2 }, '1 4'],
  ['hub', { sees: 'hub' }, '1 2 3 4'],
] as const)('rounds: %s limits whose statements an agent sees', async (_, sees, first) => {
  const { statements } = await deliberate([five], { rounds: 2, ...sees });
  const seen = (agent: string) =>
    statements.find((one) => one.round === '1' && one.agent === agent)!.seen;
  expect(seen('0')).toBe(first);
  expect(seen('3')).toBe('hub' === sees.sees ? '0' : '2 4');
});

test('rounds: a majority that is fixed ends turns early', async () => {
  const sure = group('sure', 5, { model: 'independent', p: 1 });
  const spec = { rounds: 1, turns: 'one', until: 'majority' };
  const { samples, statements } = await deliberate([sure], spec);
  expect(samples.map((one) => one.statements)).toEqual(['3', '3', '3', '3']);
  expect(new Set(statements.map(({ agent }) => agent))).toEqual(new Set(['0', '1', '2']));
});

const game = { value: { kind: 'number', most: 50, whole: true }, rounds: 10, until: 'share' };
const smallest = (count: number) => group('honest', count, { model: 'smallest' });
const silent = (count: number) => group('silent', count, {}, { role: { kind: 'silent' } });

test.each([
  [4, 0, 'valid', '2', 'reached'],
  [3, 1, 'valid', '2', 'reached'],
  [2, 2, 'timeout', '10', 'impossible'],
])('game: %d honest and %d silent agents end as %s', async (honest, others, ...expected) => {
  const { samples } = await deliberate([smallest(honest), silent(others)], game);
  for (const one of samples) expect([one.outcome, one.rounds, one.referee]).toEqual(expected);
});

test('roles: a liar moves averages to its goal; a filter keeps them in the hull', async () => {
  const spec = { value: { kind: 'number' }, rounds: 60, tolerance: 0.01 };
  const liars = group('liars', 2, {}, { role: { kind: 'liar', goal: 100 } });
  const run = async (model: string) => {
    const town = group('town', 5, { model, trim: 2 });
    const { samples, statements } = await deliberate([town, liars], spec);
    const lasts = statements.filter(({ round, role }) => round === '59' && role === 'honest');
    return { samples, lasts: lasts.map(({ value }) => Number(value)) };
  };
  const plain = await run('averaging');
  expect(plain.samples.every(({ in_hull }) => in_hull === '0')).toBe(true);
  for (const value of plain.lasts) expect(value).toBeCloseTo(100, 2);
  expect((await run('msr')).samples.every(({ in_hull }) => in_hull === '1')).toBe(true);
});

test('roles: an equivocator tells half of the agents a different value', async () => {
  const role = { kind: 'equivocating', goal: 'reject' };
  const two = group('two', 1, { model: 'independent', p: 1 }, { role });
  const { samples, statements } = await deliberate([five, two], { rounds: 2 });
  expect(samples.every(({ contradictions }) => contradictions === '2')).toBe(true);
  const own = statements.filter(({ agent, round, block }) => `${agent}${round}${block}` === '500');
  expect(own.map(({ value }) => value)).toEqual(['"approve"', '"reject"']);
});

test('roles: colluding agents state one value, drawn for each block', async () => {
  const value = { kind: 'number', most: 1_000_000, whole: true };
  const gang = group('gang', 3, {}, { role: { kind: 'colluding' } });
  const { statements } = await deliberate([gang], { rounds: 1, value });
  const byBlock = new Map<string, Set<string>>();
  for (const { block, value: stated } of statements) {
    byBlock.set(block, (byBlock.get(block) ?? new Set()).add(stated));
  }
  expect([...byBlock.values()].map(({ size }) => size)).toEqual(Array(byBlock.size).fill(1));
  expect(new Set([...byBlock.values()].flatMap((values) => [...values])).size).toBe(byBlock.size);
});

test('roles: a trigger changes injected agents, which repeat it', async () => {
  const trigger = 'SYSTEM:';
  const spec = { rounds: 3, sees: 'nearest', nearest: 2 };
  const weak = group(
    'weak',
    5,
    { model: 'independent', p: 1 },
    { role: { kind: 'injected', trigger } },
  );
  const says = 'SYSTEM: reject';
  const liar = group('liar', 1, {}, { role: { kind: 'liar', goal: 'reject', says } });
  const { samples, statements } = await deliberate([weak, liar], spec);
  expect(samples[0]!.infected).toBe('0.8');
  const third = statements.filter(({ block, round }) => block === '0' && round === '2');
  expect(third.filter(({ reason }) => reason === says).length).toBe(5);
});

test('log: statements are remarks, replays match, and a run without a log is equal', async () => {
  const spec = { rounds: 3, until: 'unanimity' };
  const { result, folder, statements } = await deliberate([five], spec);
  expect((await replayHere(join(folder, 'network'), false)).match).toBe(true);
  const said = (await logLines(folder))
    .filter(({ kind }) => kind === 'discuss')
    .map(({ body }) => bodyOf<{ message: string }>(body).message)
    .map((message) => JSON.parse(message) as { round: number; value: string });
  expect(said.length).toBe(statements.length);
  expect(said.filter(({ round }) => round === 0).length).toBeGreaterThanOrEqual(20);
  const again = await simulate(scenarioOf([five], spec), { log: 'none' });
  expect([again.trace_digest, again.reported]).toEqual([result.trace_digest, result.reported]);
});

test.each([
  ['deliberation.value.options', { value: { kind: 'option' } }, five],
  [
    'agents.0.strategy.model',
    { value: { kind: 'number' } },
    group('a', 2, { model: 'conformist' }),
  ],
  ['agents.0.strategy.model', {}, group('a', 2, { model: 'averaging' })],
  ['agents.0.role.goal', {}, group('a', 2, {}, { role: { kind: 'liar', goal: 7 } })],
  ['agents.0.role.trigger', {}, group('a', 2, {}, { role: { kind: 'injected' } })],
  ['consensus.voting_period_ms', { rounds: 1_000 }, five],
  ['deliberation.rounds', { rounds: 0 }, five],
  ['deliberation.truth', { truth: 'maybe' }, five],
  ['deliberation.tolerance', { tolerance: 1 }, five],
  ['deliberation.questions.0.truth', { questions: [{ text: 'Why?', truth: 7 }] }, five],
  ['agents.0.strategy.value', {}, group('a', 2, { model: 'stubborn', value: 7 })],
] as const)('scenario: refuses %s', (path, deliberation, agents) => {
  const consensus = path.startsWith('consensus') ? { consensus: { voting_period_ms: 5_000 } } : {};
  const make = () => scenarioOf([agents], deliberation as Raw, consensus);
  expect(make).toThrow(expect.objectContaining({ message: expect.stringContaining(path) }));
});

test('scenario: mock models, roles and prompts need a deliberation', () => {
  const plain = { title: 'no deliberation', length: { blocks: 1 } };
  const town = { group: 'town', count: 2, producers: 1 };
  for (const [path, raw] of [
    ['agents.0.strategy.kind', { agents: [{ ...town, strategy: { kind: 'mock' } }] }],
    ['agents.0.role', { agents: [{ ...town, role: { kind: 'liar' } }] }],
    ['prompts', { agents: [town], prompts: {} }],
  ] as const) {
    const make = () => completeScenario({ ...plain, ...raw });
    expect(make).toThrow(expect.objectContaining({ message: expect.stringContaining(path) }));
  }
});

test('statements: the longest reason and value fit; forged remarks are ignored', async () => {
  const says = '"'.repeat(800);
  const goal = '"'.repeat(400);
  const liar = group('liar', 1, {}, { role: { kind: 'liar', goal, says } });
  const spec = { rounds: 2, value: { kind: 'text' } };
  const { samples, statements } = await deliberate([five, liar], spec);
  expect(statements.some(({ value }) => JSON.parse(value) === goal)).toBe(true);
  expect(samples[0]!.statements).toBe('12');
  const said = ['{"round":0,"value":"no"}', '{"round":-1,"value":7}', '{"round":0}', '{', '{"a":'];
  const script = `export function hear() {
    return [${said.map((message) => JSON.stringify({ do: 'say', stance: 'reject', message }))}];
  }`;
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'forger.js'), script);
  const forger = { group: 'forger', count: 1, strategy: { kind: 'script', module: 'forger.js' } };
  const raw = { ...scenarioOf([five, group('x', 1, {})], spec), population: 6 };
  const scenario = completeScenario({ ...raw, agents: [raw.agents[0], forger] }, folder);
  const { reported, verdict } = await simulate(scenario, { folder, log: 'none' });
  expect([verdict, reported.run.statements]).toEqual(['pass', 10]);
});

test('questions: each block asks the next one, with its own options', async () => {
  const questions = [
    { text: 'First?', options: ['a', 'b'], truth: 'a' },
    { text: 'Second?', options: ['b', 'c'], truth: 'b' },
  ];
  const { samples, result } = await deliberate([group('sure', 3, { model: 'majority', p: 1 })], {
    ...{ rounds: 2, questions, value: { kind: 'option' }, until: 'unanimity' },
  });
  expect(samples.map(({ question, value }) => [question, value])).toEqual([
    ['First?', '"a"'],
    ['Second?', '"b"'],
    ['First?', '"a"'],
    ['Second?', '"b"'],
  ]);
  expect(result.reported.run).toMatchObject({ outcome_valid: 1, accuracy_last: 1 });
});

test('questions: a matter of opinion has no right value, but majorities', async () => {
  const value = { kind: 'option', options: ['yes', 'no'] };
  const { samples } = await deliberate([five], { rounds: 2, truth: null, value });
  expect(samples.length).toBeGreaterThan(0);
  for (const one of samples) {
    expect([one.truth, one.right_first, one.majority_first]).toEqual(['', '', '']);
    expect(['"yes"', '"no"']).toContain(one.majority_value_first);
    expect(['"yes"', '"no"']).toContain(one.majority_value_last);
  }
});
