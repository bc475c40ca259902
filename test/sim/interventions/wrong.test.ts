/** Interventions that cannot be are refused before anything runs, in one line with the file's. */
import { loadScenario, ScenarioError } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { fileOf } from '../scenario/wrong.js';

const town =
  'title: t\nlength: { blocks: 9, virtual_ms: 60000 }\nagents:\n  - group: a\n    count: 4\n' +
  '    personality: [lawful]\n  - group: makers\n    count: 2\n    capabilities: [producer]\n' +
  'interventions:\n';
const LINE = 11;

const one = (fields: string) => `${town}  - { ${fields} }\n`;
const two = (first: string, second: string) => `${one(first)}  - { ${second} }\n`;
const vote = 'kind: vote, agent: 1, block: 2, decision: approve';

const wrong: [what: string, text: string, line: number, message: RegExp][] = [
  ['no kind', one('at_ms: 1'), LINE, /^interventions.0.kind is missing; expected one of mute, sil/],
  ['a kind', one('kind: bribe, at_ms: 1'), LINE, /kind is "bribe"; .*mute, silence, remove/],
  ['a member', one('kind: drop, at_ms: 1, blok: 3'), LINE, /blok is not known here; .*block/],
  ['no moment', one('kind: drop, block: 1'), LINE, /does not say when; .*at_ms, at_entry, at_hei/],
  ['two moments', one(`${vote}, at_ms: 1, at_entry: 2`), LINE, /has at_ms and at_entry; expected/],
  ['after the end', one(`${vote}, at_ms: 60000`), LINE, /at_ms is 60000; .*virtual_ms, 60000/],
  ['a height after it', one(`${vote}, at_height: 9`), LINE, /at_height is 9; .*length.blocks, 9/],
  [
    'a condition without bound',
    one(`${vote}, at_condition: { measure: votes }`),
    LINE,
    /at_condition has no bound; expected one of reaches/,
  ],
  [
    'an agent',
    one('kind: vote, agent: lawful-9, block: 2, decision: reject, at_ms: 1'),
    LINE,
    /agent is lawful-9; expected an ordinal up to 5, or a name as lawful-0 or/,
  ],
  [
    'an ordinal',
    one('kind: silence, whom: [{ agent: 6 }], at_ms: 1'),
    LINE,
    /whom.0.agent is 6; expected an ordinal up to 5/,
  ],
  [
    'a vote of a producer',
    one('kind: vote, agent: 4, block: 2, decision: reject, at_ms: 1'),
    LINE,
    /agent is \w+-4, who is no validator: only validators vote/,
  ],
  ['a block', one('kind: drop, block: 99, at_ms: 1'), LINE, /block is 99; expected less than 17/],
  ['no hash', one('kind: drop, block: abc, at_ms: 1'), LINE, /block is "abc"; expected a whole n/],
  ['no meme', one('kind: mute, at_ms: 1'), LINE, /has neither; expected one of meme, whom/],
  ['a meme', one('kind: mute, meme: cat, at_ms: 1'), LINE, /meme is "cat"; .*\^meme_/],
  ['a group', one('kind: remove, whom: [{ group: b }], at_ms: 1'), LINE, /group is b; .*a, makers/],
  [
    'nobody',
    one('kind: remove, whom: [{ group: a, share: 0.1 }], at_ms: 1'),
    LINE,
    /whom names no one/,
  ],
  [
    'a strategy',
    one('kind: strategy, whom: [{}], strategy: { kind: clever }, at_ms: 1'),
    LINE,
    /strategy.kind is "clever"; expected one of personality/,
  ],
  [
    'a trait',
    one('kind: traits, whom: [{}], traits: { care: 2 }, at_ms: 1'),
    LINE,
    /traits.care is 2; expected a number from 0 to 1/,
  ],
  [
    'a policy',
    one('kind: set, path: consensus.policy, value: veto, at_ms: 1'),
    LINE,
    /path is consensus.policy; expected one of producers.schedule/,
  ],
  [
    'a value',
    one('kind: set, path: links.loss, value: 1.5, at_ms: 1'),
    LINE,
    /value is 1.5; expected a number from 0 to 1/,
  ],
  [
    'a link to itself',
    one('kind: link, between: [1, 1], loss: 1, at_ms: 1'),
    LINE,
    /one and the s/,
  ],
  ['a link as it is', one('kind: link, between: [1, 2], at_ms: 1'), LINE, /changes nothing; expec/],
  [
    'two votes',
    two(`${vote}, at_ms: 5`, `${vote.replace('approve', 'reject')}, at_ms: 5`),
    LINE + 1,
    /^interventions.1 contradicts interventions.0 at one instant: vote of agent 1 on block 2/,
  ],
  [
    'a voter who is silent',
    two(`${vote}, at_entry: 5`, 'kind: silence, whom: [{ group: a }], at_entry: 5'),
    LINE + 1,
    /contradicts interventions.0 at one instant: agent 1/,
  ],
  [
    'two values',
    two(
      'kind: set, path: links.loss, value: 0, at_ms: 1',
      'kind: set, path: links.loss, value: 1, at_ms: 1',
    ),
    LINE + 1,
    /contradicts interventions.0 at one instant: links.loss/,
  ],
];

test.each(wrong)('interventions: %s', (_, text, line, expected) => {
  const file = fileOf(text);
  let message = '';
  try {
    loadScenario(file);
  } catch (error) {
    expect(error).toBeInstanceOf(ScenarioError);
    message = (error as Error).message;
  }
  const place = `${file}:${line}: `;
  expect(message.startsWith(place), message).toBe(true);
  expect(message.slice(place.length)).toMatch(expected);
});

test('interventions: the same said twice, or at two instants, is no contradiction', () => {
  const later = `${vote.replace('approve', 'reject')}, at_ms: 6`;
  for (const text of [
    two(`${vote}, at_ms: 5`, later),
    two(`${vote}, at_ms: 5`, `${vote}, at_ms: 5`),
  ]) {
    expect(loadScenario(fileOf(text)).scenario.interventions.length).toBe(2);
  }
});
