/** Scenario files that cannot be meant: each is told in one line, with what would be right. */
import { completeScenario, loadScenario, ScenarioError, withValues } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { fileOf, town, wrong } from './wrong.js';

function errorOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ScenarioError);
    return (error as Error).message;
  }
  throw new Error('it was taken');
}

test.each(wrong)('scenario: %s', (_, text, line, expected) => {
  const file = fileOf(text);
  const message = errorOf(() => loadScenario(file));
  const place = line === 0 ? file : `${file}:${line}: `;
  expect(message.startsWith(place), message).toBe(true);
  expect(message.slice(place.length).replace(/^: /, '')).toMatch(expected);
  expect(message).not.toContain('\n');
});

test('scenario: JSON is told by its lines too', () => {
  const text = '{"title": "t",\n"agents": [{"group": "a", "count": 4,\n"producers": -1}]}';
  const message = errorOf(() => loadScenario(fileOf(text, 'town.json')));
  expect(message).toMatch(/town\.json:3: agents\.0\.producers is -1; expected a whole number/);
});

test.each([
  ['consensus.polcy', 'bft', /^consensus.polcy is not known here; .*policy/],
  ['agents.nobody.count', 3, /agents.nobody.count does not exist.*nobody is none of a/],
  ['agents.0.group.deep', 3, /does not exist in the scenario: nothing is inside deep/],
  ['__proto__.polluted', 3, /does not exist in the scenario/],
  ['links.loss', 'much', /^links.loss is "much"; expected a number from 0 to 1/],
])('scenario: a changed value at %s', (path, value, expected) => {
  const raw = { title: 't', agents: [{ group: 'a', count: 4, producers: 1 }] };
  const message = errorOf(() => completeScenario(withValues(raw, [[path, value]])));
  expect(message).toMatch(expected);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('scenario: a change is not blamed on a line of the file', () => {
  const file = fileOf(`${town}links: { loss: 0.5 }\n`);
  const message = errorOf(() => loadScenario(file, [['links.loss', 7]]));
  expect(message).toBe(`--set links.loss: links.loss is 7; expected a number from 0 to 1`);
});
