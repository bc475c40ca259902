/** Tools of an MCP server over HTTP as deciders: answers and failures. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScenarioError, simulate } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/fixture.js';
import type { Raw } from '../../fixture.js';
import { atOnce, failing, runIn, town } from '../fixture.js';
import { bad, events, onCall, structured, vote } from './failures.js';
import {
  type Before,
  type McpDecider,
  mcpDecider,
  type Revision,
  said,
  type Tool,
  votes,
} from './server.js';

const record = { deciders: { record: true } };
const cassetteIn = (folder: string) => readFileSync(join(folder, 'decisions.cassette'), 'utf8');

const townOf = ({ url }: { url: string }, strategy: Raw = {}, sections: Raw = {}) =>
  town({ kind: 'mcp', tool: 'decide', url, retries: 0, ...atOnce, ...strategy }, sections);

/** Runs with one block by default, then again from the cassette without the server. */
async function decidedBy(
  decider: McpDecider,
  strategy: Raw = {},
  sections: Raw = { length: { blocks: 1 } },
) {
  const scenario = townOf(decider, strategy, sections);
  const folder = temporaryFolder();
  const out = join(folder, 'run');
  const notes: string[] = [];
  const onNote = (note: string) => notes.push(note);
  const result = await simulate(scenario, { out, ...record }, { onNote });
  await decider.close();
  const again = await runIn(scenario, join(folder, 'again'), { deciders: { cassette: out } });
  expect([again.digest, again.measures]).toEqual([result.digest, result.measures]);
  expect(cassetteIn(join(folder, 'again'))).toBe(cassetteIn(out));
  return { result, deciders: result.deciders!, notes, cassette: cassetteIn(out) };
}

test.each<Revision>([
  '2026-07-28',
  '2025-11-25',
])('mcp: a tool decides, and again on replay, by revision %s', async (revision) => {
  const decider = await mcpDecider(votes, revision);
  const { result, deciders } = await decidedBy(decider, { most_at_once: 3 }, {});
  const { questions, asked, calls, failures } = deciders;
  expect([asked, calls, failures]).toEqual([questions, questions, {}]);
  expect(decider.asked.length).toBe(questions);
  expect(result.groups.find(({ group }) => group === 'minds')!.votes).toBe(questions);
  // Four minds, three clients.
  expect(decider.begun).toBe(3);
  const [first] = decider.asked;
  expect(first).toMatchObject({ protocol: 1, kind: 'vote', number: 0 });
  expect(Object.keys(first!).sort()).toEqual(['agent', 'id', 'kind', 'number', 'protocol', 'view']);
});

test.each<[string, Tool]>([
  ['structured content', structured({ commands: [vote] })],
  ['one command', structured(vote)],
  ['a list wrapped by the Python SDK', structured({ result: [vote] })],
  ['a wrapped text', structured({ result: JSON.stringify(vote) })],
  ['a text', () => said([vote])],
])('mcp: accepts %s', async (_, tool) => {
  const { deciders, result } = await decidedBy(await mcpDecider(tool));
  expect(deciders.failures).toEqual({});
  const { votes } = result.groups.find(({ group }) => group === 'minds')!;
  expect(votes).toBe(deciders.questions);
  expect(votes).toBeGreaterThan(0);
});

test.each(bad)('mcp: counts %s as %s', async (_, reason, detail, { tool = votes, before }) => {
  const decider = await mcpDecider(tool);
  if (before) decider.before = before;
  const { result, deciders, cassette } = await decidedBy(decider);
  const { questions, failures } = deciders;
  expect([questions > 0, failures]).toEqual([true, { [reason]: questions }]);
  expect(result.ended_by).toBe('blocks');
  for (const line of cassette.split('\n').slice(1, -2)) {
    const { failure } = JSON.parse(line);
    expect(failure).toEqual({ reason, detail: expect.stringMatching(detail) });
  }
});

test.each<[string, Before]>([
  ['no answer', onCall(() => {})],
  [
    'an answer with another id',
    events('data: {"jsonrpc":"2.0","id":77,"result":{"content":[]}}\n\n'),
  ],
  [
    'an endless answer',
    onCall((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => response.write(': still thinking\n\n'), 2);
      response.once('close', () => clearInterval(timer));
    }),
  ],
])('mcp: times out on %s', async (_, before) => {
  const decider = await mcpDecider();
  decider.before = before;
  const { deciders } = await decidedBy(decider, { timeout_ms: 100 });
  expect(deciders.failures).toEqual({ timeout: deciders.questions });
});

