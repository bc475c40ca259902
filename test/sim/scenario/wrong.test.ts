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
