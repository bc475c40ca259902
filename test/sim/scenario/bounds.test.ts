/** Scenario files of up to 1 MiB are refused with their place, in time linear in their size. */
import { completeScenario, loadScenario, withValues } from 'folkmoot/sim';
import { errorOf, fileOf, town } from './wrong.js';

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const padded = (index: number) => `k${index}_${'x'.repeat(36)}`;
const script = (parameters: string) =>
  `${town}    strategy: { kind: script, module: m.js, parameters: { ${parameters} } }\n`;

type Growing = [what: string, line: number, error: string, text: (count: number) => string];

const row = (...of: Growing): Growing => of;

/** The repeated part, the error's line and start, and a file that repeats the part. */
const growing = [
  row('unknown keys', 6, `${padded(0)} is an unknown key`, (count) => {
    return town + times(count, (at) => `${padded(at)}: 1\n`).join('');
  }),
  row('unknown keys of a group in JSON', 1, `agents.0.${padded(0)} is an unknown key`, (count) => {
    const group = Object.fromEntries(times(count, (at) => [padded(at), 1]));
    return JSON.stringify({ title: 't', agents: [group] });
  }),
  row('groups', 2, 'agents has ', (count) => {
    const group = (at: number) => `  - { group: g${at}, count: 4, producers: 1 }\n`;
    return `title: t\nagents:\n${times(count, group).join('')}`;
  }),
  row('members of an unknown kind', 6, 'agents.0.strategy.kind is "x"', (count) => {
    return `${town}    strategy: { kind: x, ${times(count, padded).join(': 1, ')}: 1 }\n`;
  }),
  row('occasions', 6, 'agents.0.strategy.asks has ', (count) => {
    const asks = times(count, () => 'vote').join(', ');
    return `${town}    strategy: { kind: exec, command: [a], asks: [${asks}] }\n`;
  }),
  row('anchors and aliases', 6, 'k0 is an unknown key', (count) => {
    const anchors = times(count, (at) => `k${at}: &a${at} 1\n`);
    return town + [...anchors, ...times(count, (at) => `l${at}: *a${at}\n`)].join('');
  }),
  row('aliases of a list of empty lists', 1, 'the scenario has more than ', (count) => {
    const [empty, aliases] = [times(count, () => '[]'), times(count, () => '*a')];
    return script(`a: &a [${empty.join(',')}], b: [${aliases.join(',')}]`);
  }),
  row('merge keys', 8, 'k is an unknown key', (count) => {
    const [members, aliases] = [times(count, (at) => `k${at}: 1`), times(count, () => '*a')];
    const merged = `l: { <<: [${aliases.join(',')}] }\n`;
    return `%YAML 1.1\n---\n${town}k: &a { ${members.join(', ')} }\n${merged}`;
  }),
  row('members of an ordered map', 8, 'k is an unknown key', (count) => {
    const members = times(count, (at) => `{ k${at}: 1 }`).join(', ');
    return `%YAML 1.1\n---\n${town}k: !!omap [${members}]\n`;
  }),
  row('levels', 1, 'nested too deeply', (count) => `a: ${'['.repeat(10 * count)}`),
];

/** Least CPU time of several refusals, in microseconds, and the error. */
function refusal(file: string): { cpu: number; message: string } {
  let [cpu, message] = [Number.POSITIVE_INFINITY, ''];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const before = process.cpuUsage();
    message = errorOf(() => loadScenario(file)).message;
    const { user, system } = process.cpuUsage(before);
    cpu = Math.min(cpu, user + system);
  }
  return { cpu, message };
}

/**
 * 16 times the size takes at most 16 times as long if the time is linear, and 256 times if it is
 * quadratic. The bound is a factor of four from both, because CPU time varies on a busy machine.
 */
const MOST_RATIO = 64;

test.each(growing)('scenario bounds: refuses many %s in linear time', (...growth) => {
  const [, line, error, text] = growth;
  const large = fileOf(text(8_000));
  const [small, refused] = [refusal(fileOf(text(500))), refusal(large)];
  const { cpu, message } = refused;
  expect(message.startsWith(`${large}:${line}:`), message.slice(0, 300)).toBe(true);
  expect(message).toContain(`: ${error}`);
  expect(message.length).toBeLessThan(1_000);
  expect(cpu / small.cpu).toBeLessThan(MOST_RATIO);
}, 120_000);

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
const raw = { title: 't', agents: [{ group: 'a', count: 4, producers: 1 }] };

test('scenario bounds: refuses a value of --set when it is nested or has many members', () => {
  const strategy = (parameters: unknown) => ({ kind: 'script', module: 'm.js', parameters });
  const errorWith = (parameters: unknown) =>
    errorOf(() => {
      completeScenario(withValues(raw, [['agents.a.strategy', strategy(parameters)]]));
    }).message;
  expect(errorWith({ a: deep(70) })).toMatch(/^agents\.0\.strategy\.parameters\.a is nested/);
  expect(errorWith({ a: times(200_001, () => 1) })).toMatch(/^the scenario has more than/);
  const brackets = JSON.parse('['.repeat(60_000) + ']'.repeat(60_000)) as unknown;
  expect(errorWith({ a: brackets })).toMatch(/^agents\.0\.strategy\.parameters\.a is nested/);
});

test('scenario bounds: quotes little of a wrong value when it is large', () => {
  const change = { kind: 'set', at_ms: 1, path: 'links.loss', value: times(20_000, () => 'a') };
  const { message } = errorOf(() => completeScenario({ ...raw, interventions: [change] }));
  expect(message).toMatch(/^interventions\.0\.value is \["a","a"/);
  expect(message.length).toBeLessThan(300);
});

test('scenario bounds: accepts aliases, and parameters within the bounds', () => {
  const file = fileOf(
    'title: t\nagents:\n  - &one { group: a, count: 4, producers: 1, strategy: &s ' +
      '{ kind: lazy } }\n  - { group: b, count: 2, strategy: *s }\n',
  );
  const [first, second] = loadScenario(file).scenario.agents;
  expect(second!.strategy).toEqual(first!.strategy);
  const parameters = { a: deep(50), b: times(1_000, (at) => at) };
  const strategy = { kind: 'script', module: 'm.js', parameters };
  const [group] = completeScenario(withValues(raw, [['agents.a.strategy', strategy]])).agents;
  expect(group!.strategy).toMatchObject(strategy);
});