test('mcp: reports a server that never starts as unreachable, once', async () => {
  const decider = await mcpDecider();
  await decider.close();
  const { deciders, notes } = await decidedBy(decider, { retries: 2 });
  expect(deciders.failures).toEqual({ unreachable: deciders.questions });
  expect(notes).toEqual([expect.stringMatching(/group minds .*\(unreachable: .*ECO/)]);
  // After the server is known to be down, nothing is retried.
  expect(deciders.calls).toBe(deciders.questions + 3 * 2);
});

test('mcp: retries at a new client after a refusal and after downtime', async () => {
  const decider = await mcpDecider();
  let calls = 0;
  decider.before = (_, response, { method }) => {
    if (method !== 'tools/call') return false;
    calls += 1;
    const fails = calls % 3 === 0 || calls % 5 === 0;
    if (fails) response.writeHead(calls % 3 === 0 ? 404 : 503, { 'retry-after': '0' }).end();
    return fails;
  };
  const { deciders } = await decidedBy(decider, { retries: 5 }, {});
  expect([deciders.failures, decider.asked.length]).toEqual([{}, deciders.questions]);
  expect(deciders.calls).toBe(calls);
  expect(calls).toBeGreaterThan(deciders.questions);
  expect(decider.begun).toBeGreaterThan(4);
});

test('mcp: a missing tool ends the run, unless it disappears later', async () => {
  const decider = await mcpDecider();
  const scenario = townOf(decider, { tool: 'judge' });
  const out = join(temporaryFolder(), 'run');
  const error = await failing(runIn(scenario, out, record));
  expect(error).toBeInstanceOf(ScenarioError);
  expect(error.code).toBe('UNKNOWN_TOOL');
  expect(error.message).toMatch(/judge .*decide/);
  // The folder can be used by another scenario, because it has no answers.
  const { deciders: first } = await runIn(townOf(decider), out, record);
  expect(first!.failures).toEqual({});
  decider.tool = (question) => {
    decider.tools = [];
    decider.before = onCall((_, response) => response.writeHead(404).end());
    return votes(question);
  };
  const { deciders } = await decidedBy(decider, { most_at_once: 1 }, {});
  expect(deciders.failures).toEqual({ refused: deciders.questions - 1 });
});

test('mcp: sends a key only to the server', async () => {
  process.env.TEST_MCP_KEY = 'sk-very-secret-0123456789';
  const seen = new Set<unknown>();
  const decider = await mcpDecider(({ number }) => {
    const reason = number === 0 ? 'I was told sk-very-secret-0123456789' : 'Well.';
    return said({ ...vote, reason });
  });
  decider.before = ({ headers }) => {
    seen.add(headers.authorization);
    return false;
  };
  const { deciders, cassette, result } = await decidedBy(decider, { key_env: 'TEST_MCP_KEY' });
  expect([...seen]).toEqual(['Bearer sk-very-secret-0123456789']);
  expect(deciders.failures).toEqual({ wrong: 4 });
  expect(cassette + JSON.stringify(result)).not.toContain('very-secret');
});

test('mcp: does not run a pattern of the server', async () => {
  const decider = await mcpDecider();
  const pattern = '^(a+)+$';
  decider.before = (_, response, { method, id }) => {
    if (method !== 'tools/list' && method !== 'tools/call') return false;
    const outputSchema = { type: 'object', properties: { a: { type: 'string', pattern } } };
    const tools = [{ name: 'decide', inputSchema: { type: 'object' }, outputSchema }];
    const structuredContent = { a: `${'a'.repeat(60)}!` };
    const listed = { tools, ttlMs: 0, cacheScope: 'private' };
    const called = { content: [], structuredContent };
    const result = { resultType: 'complete', ...(method === 'tools/list' ? listed : called) };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    return true;
  };
  const { deciders } = await decidedBy(decider);
  expect(deciders.failures).toEqual({ wrong: deciders.questions });
});

test('mcp: refuses invalid options before the run', () => {
  const url = 'http://127.0.0.1:1/mcp';
  const command = ['node', 'server.mjs'];
  const cases: [strategy: Raw, said: RegExp][] = [
    [{ url: undefined }, /agents\.1\.strategy\.command is missing; expected a command or a url/],
    [{ command }, /strategy\.url has command and url/],
    [{ env: ['A'] }, /strategy\.env .*command.*key_env/],
    [{ url: undefined, command, key_env: 'A' }, /key_env .*url.*env/],
    [{ url: 'http://me:secret@host/' }, /strategy\.url .*key_env/],
    [{ url: 'ftp://host/' }, /url is "ftp:\/\/host\/"; expected/],
    [{ tool: '' }, /tool is ""/],
    [{ tool: undefined }, /tool/],
    [{ most_at_once: 65 }, /most_at_once is 65; expected/],
  ];
  for (const [strategy, said] of cases) {
    const given = Object.entries({ url, tool: 'decide', ...strategy });
    const made = () =>
      town({
        kind: 'mcp',
        ...Object.fromEntries(given.filter(([, value]) => value !== undefined)),
      });
    expect(made).toThrow(ScenarioError);
    expect(made).toThrow(said);
  }
});
