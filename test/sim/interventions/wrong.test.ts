/** Invalid interventions are rejected before the run, with file and line. */
import { loadScenario, ScenarioError } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { fileOf, keyOf } from '../scenario/wrong.js';

const town =
  'title: t\nlength: { blocks: 9, virtual_ms: 60000 }\nagents:\n  - group: a\n    count: 4\n' +
  '    personality: [lawful]\n  - group: makers\n    count: 2\n    capabilities: [producer]\n' +
  'interventions:\n';
const LINE = 11;

const one = (fields: string) => `${town}  - { ${fields} }\n`;
const two = (first: string, second: string) => `${one(first)}  - { ${second} }\n`;
const vote = 'kind: vote, agent: 1, block: 2, decision: approve';

const wrong: [what: string, text: string, line: number, key: string][] = [
  ['no kind', one('at_ms: 1'), LINE, 'MISSING interventions.0.kind'],
  ['an unknown kind', one('kind: bribe, at_ms: 1'), LINE, 'INVALID_VALUE interventions.0.kind'],
  [
    'an unknown member',
    one('kind: drop, at_ms: 1, blok: 3'),
    LINE,
    'UNKNOWN_KEY interventions.0.blok',
  ],
  ['no instant', one('kind: drop, block: 1'), LINE, 'EXPECTED_ONE interventions.0'],
  ['two instants', one(`${vote}, at_ms: 1, at_entry: 2`), LINE, 'EXPECTED_ONE interventions.0'],
  [
    'an instant after the end',
    one(`${vote}, at_ms: 60000`),
    LINE,
    'INVALID_VALUE interventions.0.at_ms',
  ],
  [
    'a height after the end',
    one(`${vote}, at_height: 9`),
    LINE,
    'INVALID_VALUE interventions.0.at_height',
  ],
  [
    'a condition without bound',
    one(`${vote}, at_condition: { measure: votes }`),
    LINE,
    'EXPECTED_ONE interventions.0.at_condition',
  ],
  [
    'an unknown agent',
    one('kind: vote, agent: lawful-9, block: 2, decision: reject, at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.agent',
  ],
  [
    'an unknown ordinal',
    one('kind: silence, whom: [{ agent: 6 }], at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.whom.0.agent',
  ],
  [
    'a vote of a producer',
    one('kind: vote, agent: 4, block: 2, decision: reject, at_ms: 1'),
    LINE,
    'NOT_VALIDATOR interventions.0.agent',
  ],
  [
    'an unknown block',
    one('kind: drop, block: 99, at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.block',
  ],
  [
    'an invalid hash',
    one('kind: drop, block: abc, at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.block',
  ],
  ['a missing meme', one('kind: mute, at_ms: 1'), LINE, 'EXPECTED_ONE interventions.0'],
  [
    'an unknown meme',
    one('kind: mute, meme: cat, at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.meme',
  ],
  [
    'an unknown group',
    one('kind: remove, whom: [{ group: b }], at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.whom.0.group',
  ],
  [
    'no agents',
    one('kind: remove, whom: [{ group: a, share: 0.1 }], at_ms: 1'),
    LINE,
    'NO_AGENTS interventions.0.whom',
  ],
  [
    'an unknown strategy',
    one('kind: strategy, whom: [{}], strategy: { kind: clever }, at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.strategy.kind',
  ],
  [
    'an invalid trait',
    one('kind: traits, whom: [{}], traits: { care: 2 }, at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.traits.care',
  ],
  [
    'a path that cannot change',
    one('kind: set, path: consensus.policy, value: veto, at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.path',
  ],
  [
    'an invalid value',
    one('kind: set, path: links.loss, value: 1.5, at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.value',
  ],
  [
    'a link to itself',
    one('kind: link, between: [1, 1], loss: 1, at_ms: 1'),
    LINE,
    'INVALID_VALUE interventions.0.between',
  ],
  [
    'a link without changes',
    one('kind: link, between: [1, 2], at_ms: 1'),
    LINE,
    'NO_CHANGE interventions.0',
  ],
  [
    'contradictory votes',
    two(`${vote}, at_ms: 5`, `${vote.replace('approve', 'reject')}, at_ms: 5`),
    LINE + 1,
    'CONTRADICTION interventions.1',
  ],
  [
    'a vote of a silenced agent',
    two(`${vote}, at_entry: 5`, 'kind: silence, whom: [{ group: a }], at_entry: 5'),
    LINE + 1,
    'CONTRADICTION interventions.1',
  ],
  [
    'contradictory values',
    two(
      'kind: set, path: links.loss, value: 0, at_ms: 1',
      'kind: set, path: links.loss, value: 1, at_ms: 1',
    ),
    LINE + 1,
    'CONTRADICTION interventions.1',
  ],
];

test.each(wrong)('interventions: rejects %s', (_, text, line, expected) => {
  const file = fileOf(text);
  let found: unknown = null;
  try {
    loadScenario(file);
  } catch (error) {
    found = error;
  }
  expect(found).toBeInstanceOf(ScenarioError);
  const error = found as ScenarioError;
  expect(keyOf(error)).toBe(expected);
  expect(error.message).toContain(`${file}:${line}: `);
});

test('interventions: accepts repeated settings, and different ones at two instants', () => {
  const later = `${vote.replace('approve', 'reject')}, at_ms: 6`;
  for (const text of [
    two(`${vote}, at_ms: 5`, later),
    two(`${vote}, at_ms: 5`, `${vote}, at_ms: 5`),
  ]) {
    expect(loadScenario(fileOf(text)).scenario.interventions.length).toBe(2);
  }
});
