/** Slow, dead, lying or malformed deciders: agents do nothing, and failures are counted. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { temporaryFolder } from '../../support/fixture.js';
import type { Raw } from '../fixture.js';
import { atOnce, bySoundness, deciderServer, own, type Rule, runIn, town } from './fixture.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const schema = JSON.parse(readFileSync(`${root}docs/deciders.schema.json`, 'utf8'));

const vote = { do: 'vote', decision: 'approve' };
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
const raw =
  (text: string | Buffer): Rule =>
  (_, response) => {
    response.end(text);
    return own;
  };

/** Runs with a decider that follows the rule, then again from its cassette. */
async function decidedBy(rule: Rule, strategy: Raw = {}, sections: Raw = {}) {
  const decider = await deciderServer(rule);
  const scenario = town({ url: decider.url, retries: 0, ...atOnce, ...strategy }, sections);
  const folder = temporaryFolder();
  const out = join(folder, 'run');
  const result = await runIn(scenario, out, { deciders: { record: true } });
  await decider.close();
  const again = await runIn(scenario, join(folder, 'again'), { deciders: { cassette: out } });
  expect([again.digest, again.measures]).toEqual([result.digest, result.measures]);
  const cassette = readFileSync(join(out, 'decisions.cassette'), 'utf8');
  expect(readFileSync(join(folder, 'again', 'decisions.cassette'), 'utf8')).toBe(cassette);
  const minds = result.groups.find(({ group }) => group === 'minds')!;
  return { result, decider, cassette, minds };
}

type Bad = [name: string, reason: string, detail: RegExp, rule: Rule];
const row = (...of: Bad): Bad => of;

const bad: Bad[] = [
  row('an error status', 'refused', /500/, (_, response) => {
    response.statusCode = 500;
    return vote;
  }),
  row('a redirect', 'refused', /302/, (_, response) => {
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    return own;
  }),
  ['an empty body', 'no_json', /not JSON/, raw('')],
  ['garbage', 'no_json', /not JSON/, raw(Buffer.from([0xff, 0xfe, 0x00]))],
  ['an HTML page', 'no_json', /not JSON/, raw('<html>busy</html>')],
  ['a megabyte', 'too_long', /262144 bytes/, raw(`"${'x'.repeat(1_048_576)}"`)],
  ['deep nesting', 'no_json', /nested deeper than 16/, () => deep(50)],
  ['a reserved name', 'no_json', /reserved name/, raw('{"__proto__":{"commands":[]}}')],
  ['a string', 'wrong', /answer/, () => 'approve'],
  ['an unknown member', 'wrong', /\/mood /, () => ({ commands: [], mood: 1 })],
  ['an unknown command', 'wrong', /vote \| meme/, () => ({ do: 'abolish' })],
  ['a wrong command', 'wrong', /decision/, () => ({ do: 'vote', decision: 'maybe' })],
  ['a wrong command of two', 'wrong', /agent: 999/, () => [vote, { do: 'invite', agents: [999] }]],
  ['another occasion', 'wrong', /invited only/, () => ({ do: 'answer', accept: true })],
  ['many commands', 'wrong', /commands/, () => Array.from({ length: 17 }, () => vote)],
  ['memory', 'wrong', /memory/, () => ({ commands: [], memory: { a: 'x'.repeat(9_000) } })],
  ['a control character', 'wrong', /U\+001b/, () => ({ ...vote, reason: 'red \u001b[31m' })],
  row('a broken connection', 'unreachable', /./, (_, response) => {
    response.destroy();
    return own;
  }),
];

test.each(bad)('answers: counts %s as %s', async (_, reason, detail, rule) => {
  const { result, cassette, minds } = await decidedBy(rule, {}, { length: { blocks: 1 } });
  const { questions, failures } = result.deciders!;
  expect(questions).toBeGreaterThan(0);
  expect(failures).toEqual({ [reason]: questions });
  expect([minds.votes, minds.decider_failures]).toEqual([0, questions]);
  expect(result.ended_by).toBe('blocks');
  const said = cassette
    .split('\n')
    .slice(1, -2)
    .map((line) => JSON.parse(line).failure);
  expect(said.length).toBe(questions);
  for (const failure of said)
    expect(failure).toEqual({ reason, detail: expect.stringMatching(detail) });
});

