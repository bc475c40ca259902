/** Scripts that propose options and cast ballots. */
import { ScenarioError } from 'folkmoot/sim';
import { live, type Raw, sentBy } from '../fixture.js';
import { scripted } from './fixture.js';

const election = (policy: string, sections: Raw = {}): Raw => ({
  consensus: { policy, voting_period_ms: 8_000, dormant_after: 0 },
  length: { blocks: 3 },
  ...sections,
});

/** Runs five agents, all with the script. The first one proposes the blocks. */
function elect(text: string, sections: Raw) {
  const { folder, group } = scripted(text);
  return live([{ ...group, count: 5, producers: 1 }], sections, folder);
}

const produce =
  "export const produce = () => ({ do: 'propose', options: ['red', 'green', 'blue'] });";

/** Agents 0 to 2 prefer red, and the others blue. All agents prefer green to their last option. */
const ranked = `
  ${produce}
  export const vote = ({ me, block }) => {
    const ranking = me.ordinal < 3 ? ['red', 'green', 'blue'] : ['blue', 'green', 'red'];
    return { do: 'vote', decision: 'approve', ballot: { ranking }, reason: block.options.join() };
  };`;

test('ballots of scripts: the rule counts them, and the auditor and the report agree', async () => {
  const text = `${ranked}
    export const report = ({ blocks }) => ({
      red: blocks.filter(({ choice }) => choice === 'red').length,
      wins: blocks[0].standings.red,
    });`;
  const lived = await elect(text, election('schulze'));
  const { verdict, reported } = lived.result;
  expect([verdict, reported!.run]).toEqual(['pass', { red: 3, wins: 2 }]);
  for (const block of lived.blocks) {
    expect(block.choice).toBe('red');
    expect(JSON.parse(block.standings)).toEqual({ red: 2, green: 1, blue: 0 });
  }
  const votes = sentBy(lived, 'own', 'vote');
  expect(votes).toHaveLength(15);
  expect(votes.every(({ body }) => body.reason === 'red,green,blue')).toBe(true);
});

test('ballots: a view has the rule, and the choice and standings of the head', async () => {
  const text = `
    ${produce}
    export const vote = ({ rule, head, memory }) => {
      const { properties } = rule.ballot;
      const seen = [rule.policy, Object.keys(properties).join(), rule.parameters.highest];
      if (head.choice !== null) seen.push(head.choice, head.standings[head.choice]);
      const ballot = { scores: { green: 7 } };
      return { do: 'vote', decision: 'approve', ballot, reason: seen.join(' ') };
    };`;
  const lived = await elect(text, election('score', { length: { blocks: 2 } }));
  const reasons = sentBy(lived, 'own', 'vote').map(({ body }) => body.reason);
  expect(new Set(reasons)).toEqual(new Set(['score scores 10', 'score scores 10 green 35']));
  expect(lived.blocks.map(({ choice }) => choice)).toEqual(['green', 'green']);
});

test('ballots of scripts: a rule without ballots and options ignores both', async () => {
  const lived = await elect(ranked.replace('block.options.join()', "'none'"), election('bft'));
  expect(lived.result.verdict).toBe('pass');
  expect(lived.blocks.map(({ choice, standings }) => choice + standings)).toEqual(['', '', '']);
});

test.each<[what: string, command: string, policy: string, expected: RegExp]>([
  ['an unknown option', "ballot: { ranking: ['x'] }", 'schulze', /invalid ballot: .*options$/],
  ['another schema', 'ballot: { option: 1 }', 'schulze', /invalid ballot: .*ranking$/],
  [
    'a wrong member',
    "ballot: { ranking: ['red', 3] }",
    'schulze',
    /\/ranking\/1 must be a string or an array/,
  ],
  ['a large ballot', "ballot: { option: 'x'.repeat(3000) }", 'bft', /ballot too large: \d+ bytes/],
  ['a function', 'ballot: { option: () => 1 }', 'plurality', /invalid ballot: function/],
])('ballots of scripts: %s ends the run with an error', async (_, ballot, policy, expected) => {
  const text = `${produce}
    export const vote = () => ({ do: 'vote', decision: 'approve', ${ballot} });`;
  const error = await elect(text, election(policy)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ScenarioError);
  expect((error as ScenarioError).code).toBe('SCRIPT_FAILED');
  expect((error as ScenarioError).message).toMatch(expected);
});

test.each([
  ['one option', "['a']", /options .*2 to 16/],
  ['equal options', "['a', 'a']", /options/],
  ['a name with a space', "['a', 'b c']", /options/],
])('ballots: %s in a proposal end the run with an error', async (_, options, expected) => {
  const text = `export const produce = () => ({ do: 'propose', options: ${options} });`;
  const error = await elect(text, election('schulze')).catch((reason: unknown) => reason);
  expect((error as ScenarioError).code).toBe('SCRIPT_FAILED');
  expect((error as ScenarioError).message).toMatch(expected);
});
