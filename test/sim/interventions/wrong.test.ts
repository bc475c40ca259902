/** Invalid interventions are rejected before the run, with file and line. */
import { loadScenario, ScenarioError } from 'folkmoot/sim';
import { fileOf, keyOf } from '../scenario/wrong.js';

const town =
  'title: t\nlength: { blocks: 9, virtual_ms: 60000 }\nagents:\n  - group: a\n    count: 4\n' +
  '    personality: [lawful]\n  - group: makers\n    count: 2\n    capabilities: [producer]\n' +
  'interventions:\n';
const LINE = 11;

const withAll = (list: string[]) => `${town}${list.map((one) => `  - { ${one} }\n`).join('')}`;
const vote = 'kind: vote, agent: 1, block: 2, decision: approve';

/** Interventions, and the code and path of the problem in the last one. */
const wrong: [list: string[], key: string][] = [
  [['at_ms: 1'], 'MISSING 0.kind'],
  [['kind: bribe, at_ms: 1'], 'INVALID_VALUE 0.kind'],
  [['kind: drop, at_ms: 1, blok: 3'], 'UNKNOWN_KEY 0.blok'],
  [['kind: drop, block: 1'], 'EXPECTED_ONE 0'],
  [[`${vote}, at_ms: 1, at_entry: 2`], 'EXPECTED_ONE 0'],
  [[`${vote}, at_ms: 60000`], 'INVALID_VALUE 0.at_ms'],
  [[`${vote}, at_height: 9`], 'INVALID_VALUE 0.at_height'],
  [[`${vote}, at_condition: { measure: votes }`], 'EXPECTED_ONE 0.at_condition'],
  [['kind: vote, agent: lawful-9, block: 2, decision: reject, at_ms: 1'], 'INVALID_VALUE 0.agent'],
  [['kind: silence, whom: [{ agent: 6 }], at_ms: 1'], 'INVALID_VALUE 0.whom.0.agent'],
  [['kind: vote, agent: 4, block: 2, decision: reject, at_ms: 1'], 'NOT_VALIDATOR 0.agent'],
  [['kind: drop, block: 99, at_ms: 1'], 'INVALID_VALUE 0.block'],
  [['kind: drop, block: abc, at_ms: 1'], 'INVALID_VALUE 0.block'],
  [['kind: mute, at_ms: 1'], 'EXPECTED_ONE 0'],
  [['kind: mute, meme: cat, at_ms: 1'], 'INVALID_VALUE 0.meme'],
  [['kind: remove, whom: [{ group: b }], at_ms: 1'], 'INVALID_VALUE 0.whom.0.group'],
  [['kind: remove, whom: [{ group: a, share: 0.1 }], at_ms: 1'], 'NO_AGENTS 0.whom'],
  [
    ['kind: strategy, whom: [{}], strategy: { kind: clever }, at_ms: 1'],
    'INVALID_VALUE 0.strategy.kind',
  ],
  [['kind: traits, whom: [{}], traits: { care: 2 }, at_ms: 1'], 'INVALID_VALUE 0.traits.care'],
  [['kind: set, path: consensus.policy, value: veto, at_ms: 1'], 'INVALID_VALUE 0.path'],
  [['kind: set, path: links.loss, value: 1.5, at_ms: 1'], 'INVALID_VALUE 0.value'],
  [['kind: link, between: [1, 1], loss: 1, at_ms: 1'], 'INVALID_VALUE 0.between'],
  [['kind: link, between: [1, 2], at_ms: 1'], 'NO_CHANGE 0'],
  [[`${vote}, at_ms: 5`, `${vote.replace('approve', 'reject')}, at_ms: 5`], 'CONTRADICTION 1'],
  [[`${vote}, at_entry: 5`, 'kind: silence, whom: [{ group: a }], at_entry: 5'], 'CONTRADICTION 1'],
  [
    [
      'kind: set, path: links.loss, value: 0, at_ms: 1',
      'kind: set, path: links.loss, value: 1, at_ms: 1',
    ],
    'CONTRADICTION 1',
  ],
];

test.each(wrong)('interventions: rejects %j', (list, expected) => {
  const file = fileOf(withAll(list));
  const line = LINE + list.length - 1;
  let found: unknown = null;
  try {
    loadScenario(file);
  } catch (error) {
    found = error;
  }
  expect(found).toBeInstanceOf(ScenarioError);
  const error = found as ScenarioError;
  expect(keyOf(error)).toBe(expected.replace(' ', ' interventions.'));
  expect(error.message).toContain(`${file}:${line}: `);
});

test('interventions: accepts repeated settings, and different ones at two instants', () => {
  const later = `${vote.replace('approve', 'reject')}, at_ms: 6`;
  for (const list of [
    [`${vote}, at_ms: 5`, later],
    [`${vote}, at_ms: 5`, `${vote}, at_ms: 5`],
  ]) {
    expect(loadScenario(fileOf(withAll(list))).scenario.interventions.length).toBe(2);
  }
});
