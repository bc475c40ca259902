/** A language model as decider: chat completions, prompts in files, and the worked example. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadScenario, ScenarioError, type SimOptions, simulate } from 'folkmoot/sim';
import { assertPrompts } from '../../../dist/sim/agents/deciders/deciders.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../tidy/sources.js';
import { atOnce, deciderServer, type Posted, runIn, town } from './fixture.js';

interface Chat {
  model: string;
  messages: { role: string; content: string }[];
  temperature?: number;
}

const completion = (content: string) => ({
  id: 'chat-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 120, completion_tokens: 15, total_tokens: 135 },
});

/** A model that reads the transactions in its prompt, and answers in a Markdown fence. */
function byRule(question: unknown) {
  const { messages } = question as Chat;
  const said = messages.at(-1)!.content;
  const amounts = [...said.matchAll(/\\"amount\\":(-?\d+)/g)].map(([, amount]) => Number(amount));
  const decision = amounts.every((amount) => amount > 0) ? 'approve' : 'reject';
  const text = JSON.stringify({ do: 'vote', decision, reason: 'I have added it up.' });
  return completion(`\`\`\`json\n${text}\n\`\`\``);
}

test('models: records and replays the worked example', async () => {
  const model = await deciderServer(byRule);
  const url = model.url.replace('/decide', '/v1/chat/completions');
  const file = join(root, 'examples/deciders/model-town.yaml');
  const { scenario, folder } = loadScenario(file, [['agents.model.strategy.url', url]]);
  const out = join(temporaryFolder(), 'run');
  const options: SimOptions = { folder, store: 'memory' };
  const result = await simulate(scenario, { folder, out, deciders: { record: true } });
  const { questions, failures, input_tokens, output_tokens } = result.deciders!;
  expect([failures, input_tokens, output_tokens]).toEqual([{}, 120 * questions, 15 * questions]);
  // Equal links and different thinking times: some questions are asked together.
  expect(model.asked.length).toBe(questions);
  const { messages, ...request } = model.asked[0] as unknown as Chat;
  expect(request).toEqual({ model: 'llama3.2', temperature: 0, max_tokens: 200 });
  const system = readFileSync(join(root, 'examples/deciders/prompts/system.md'), 'utf8');
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(messages[0]!.content).toBe(system);
  expect(messages[1]!.content).toMatch(/^You are \S+-\d+; your reputation is [\d.]+ of 100\.\n/);
  expect(messages[1]!.content).not.toContain('{{');
  await model.close();
  const again = await simulate(scenario, { ...options, deciders: { cassette: out } });
  expect([again.digest, again.measures]).toEqual([result.digest, result.measures]);
});

test('models: sends the question as JSON without a prompt; needs a completion', async () => {
  const folder = temporaryFolder();
  let turn = 0;
  const bad = [{}, { choices: [] }, { choices: [{ message: { content: 7 } }] }, completion('Yes!')];
  const model = await deciderServer(() => bad[turn++ % bad.length]);
  const strategy = { url: model.url, dialect: 'openai', model: 'm', retries: 0, ...atOnce };
  const { deciders } = await runIn(town(strategy), join(folder, 'run'), {
    deciders: { record: true },
  });
  const { questions, failures } = deciders!;
  expect((failures.wrong ?? 0) + (failures.no_json ?? 0)).toBe(questions);
  expect(failures.no_json).toBe(Math.floor(questions / 4));
  const { messages } = model.asked[0] as unknown as Chat;
  const question = JSON.parse(messages[0]!.content) as Posted;
  expect([messages.length, question.kind, question.number]).toEqual([1, 'vote', 0]);
});

test('models: counts the calls and tokens of answers that cannot be used', async () => {
  const folder = temporaryFolder();
  // Not JSON, then not an answer, then an answer that claims to have no cost.
  const claim = { commands: [{ do: 'vote', decision: 'approve' }], usage: { input_tokens: 0 } };
  const answers = ['Yes!', '{"do":"dance"}', JSON.stringify(claim)];
  let turn = 0;
  const model = await deciderServer(() => completion(answers[turn++ % answers.length]!));
  const strategy = { url: model.url, dialect: 'openai', model: 'm', retries: 2, most_at_once: 1 };
  const scenario = town({ ...strategy, ...atOnce });
  const cassette = join(folder, 'run');
  const recorded = await runIn(scenario, cassette, { deciders: { record: true } });
  const calls = model.asked.length;
  const { questions, ...cost } = recorded.deciders!;
  expect(calls).toBe(3 * questions);
  expect(cost).toEqual({
    ...{ asked: questions, calls, retries: calls - questions, failures: {} },
    ...{ input_tokens: 120 * calls, output_tokens: 15 * calls },
  });
  const { decider_calls, decider_input_tokens } = recorded.measures;
  expect([decider_calls, decider_input_tokens]).toEqual([calls, 120 * calls]);
  const again = await runIn(scenario, undefined, { deciders: { cassette } });
  expect(again.deciders).toEqual({ ...recorded.deciders, asked: 0 });
  expect(again.measures).toEqual(recorded.measures);
});

