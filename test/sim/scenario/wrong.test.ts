/** Invalid scenario files are reported in one line, with place, code and path. */
import { completeScenario, loadScenario, withValues } from 'folkmoot/sim';
import { errorOf, fileOf, keyOf, town, wrong } from './wrong.js';

test.each(wrong)('scenario: rejects %s', (_, text, line, expected) => {
  const file = fileOf(text);
  const error = errorOf(() => loadScenario(file));
  expect(keyOf(error)).toBe(expected);
  // A syntax error also has a column.
  const place = expected === 'NOT_YAML' ? `${file}:${line}:` : `${file}:${line}: `;
  expect(error.message).toContain(line === 0 ? file : place);
  if (expected === 'NOT_YAML') expect(error.message.slice(place.length)).toMatch(/^\d+: /);
  expect(error.message).not.toContain('\n');
});

test('scenario: reports the line and the column of a syntax error', () => {
  const error = errorOf(() => loadScenario(fileOf('title: t\nagents:\n  - { group: ]')));
  expect(keyOf(error)).toBe('NOT_YAML');
  expect(error.message).toMatch(/:3:14: /);
});

test('scenario: reports lines of JSON files', () => {
  const text = '{"title": "t",\n"agents": [{"group": "a", "count": 4,\n"producers": -1}]}';
  const error = errorOf(() => loadScenario(fileOf(text, 'town.json')));
  expect(keyOf(error)).toBe('INVALID_VALUE agents.0.producers');
  expect(error.message).toMatch(/town\.json:3: agents\.0\.producers is -1;/);
});

test('scenario: reports all problems of a file, in the order of its lines', () => {
  const text = [
    ...['titel: t', 'seed: 1.5', 'blocks: 10', 'agents:', '  - group: a', '    share: 30%'],
    ...['    strategy: lazy', 'links: { los: 0.1, loss: 5 }', 'faults:', '  - { kind: crash }'],
  ].join('\n');
  const file = fileOf(text);
  const error = errorOf(() => loadScenario(file));
  const found = error.message.split('\n').map((line) => {
    const [, at, path, what] = /^(.*:\d+): ([\w.]+) (is missing|is an unknown key|is)/.exec(line)!;
    return [at!.replace(file, ''), path, what];
  });
  expect(found).toEqual([
    [':1', 'titel', 'is an unknown key'],
    [':1', 'title', 'is missing'],
    [':2', 'seed', 'is'],
    [':3', 'blocks', 'is an unknown key'],
    [':6', 'agents.0.share', 'is'],
    [':7', 'agents.0.strategy', 'is'],
    [':8', 'links.los', 'is an unknown key'],
    [':8', 'links.loss', 'is'],
    [':10', 'faults.0.start_ms', 'is missing'],
    [':10', 'faults.0.length_ms', 'is missing'],
    [':10', 'faults.0.whom', 'is missing'],
  ]);
  expect(error.message).toContain('did you mean length.blocks?');
  expect(keyOf(error)).toBe('UNKNOWN_KEY titel');
});

test('scenario: names the option or the line of each problem', () => {
  const file = fileOf(`${town}links: { loss: 5 }\n`);
  const error = errorOf(() => loadScenario(file, [['consensus.policy', 'none', '--policy']]));
  const places = error.message.split('\n').map((line) => line.replace(file, '').split(': ')[0]);
  expect(new Set(places)).toEqual(new Set([':6', '--policy']));
});

test('scenario: a seed may be an integer, which stands for its text', () => {
  const [text, number] = ['"-7"', '-7'].map((seed) =>
    loadScenario(fileOf(`seed: ${seed}\n${town}`)),
  );
  expect(number!.scenario).toEqual(text!.scenario);
  expect(number!.scenario.seed).toBe('-7');
  const error = errorOf(() => loadScenario(fileOf(`seed: ${2 ** 53}\n${town}`)));
  expect(keyOf(error)).toBe('INVALID_VALUE seed');
});

test.each([
  ['consensus.polcy', 'bft', 'UNKNOWN_KEY consensus.polcy'],
  ['agents.missing.count', 3, 'UNKNOWN_ITEM'],
  ['agents.0.group.deep', 3, 'NO_MEMBERS'],
  ['__proto__.polluted', 3, 'NO_MEMBERS'],
  ['links.loss', 'much', 'INVALID_VALUE links.loss'],
])('scenario: rejects a changed value at %s', (path, value, expected) => {
  const raw = { title: 't', agents: [{ group: 'a', count: 4, producers: 1 }] };
  const error = errorOf(() => completeScenario(withValues(raw, [[path, value]])));
  expect(keyOf(error)).toBe(expected);
  if (error.problem === null) expect(error.message).toContain(path);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('scenario: names the option of an invalid change, not a line', () => {
  const file = fileOf(`${town}links: { loss: 0.5 }\n`);
  const error = errorOf(() => loadScenario(file, [['links.loss', 7]]));
  expect(keyOf(error)).toBe('INVALID_VALUE links.loss');
  expect(error.message).toMatch(/^--set links\.loss: /);
});
