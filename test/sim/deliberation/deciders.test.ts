/** External deciders in a deliberation: one question a round, values, labels and bad answers. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { completeScenario, simulate } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows } from '../../support/runs.js';
import { deciderServer, own, type Posted, type Rule } from '../deciders/fixture.js';
import type { Raw } from '../fixture.js';
import { scenarioOf } from './fixture.js';

interface Shown {
  round: number;
  own: unknown;
  value: { options: Raw | string[] };
  statements: { agent?: number; value: unknown; reason?: string }[];
  tally?: Raw;
}

const shownTo = ({ view }: Posted): Shown => view.deliberation as Shown;

const minds = (url: string, more: Raw = {}): Raw => ({
  ...{ group: 'minds', count: 4 },
  strategy: { kind: 'http', url, backoff_ms: 0, timeout_ms: 2_000, ...more },
});

/** States the first option that it is shown. */
const firstOption: Rule = (question) => {
  const { options } = shownTo(question).value;
  const [value] = Array.isArray(options) ? options : Object.keys(options);
  return { do: 'state', value, reason: `by ${question.agent}`, note: 'secret thought' };
};

const colours = { kind: 'option', options: ['red', 'green', 'blue'] };

async function record(agents: Raw[], deliberation: Raw, sections: Raw = {}) {
  const folder = join(temporaryFolder(), 'run');
  const scenario = scenarioOf(agents, deliberation, { length: { blocks: 1 }, ...sections });
  const result = await simulate(scenario, { out: folder, deciders: { record: true } });
  return { scenario, result, folder, statements: csvRows(join(folder, 'statements.csv')) };
}

