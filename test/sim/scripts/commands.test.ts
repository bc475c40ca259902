/** Strategies of a user's own: what a script sees and does, and mistakes of its author. */
import { completeScenario, ScenarioError, simulate } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { live, quiet, sentBy, votesOf } from '../fixture.js';
import { honest, run, scripted } from './fixture.js';

const always = (command: string) => `export const vote = () => (${command});`;

test.each([
  ['a syntax error', 'export const vote = (', /ParseError: Unexpected token/],
  ['no function of the interface', 'export const x = 1;', /exports none of .*hear, vote, produce/],
  ['an import of nothing', "import './gone.js'; export const vote = 1;", /Cannot find module/],
  ['a mistake at its top', "throw new Error('at\\nload');", /own.ts: at load$/],
  ['a mistake in a call', always("(() => { throw new Error('my\\nown') })()"), /own-?.*: my own$/],
  ['something else thrown', always("(() => { throw 'a text' })()"), /: a text$/],
  ['an object', always("(() => { throw { why: 'mine' } })()"), /: \{ why: 'mine' \}$/],
  [
    'what is no text',
    always('(() => { throw Object.create(null) })()'),
    /: \[Object: null .*\{\}$/,
  ],
  ['a number', always('42'), /it gave 42; expected { do: vote \| meme/],
  ['an unknown command', always("{ do: 'dance' }"), /gave {"do":"dance"}; expected { do: vote/],
  ['a command of all objects', always("{ do: 'constructor' }"), /expected { do: vote/],
  [
    'a wrong argument',
    always("{ do: 'vote', decision: 'maybe' }"),
    /decision one of approve, reject$/,
  ],
  ['no argument', always("{ do: 'vote' }"), /expected for decision one of approve, reject$/],
  ['one too many', always("{ do: 'rest', x: 1 }"), /expected for x/],
  [
    'a time out of bounds',
    always("{ do: 'wait', ms: 0 }"),
    /for ms a whole number from 1 to 3600000$/,
  ],
  [
    'a promise',
    'export const vote = async () => null;',
    /it made a promise; expected an answer at once/,
  ],
  [
    'a vote on no block',
    "export const mingle = () => ({ do: 'vote', decision: 'approve' });",
    /in hear and vote only/,
  ],
  ['an answer to nobody', always("{ do: 'answer', accept: true }"), /in invited only/],
  [
    'a probability above 1',
    'export const vote = (_, rng) => rng.chance(500);',
    /vote for agent \S+: chance\(500\): expected a probability from 0 to 1$/,
  ],
  ['an invitation of nobody', always("{ do: 'invite', agents: [99] }"), /there is no agent 99/],
])('script: %s ends the run and is told in one line', async (_, text, expected) => {
  const error = await run(text, { length: { virtual_ms: 90_000 } }).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ScenarioError);
  const { message } = error as Error;
  expect(message).toMatch(/^script own\.ts: /);
  expect(message).toMatch(expected);
  expect(message).not.toContain('\n');
});

test('script: without a folder it cannot be found', async () => {
  const { group } = scripted(always('null'));
  const scenario = completeScenario({ title: 't', agents: [honest, group] });
  await expect(simulate(scenario)).rejects.toThrow('its folder is not known');
});

test('script: it sees the block and its own notes, and its commands are done', async () => {
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

test('script: what it leaves out follows the personality; its hash is in the result', async () => {
  const lived = await run("export const mingle = () => ({ do: 'rest' });", {
    social: { ...quiet, breaks: { rate: 0 } },
    length: { virtual_ms: 60_000 },
  });
  expect(votesOf(lived, 'own').length).toBeGreaterThan(0);
  expect(sentBy(lived, 'own', 'status').length).toBeGreaterThanOrEqual(3);
  expect(lived.result.modules).toEqual({ 'own.ts': expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test('script: parameters and rng: the same seed gives the same digest', async () => {
  const text = `
    export const vote = ({ parameters }, rng) =>
      ({ do: 'vote', decision: rng.chance(parameters.approves) ? 'approve' : 'reject' });`;
  const digest = async (approves: number) => {
    const { folder, group } = scripted(text, { approves });
    const { result } = await live([honest, group], { length: { blocks: 4 } }, folder);
    return result.digest;
  };
  expect(await digest(0.5)).toBe(await digest(0.5));
  expect(await digest(0.5)).not.toBe(await digest(0));
});
