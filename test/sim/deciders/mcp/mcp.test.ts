/** Deciders that are tools of an MCP server over HTTP: what they say, and each way to fail. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScenarioError, simulate } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/fixture.js';
import type { Raw } from '../../fixture.js';
import { atOnce, failing, runIn, town } from '../fixture.js';
import { bad, events, onCall, structured, vote } from './failures.js';
import { type Before, type McpDecider, mcpDecider, said, type Tool, votes } from './server.js';

const record = { deciders: { record: true } };
const cassetteIn = (folder: string) => readFileSync(join(folder, 'decisions.cassette'), 'utf8');

const townOf = ({ url }: { url: string }, strategy: Raw = {}, sections: Raw = {}) =>
  town({ kind: 'mcp', tool: 'decide', url, retries: 0, ...atOnce, ...strategy }, sections);

/** Runs it, one block unless it is said, then again from its cassette without the server. */
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

test.each([false, true])('mcp: a tool decides, and again without it (JSON: %s)', async (json) => {
  const decider = await mcpDecider(votes, json);
  const { result, deciders } = await decidedBy(decider, { most_at_once: 3 }, {});
  const { questions, asked, calls, failures } = deciders;
  expect([asked, calls, failures]).toEqual([questions, questions, {}]);
  expect(decider.asked.length).toBe(questions);
  expect(result.groups.find(({ group }) => group === 'minds')!.votes).toBe(questions);
  // Four minds in three sessions, which were all ended.
  expect([decider.begun, decider.sessions.size]).toEqual([3, 0]);
  const [first] = decider.asked;
  expect(first).toMatchObject({ protocol: 1, kind: 'vote', number: 0 });
  expect(Object.keys(first!).sort()).toEqual(['agent', 'id', 'kind', 'number', 'protocol', 'view']);
});

test.each<[string, Tool]>([
  ['structured content', structured({ commands: [vote] })],
  ['one command', structured(vote)],
  ['a list, as the SDK for Python wraps it', structured({ result: [vote] })],
  ['a text, wrapped', structured({ result: JSON.stringify(vote) })],
  ['a text', () => said([vote])],
])('mcp: an answer is %s', async (_, tool) => {
  const { deciders, result } = await decidedBy(await mcpDecider(tool));
  expect(deciders.failures).toEqual({});
  const { votes } = result.groups.find(({ group }) => group === 'minds')!;
  expect(votes).toBe(deciders.questions);
  expect(votes).toBeGreaterThan(0);
});

test.each(bad)('mcp: %s is %s', async (_, reason, detail, { tool = votes, before }) => {
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
  ['none', onCall(() => {})],
  ['one to another', events('data: {"jsonrpc":"2.0","id":77,"result":{"content":[]}}\n\n')],
  [
    'one that goes on and on',
    onCall((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => response.write(': still thinking\n\n'), 2);
      response.once('close', () => clearInterval(timer));
    }),
  ],
])('mcp: no answer in time, but %s: it is given up', async (_, before) => {
  const decider = await mcpDecider();
  decider.before = before;
  const { deciders } = await decidedBy(decider, { timeout_ms: 100 });
  expect(deciders.failures).toEqual({ timeout: deciders.questions });
});

test('mcp: one that never begins is unreachable, and is told of once', async () => {
  const decider = await mcpDecider();
  await decider.close();
  const { deciders, notes } = await decidedBy(decider, { retries: 2 });
  expect(deciders.failures).toEqual({ unreachable: deciders.questions });
  expect(notes).toEqual([expect.stringMatching(/group minds .*\(unreachable: .*ECO/)]);
  // Once it is seen to be down, nothing is asked twice.
  expect(deciders.calls).toBe(deciders.questions + 3 * 2);
});

test('mcp: one that forgets its sessions, or is away for a while, is asked again', async () => {
  const decider = await mcpDecider();
  let calls = 0;
  decider.before = (_, response, { method }) => {
    if (method !== 'tools/call') return false;
    calls += 1;
    if (calls % 3 === 0) decider.sessions.clear();
    if (calls % 5 === 0) response.writeHead(503, { 'retry-after': '0' }).end();
    return calls % 5 === 0;
  };
  const { deciders } = await decidedBy(decider, { retries: 5 }, {});
  expect([deciders.failures, decider.asked.length]).toEqual([{}, deciders.questions]);
  expect(deciders.calls).toBe(calls);
  expect(calls).toBeGreaterThan(deciders.questions);
  expect(decider.begun).toBeGreaterThan(4);
});

test('mcp: a tool that is not there ends the run; one that goes away later does not', async () => {
  const decider = await mcpDecider();
  const scenario = townOf(decider, { tool: 'judge' });
  const out = join(temporaryFolder(), 'run');
  const error = await failing(runIn(scenario, out, record));
  expect(error).toBeInstanceOf(ScenarioError);
  expect(error.code).toBe('UNKNOWN_TOOL');
  expect(error.message).toMatch(/judge .*decide/);
  // The folder is none of another scenario's: nothing was answered for it.
  const { deciders: first } = await runIn(townOf(decider), out, record);
  expect(first!.failures).toEqual({});
  decider.tool = (question) => {
    decider.tools = [];
    decider.sessions.clear();
    return votes(question);
  };
  const { deciders } = await decidedBy(decider, { most_at_once: 1 }, {});
  expect(deciders.failures).toEqual({ refused: deciders.questions - 1 });
});

test('mcp: a key goes to the server, and nowhere else', async () => {
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

test('mcp: a server cannot make this side run a pattern of its own', async () => {
  const decider = await mcpDecider();
  const pattern = '^(a+)+$';
  decider.before = (_, response, { method, id }) => {
    if (method !== 'tools/list' && method !== 'tools/call') return false;
    const outputSchema = { type: 'object', properties: { a: { type: 'string', pattern } } };
    const tools = [{ name: 'decide', inputSchema: { type: 'object' }, outputSchema }];
    const structuredContent = { a: `${'a'.repeat(60)}!` };
    const result = method === 'tools/list' ? { tools } : { content: [], structuredContent };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    return true;
  };
  const { deciders } = await decidedBy(decider);
  expect(deciders.failures).toEqual({ wrong: deciders.questions });
});

test('mcp: what cannot be is refused before anything runs', () => {
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