test.each([
  ['{{view.blok.votes}}', 'did you mean {{view.block.votes}}?'],
  ['{{ view.block.sound }}', 'expected one of view.block.producer, view.block.producer_group'],
  ['{{question}} {{veiw}}', 'did you mean {{view}}?'],
  ['{{view.deliberation.statement}}', 'did you mean {{view.deliberation.statements}}?'],
  ['{{view.block.votes.first}}', 'expected one of view.block.votes.0'],
  ['{{view.me.name.first}}', 'expected no member of view.me.name'],
])('models: refuses the placeholder %s before the first question', async (text, advice) => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'vote.md'),
    `{{view.memory.own.word}} {{view.block.votes.0.agent}} ${text}`,
  );
  const strategy = { url: 'http://127.0.0.1:9', dialect: 'openai', model: 'm', ...atOnce };
  const scenario = town({ ...strategy, prompts: { vote: 'vote.md' } }, {}, folder);
  const run = runIn(scenario, join(folder, 'run'), { folder, deciders: { record: true } });
  await expect(run).rejects.toMatchObject({ code: 'INVALID_PROMPT' });
  await expect(run).rejects.toThrow(advice);
  await expect(async () => assertPrompts(scenario, folder)).rejects.toThrow(advice);
});

test('models: asks again after a change of the prompt', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'texts'));
  const prompt = join(folder, 'texts', 'vote.md');
  writeFileSync(prompt, 'A block: {{view.block.transactions}} {{ view.block.options }}');
  const model = await deciderServer(byRule);
  const prompts = { vote: 'texts/vote.md' };
  const strategy = { url: model.url, dialect: 'openai', model: 'm', prompts, ...atOnce };
  const scenario = town(strategy, {}, folder);
  const cassette = join(folder, 'run');
  await runIn(scenario, cassette, { folder, deciders: { record: true } });
  const before = model.asked.length;
  expect((model.asked[0] as unknown as Chat).messages[0]!.content).toMatch(
    /^A block: \[.*\] null$/,
  );
  writeFileSync(prompt, 'Look at {{view.block.transactions}}!');
  const offline = runIn(scenario, undefined, { folder, deciders: { cassette } });
  await expect(offline).rejects.toMatchObject({ code: 'OTHER_DECIDER' });
  const both = { cassette, record: true };
  await runIn(scenario, join(folder, 'other'), { folder, deciders: both });
  expect(model.asked.length).toBe(2 * before);
});

test('models: refuses invalid options before the run', () => {
  const folder = temporaryFolder();
  const http = { url: 'http://127.0.0.1:1/' };
  const chat = { ...http, dialect: 'openai', model: 'm' };
  const cases: [strategy: object, said: RegExp][] = [
    [{ url: 'file:///etc/passwd' }, /agents\.1\.strategy\.url is .*; expected .*/],
    [{ url: 'http://[' }, /url is http:\/\/\[; expected a URL/],
    [{ url: 'http://me:secret@host/' }, /strategy\.url .*key_env/],
    [{ ...http, model: 'm' }, /model .*dialect openai/],
    [{ ...http, dialect: 'openai' }, /model is missing/],
    [{ ...chat, request: { messages: [] } }, /request\.messages /],
    [{ ...chat, prompts: { vote: '../vote.md' } }, /prompts\.vote .*not found/],
    [{ ...chat, prompts: { vote: '/etc/passwd' } }, /expected a path relative to/],
    [{ ...http, asks: ['voting'] }, /asks\.0 is "voting"; expected one of start, hear/],
    [{ ...http, key_env: 'A B' }, /key_env is "A B"; expected/],
    [{ kind: 'exec', command: 'rm -rf' }, /command is "rm -rf"; expected a list/],
    [{ kind: 'exec', command: [] }, /command is \[\]; expected a list/],
  ];
  for (const [strategy, said] of cases) {
    const made = () => town(strategy as never, {}, folder);
    expect(made).toThrow(ScenarioError);
    expect(made).toThrow(said);
  }
});