test('deciders: one question for each agent and round, with the whole inbox', async () => {
  const server = await deciderServer(firstOption);
  const spec = { rounds: 3, value: colours };
  const { scenario, result, folder, statements } = await record([minds(server.url)], spec);
  expect(result.deciders!.calls).toBe(server.asked.length);
  const first = server.asked.filter(({ view }) => view.block.producer !== -1).slice(0, 12);
  expect(first.map((one) => shownTo(one).round)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
  const inbox = shownTo(first[4]!).statements.map(({ agent, reason }) => [agent, reason]);
  expect(inbox).toEqual([1, 2, 3].map((agent) => [agent, `by ${agent}`]));
  expect(JSON.stringify(server.asked)).not.toContain('secret thought');
  expect(statements[0]!.note).toBe('secret thought');
  const asked = server.asked.length;
  await server.close();
  const again = await simulate(scenario, { store: 'memory', deciders: { cassette: folder } });
  expect([again.digest, again.reported, asked]).toEqual([result.digest, result.reported, asked]);
});

test('deciders: order and labels change what is shown, and not what is meant', async () => {
  const server = await deciderServer(firstOption);
  const sections = { prompts: { order: 'reversed', labels: 'letters' } };
  const { statements } = await record([minds(server.url)], { value: colours, rounds: 2 }, sections);
  expect(shownTo(server.asked[0]!).value.options).toEqual({ A: 'blue', B: 'green', C: 'red' });
  expect(new Set(statements.map(({ value }) => value))).toEqual(new Set(['"blue"']));
  const later = server.asked.find((one) => shownTo(one).round === 1)!;
  expect(shownTo(later).statements.map(({ value }) => value)).toEqual(['A', 'A', 'A']);
});

test('deciders: hidden authors and reasons are not shown; a tally can be', async () => {
  const server = await deciderServer(firstOption);
  const spec = { value: colours, rounds: 2, shows: ['tally'] };
  await record([minds(server.url)], spec);
  const later = shownTo(server.asked.find((one) => shownTo(one).round === 1)!);
  expect(later.statements).toEqual(Array(3).fill({ round: 0, value: 'red' }));
  expect(later.tally).toEqual({ '"red"': 3 });
  expect(server.asked.flatMap(({ view }) => (view.block as Raw).remarks)).toEqual([]);
});

test('deciders: memory shows earlier rounds, or their summary', async () => {
  const server = await deciderServer(firstOption);
  for (const memory of ['all', 'summary'] as const) {
    server.asked.length = 0;
    await record([minds(server.url)], { value: colours, rounds: 3, memory });
    const last = server.asked.find((one) => shownTo(one).round === 2)!.view.deliberation as Raw;
    if (memory === 'all') expect((last.earlier as unknown[]).length).toBe(3);
    else {
      const counts = { '"red"': 3 };
      expect(last.summary).toEqual([
        { round: 0, counts },
        { round: 1, counts },
      ]);
    }
  }
});

/** Answers that cannot be used, by agent. */
const bad: Rule[] = [
  () => ({ do: 'state', value: 'purple' }),
  (_, response) => {
    response.end('x'.repeat(10_000_000));
    return own;
  },
  () => own,
  () => ({ do: 'state', value: 'red', reason: 'r'.repeat(5_000) }),
];

test('deciders: unusable answers are retried, counted, and never stop the others', async () => {
  const server = await deciderServer((question, response, headers) => {
    const rule = bad[question.agent] ?? firstOption;
    return rule(question, response, headers);
  });
  const group = { ...minds(server.url, { retries: 1, timeout_ms: 1_500 }), count: 6 };
  const { result, statements } = await record([group], { value: colours, rounds: 1 });
  const { failures } = result.deciders!;
  expect(failures).toMatchObject({ wrong: 2, too_long: 1, timeout: 1 });
  const first = statements.filter(({ block }) => block === '0');
  expect(first.map(({ agent }) => agent)).toEqual(['4', '5']);
});

test('deciders: chat models get a filled prompt, and may answer in a fence', async () => {
  const said = '```json\n{"do":"state","value":"green"}\n```';
  const choices = [{ message: { role: 'assistant', content: said } }];
  const server = await deciderServer(() => ({ choices, usage: { prompt_tokens: 7 } }));
  const prompts = { threat: 'possible', persona: 'You are terse.', roles: { liar: 'Be sly.' } };
  const group = {
    ...minds(server.url, { dialect: 'openai', model: 'm' }),
    role: { kind: 'liar', goal: 'blue' },
  };
  const spec = { value: colours, rounds: 2, question: 'Which colour?' };
  const { statements, result } = await record([group], spec, { prompts });
  const { messages } = server.asked[0] as unknown as { messages: { content: string }[] };
  const text = messages.at(-1)!.content;
  for (const part of ['Which colour?', 'You are terse.', 'may be faulty', 'Be sly.', 'blue']) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain('{{');
  expect(result.deciders!.failures).toEqual({});
  expect(statements[0]!.value).toBe('"green"');
});

test('deciders: money does not depend on the order in which answers arrive', async () => {
  const server = await deciderServer(async ({ agent }) => {
    await setTimeout(100 * (4 - agent));
    const usage = { input_tokens: 100_000 * (agent + 1) };
    return { commands: [{ do: 'state', value: 'red' }], usage };
  });
  const budget = { prices: { other: { input: 1, output: 0 } } };
  const { result } = await record([minds(server.url)], { value: colours, rounds: 1 }, { budget });
  expect(result.deciders!.money).toBe([0.1, 0.2, 0.3, 0.4].reduce((sum, one) => sum + one, 0));
});

test('deciders: an endless fence takes no longer to refuse than to read', async () => {
  const content = `\`\`\`json${'\n'.repeat(50_000)}`;
  const server = await deciderServer(() => ({ choices: [{ message: { content } }] }));
  const group = { ...minds(server.url, { dialect: 'openai', model: 'm', retries: 0 }), count: 1 };
  const { result } = await record([group], { value: colours, rounds: 1 });
  expect(result.deciders!.failures).toEqual({ no_json: result.deciders!.questions });
});

const script = `
export function deliberate({ deliberation }) {
  const { round, statements, start } = deliberation;
  const values = [start, ...statements.map(({ value }) => value)];
  return { do: 'state', value: Math.min(...values), stop: round > 1 };
}
`;

test('scripts: deliberate with view.deliberation, and end by votes', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'low.js'), script);
  const raw = {
    ...{ title: 'a script', signatures: 'none', length: { blocks: 2 } },
    agents: [
      { group: 'town', count: 3, producers: 1, strategy: { kind: 'script', module: 'low.js' } },
    ],
    deliberation: { value: { kind: 'number', whole: true }, rounds: 9, until: 'votes' },
    consensus: { policy: 'majority' },
  };
  const { reported, measures } = await simulate(completeScenario(raw, folder), { folder });
  expect(reported.run).toMatchObject({ outcome_valid: 1, deliberation_rounds: 3, spread_last: 0 });
  expect(measures.finalized_share).toBe(1);
});