test('answers: gives up on a slow decider, and on one that never starts, in time', async () => {
  const slow = await decidedBy(() => new Promise(() => {}), { timeout_ms: 20 });
  expect(slow.result.deciders!.failures).toEqual({ timeout: slow.result.deciders!.questions });
  const dead = await deciderServer();
  await dead.close();
  const out = join(temporaryFolder(), 'run');
  const notes: string[] = [];
  const scenario = town({ url: dead.url, ...atOnce });
  const { simulate, writeRunReport } = await import('folkmoot/sim');
  const hooks = { onNote: (note: string) => notes.push(note) };
  const { deciders } = await simulate(scenario, { out, deciders: { record: true } }, hooks);
  const { questions } = deciders!;
  expect(deciders!.failures).toEqual({ unreachable: questions });
  await writeRunReport(out);
  const report = readFileSync(join(out, 'report.html'), 'utf8');
  expect(report).toContain(`no usable answer to ${questions} of ${questions}`);
  expect(notes).toEqual([expect.stringMatching(/group minds .*\(unreachable: .*ECONN/)]);
  // After the decider is known to be down, nothing is retried.
  expect(deciders!.calls).toBe(questions + 3 * 2);
});

test('answers: retries failures, and uses the first valid answer', async () => {
  const tries = new Map<string, number>();
  const { result, decider } = await decidedBy(
    (question, response, headers) => {
      const count = (tries.get(question.id) ?? 0) + 1;
      tries.set(question.id, count);
      if (count === 1) response.setHeader('retry-after', '0').statusCode = 503;
      if (count === 2) return { do: 'perhaps' };
      return bySoundness(question, response, headers);
    },
    { retries: 2 },
  );
  const { questions, calls, failures } = result.deciders!;
  expect([calls, failures]).toEqual([3 * questions, {}]);
  expect(decider.asked.length).toBe(calls);
  expect(result.measures.decider_calls).toBe(calls);
});

test('answers: support memory, thoughts, tokens and lists of commands', async () => {
  const { result, decider, minds } = await decidedBy(
    ({ kind, view }) => {
      const seen = [...((view.memory.seen as string[]) ?? []), kind];
      if (kind === 'hear') return { commands: [{ do: 'wait', ms: 1 }], memory: { seen } };
      const usage = { input_tokens: 10, output_tokens: 3 };
      return { commands: [vote], thought: 'Well.', usage, memory: { seen } };
    },
    { asks: ['hear', 'vote'], parameters: { creed: 'thrift' } },
  );
  const votes = decider.asked.filter(({ kind }) => kind === 'vote');
  expect(votes.length).toBeGreaterThan(3);
  // The agent waits a millisecond: its vote is requested in the same window, after the answer.
  for (const { agent, number, view } of votes) {
    const before = Array.from({ length: number }, () => ['hear', 'vote']).flat();
    expect([agent, view.memory]).toEqual([agent, { seen: [...before, 'hear'] }]);
    expect(view.parameters).toEqual({ creed: 'thrift' });
  }
  const { input_tokens, output_tokens } = result.deciders!;
  expect([input_tokens, output_tokens]).toEqual([10 * votes.length, 3 * votes.length]);
  expect([minds.decider_input_tokens, minds.votes]).toEqual([input_tokens, votes.length]);
});

test('answers: sends a key only to the server', async () => {
  process.env.TEST_DECIDER_KEY = 'sk-very-secret-0123456789';
  let seen: unknown;
  const { result, cassette } = await decidedBy(
    ({ number }, _, headers) => {
      seen = headers.authorization;
      return number === 0 ? { ...vote, reason: 'I was told sk-very-secret-0123456789' } : vote;
    },
    { key_env: 'TEST_DECIDER_KEY' },
  );
  expect(seen).toBe('Bearer sk-very-secret-0123456789');
  expect(result.deciders!.failures).toEqual({ wrong: 4 });
  expect(cassette).toContain('"reason":"wrong"');
  expect(cassette + JSON.stringify(result)).not.toContain('very-secret');
});

test('answers: questions and answers of each kind match the schema', async () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(schema);
  const isQuestion = ajv.getSchema('urn:folkmoot:decider#/$defs/question')!;
  const isAnswer = ajv.getSchema('urn:folkmoot:decider#/$defs/answer')!;
  const kinds = new Set<string>();
  const answers: Record<string, unknown[]> = {
    start: [
      { do: 'send', content: { hello: true } },
      { do: 'wake', ms: 5_000 },
    ],
    hear: [
      { do: 'meme', stance: 'approve' },
      { do: 'say', stance: 'reject', message: 'No.' },
    ],
    wake: [{ do: 'wake', ms: 86_400_000 }],
    mingle: [{ do: 'invite', agents: [5, 6] }],
    invited: [{ do: 'answer', accept: true }],
    produce: [{ do: 'propose', transactions: 2, sound: true }],
  };
  const { result } = await decidedBy(
    (question) => {
      kinds.add(question.kind);
      expect([isQuestion(question), isQuestion.errors]).toEqual([true, null]);
      const commands = answers[question.kind] ?? [];
      const more = question.kind === 'hear' ? [{ do: 'wait', ms: 100 }] : [];
      const answer = { commands: [...commands, ...more], thought: 'So be it.' };
      expect([isAnswer(answer), isAnswer.errors]).toEqual([true, null]);
      return answer;
    },
    { asks: ['start', 'hear', 'vote', 'produce', 'mingle', 'invited', 'wake', 'receive'] },
    { topology: { kind: 'complete' }, length: { virtual_ms: 60_000 } },
  );
  expect(result.deciders!.failures).toEqual({});
  expect([...kinds].sort()).toEqual(Object.keys(answers).concat('receive', 'vote').sort());
});
