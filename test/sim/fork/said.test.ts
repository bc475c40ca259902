/** What is said on the command line, and what is made of it; a mistake is named with its place. */
import { expect, test } from 'vitest';
import { actionOf } from '../../../dist/sim/fork/say/action.js';
import { momentOf } from '../../../dist/sim/fork/say/moment.js';

const hash = 'ab'.repeat(32);

test.each([
  ['mute meme 17', { kind: 'mute', meme: 17 }],
  ['  mute  meme   17 ', { kind: 'mute', meme: 17 }],
  ['mute memes of lawful-3', { kind: 'mute', whom: [{ agent: 'lawful-3' }] }],
  ['silence agent 3 and 4', { kind: 'silence', whom: [{ agent: 3 }, { agent: 4 }] }],
  ['silence 20% of group town', { kind: 'silence', whom: [{ group: 'town', share: 0.2 }] }],
  ['remove 5 of all', { kind: 'remove', whom: [{ count: 5 }] }],
  ['remove alliance 2', { kind: 'remove', whom: [{ alliance: 2 }] }],
  ['dissolve alliance 2', { kind: 'dissolve', alliance: 2 }],
  ['drop alliance 0', { kind: 'drop', alliance: 0 }],
  [`drop block ${hash}`, { kind: 'drop', block: hash }],
  [
    'set vote of agent 3 on block 5 to none',
    { kind: 'vote', agent: 3, block: 5, decision: 'none' },
  ],
  [
    'set strategy of group town to follower',
    { kind: 'strategy', whom: [{ group: 'town' }], strategy: { kind: 'follower' } },
  ],
  [
    'set strategy of all to { kind: lazy, effort: 0.1 }',
    { kind: 'strategy', whom: [{}], strategy: { kind: 'lazy', effort: 0.1 } },
  ],
  [
    'set trait care of all to { distribution: choice, values: [0, 1] }',
    {
      kind: 'traits',
      whom: [{}],
      traits: { care: { distribution: 'choice', values: [0, 1] } },
    },
  ],
  ['set social.memes.rate to 0', { kind: 'set', path: 'social.memes.rate', value: 0 }],
  ['set producers.insist to true', { kind: 'set', path: 'producers.insist', value: true }],
  ['set link 3 and network to loss 1', { kind: 'link', between: [3, 'network'], loss: 1 }],
])('do: %s', (text, expected) => expect(actionOf(text)).toEqual(expected));

test.each([
  ['start', { at_ms: 0 }],
  ['90s', { at_ms: 90_000 }],
  ['1.5m', { at_ms: 90_000 }],
  ['250ms', { at_ms: 250 }],
  ['entry 500', { at_entry: 500 }],
  ['height 4', { at_height: 4 }],
  ['closed >= 4', { at_condition: { measure: 'closed', at_least: 4 } }],
  [
    'reputation_mean of town <= 40.5 for 10s',
    {
      at_condition: { measure: 'reputation_mean', group: 'town', at_most: 40.5, held_ms: 10_000 },
    },
  ],
])('at: %s', (text, expected) => expect(momentOf(text)).toEqual(expected));

test.each([
  ['', 1, 'it ends', 'mute or silence or remove'],
  ['fly', 1, 'there is fly', 'mute or silence'],
  ['mute mem 17', 6, 'there is mem', 'memes or meme'],
  ['mute meme', 10, 'it ends', 'the number of a meme'],
  ['mute meme 17 now', 14, 'there is now', 'nothing more'],
  ['silence 20% town', 13, 'there is town', 'of'],
  ['silence', 8, 'it ends', 'all, agent NAME'],
  ['drop vote 3', 6, 'there is vote', 'block or alliance'],
  ['set vote of 3 on block 2 to maybe', 29, 'there is maybe', 'approve or reject or none'],
  ['set trait wit of all to 3', 11, 'there is wit', 'technical or social'],
  ['set trait care of all to', 25, 'it ends', 'a value'],
  ['set strategy of all to { kind: ', 24, 'there is {', 'a value'],
  ['set', 4, 'it ends', 'vote, strategy, trait, link or a path'],
])("do: '%s' is refused with its place", (text, at, found, expected) => {
  const message = `--do '${text}': at character ${at} ${found}; expected ${expected}`;
  expect(() => actionOf(text)).toThrow(message);
});

test.each([
  ['90', 1, 'a time such as 90s'],
  ['entry', 6, 'the number of an entry'],
  ['entry -1', 7, 'the number of an entry'],
  ['closed > 4', 8, '>= or <='],
  ['closed >= 4 for ever', 17, 'a time such as 10s'],
  ['luck >= 4', 1, 'or a condition such as'],
])("at: '%s' is refused with its place", (text, at, expected) => {
  expect(() => momentOf(text)).toThrow(new RegExp(`at character ${at} .*${expected}`));
});

test('said: any text at all is an action, or a mistake in one line', () => {
  for (const text of [
    '__proto__',
    'set constructor of 1',
    'set __proto__ to 1',
    '\0',
    '𝒎'.repeat(9),
  ]) {
    try {
      expect(actionOf(text).kind).toBe('set');
    } catch (error) {
      expect((error as Error).name).toBe('ScenarioError');
      expect((error as Error).message).toContain('expected');
    }
  }
});

test('do: refuses a text when it is too long, without quoting it', () => {
  const members = Array.from({ length: 5_000 }, (_, at) => `k${at}: 1`).join(', ');
  const text = `set strategy of all to { kind: script, parameters: { ${members} } }`;
  const message = `--do has ${text.length} characters; expected at most 16384`;
  expect(() => actionOf(text)).toThrow(new RegExp(`^${message}$`));
});
