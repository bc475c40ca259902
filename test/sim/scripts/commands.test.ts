/** Scripts: views, commands and errors. */
import { completeScenario, ScenarioError, simulate } from 'folkmoot/sim';
import { quiet, sentBy, votesOf } from '../fixture.js';
import { honest, run, scripted } from './fixture.js';

const always = (command: string) => `export const vote = () => (${command});`;

test.each([
  ['a syntax error', 'export const vote = (', /ParseError: Unexpected token/],
  ['a module without functions', 'export const x = 1;', /hear, vote, produce/],
  ['a missing import', "import './gone.js'; export const vote = 1;", /Cannot find module/],
  ['an error in top-level code', "throw new Error('at\\nload');", /own.ts: at load$/],
  ['an error in a call', always("(() => { throw new Error('my\\nown') })()"), /own-?.*: my own$/],
  ['a thrown string', always("(() => { throw 'a text' })()"), /: a text$/],
  ['a thrown object', always("(() => { throw { why: 'mine' } })()"), /: \{ why: 'mine' \}$/],
  [
    'a thrown object without prototype',
    always('(() => { throw Object.create(null) })()'),
    /: \[Object: null .*\{\}$/,
  ],
  ['a number', always('42'), /42; expected { do: vote \| meme/],
  ['an unknown command', always("{ do: 'dance' }"), /{"do":"dance"}; expected { do: vote/],
  ['an inherited name', always("{ do: 'constructor' }"), /expected { do: vote/],
  ['an argument', always("{ do: 'vote', decision: 'maybe' }"), /decision .*of approve, reject$/],
  ['no argument', always("{ do: 'vote' }"), /decision .*one of approve, reject$/],
  ['an unknown argument', always("{ do: 'rest', x: 1 }"), /expected x /],
  ['a time out of bounds', always("{ do: 'wait', ms: 0 }"), /ms .*from 1 to 3600000$/],
  ['a promise', 'export const vote = async () => null;', /promise/],
  ['no block', "export const mingle = () => ({ do: 'vote', decision: 'approve' });", /or vote/],
  ['an answer without invitation', always("{ do: 'answer', accept: true }"), /invited/],
  [
    'a probability above 1',
    'export const vote = (_, rng) => rng.chance(500);',
    /vote for agent \S+: chance\(500\): expected a probability from 0 to 1$/,
  ],
  ['an invitation of an unknown agent', always("{ do: 'invite', agents: [99] }"), /agent: 99/],
])('script: reports %s in one line and ends the run', async (_, text, expected) => {
  const error = await run(text, { length: { virtual_ms: 90_000 } }).catch((why: unknown) => why);
  expect(error).toBeInstanceOf(ScenarioError);
  const { code, message } = error as ScenarioError;
  expect(code).toBe('SCRIPT_FAILED');
  for (const form of [/^script own\.ts: /, expected]) expect(message).toMatch(form);
  expect(message).not.toContain('\n');
});

test('script: fails without a folder', async () => {
  const { group } = scripted(always('null'));
  const scenario = completeScenario({ title: 't', agents: [honest, group] });
  await expect(simulate(scenario)).rejects.toMatchObject({ code: 'UNKNOWN_FOLDER' });
});

test('script: receives block and memory, and performs its commands', async () => {
  const lived = await run(`
    export const vote = ({ block, memory, me, round, parameters }) => {
      memory.calls = (memory.calls ?? 0) + 1;
      if (round === 0) return { do: 'wait', ms: 500 };
      const reason = [me.group, block.soundness, block.producerGroup, memory.calls].join(' ');
      return [{ do: 'vote', decision: 'reject', reason }, { do: 'meme', stance: 'reject' }];
    };`);
  const votes = sentBy(lived, 'own', 'vote');
  expect(votes).toHaveLength(3 * lived.blocks.length);
  const calls = votes.map(({ body }) => String(body.reason).split(' '));
  for (const [group, soundness, producer, count] of calls) {
    expect([group, soundness, producer]).toEqual(['own', '100', 'honest']);
    expect(Number(count) % 2).toBe(0);
  }
  expect(votesOf(lived, 'own').every(({ decision }) => decision === 'reject')).toBe(true);
  expect(lived.result.measures.memes).toBe(votes.length);
});

test('script: follows the personality without a function, and records its hash', async () => {
  const lived = await run("export const mingle = () => ({ do: 'rest' });", {
    social: { ...quiet, breaks: { rate: 0 } },
    length: { virtual_ms: 60_000 },
  });
  expect(votesOf(lived, 'own').length).toBeGreaterThan(0);
  expect(sentBy(lived, 'own', 'status').length).toBeGreaterThanOrEqual(3);
  expect(lived.result.modules).toEqual({ 'own.ts': expect.stringMatching(/^[0-9a-f]{64}$/) });
});
