/** MCP servers as child processes: killed, resumed, and replayed without the server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { folkmoot } from '../../../support/cli.js';
import { simJson } from '../../../support/command.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { root } from '../../../support/paths.js';
import { cassetteIn, expectOneKey, expectResumed, mindsOf, notesKeys } from '../minds.js';

const sdk = pathToFileURL(join(root, 'node_modules/@modelcontextprotocol/server/dist')).href;

/** A server of the SDK; `first` runs at its start, `how` before each answer. */
const program = (how: string, first: string) => `
import { Server } from '${sdk}/index.mjs';
import { serveStdio } from '${sdk}/stdio.mjs';
import { appendFileSync } from 'node:fs';
${first}
const server = new Server({ name: 'mind', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler('tools/list', () => ({
  tools: [{ name: 'decide', inputSchema: { type: 'object' } }],
}));
server.setRequestHandler('tools/call', async ({ params }) => {
  const { id, view } = params.arguments;
  appendFileSync('asked.txt', id + '\\n');
  ${how}
  const decision = view.block.soundness >= 80 ? 'approve' : 'reject';
  return { content: [], structuredContent: { commands: [{ do: 'vote', decision }] } };
});
serveStdio(() => server);
`;

const townOf = (how = '', strategy = '', { agents = 4, first = '' } = {}) =>
  mindsOf(program(how, first), `kind: mcp, tool: decide${strategy}`, agents);

test('mcp: fifty agents resume after two kills, and replay without the server', () => {
  const lies = "return { content: [{ type: 'text', text: '[]' }] };";
  return expectResumed(townOf('', ', most_at_once: 3', { agents: 50 }), program(lies, ''));
});

const hang = 'await new Promise(() => setInterval(() => {}, 1_000));';
const ways: [what: string, how: string, reason: string, first?: string][] = [
  ['exits', 'process.exit(3);', 'ended'],
  ['writes JSON that is not MCP', `console.log('{"thinking":true}'); ${hang}`, 'no_json'],
  ['writes too much', `process.stdout.write('x'.repeat(3_000_000)); ${hang}`, 'too_long'],
  [
    'writes too much in one answer',
    "return { content: [{ type: 'text', text: 'x'.repeat(300_000) }] };",
    'too_long',
  ],
  ['fails', "throw new Error('of mine');", 'refused'],
  ['exits at its start', '', 'ended', 'process.exit(0);'],
];

test.each(
  ways,
)('mcp: a server that %s has a reason, and the run continues', async (_, how, reason, first) => {
  const { folder, file } = townOf(how, ', retries: 0', { first: first ?? '' });
  const { json } = await simJson(file, '--record', '--out', join(folder, 'run'));
  const { questions, failures } = json.deciders!;
  expect(failures).toEqual({ [reason]: questions });
  expect((await simJson(file, '--cassette', join(folder, 'run'))).json.digest).toBe(json.digest);
});

test('mcp: skips lines of a program that are not JSON', async () => {
  const say = "console.log('Welcome!');";
  const { folder, file } = townOf(say, ', retries: 0', { first: say });
  const { json } = await simJson(file, '--record', '--out', join(folder, 'run'));
  expect(json.deciders!.questions).toBeGreaterThan(0);
  expect(json.deciders!.failures).toEqual({});
});

test('mcp: gives up on a server that hangs and ignores all signals but SIGKILL', async () => {
  const first = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000);";
  const { folder, file } = townOf(hang, ', retries: 0, timeout_ms: 1500', { first });
  const { json } = await simJson(file, '--record', '--out', join(folder, 'run'));
  expect(json.deciders!.failures).toEqual({ timeout: json.deciders!.questions });
});

test('mcp: reports a missing program or tool in one line', async () => {
  const { folder, file } = townOf();
  const refused = async (from: string, to: string, said: RegExp) => {
    const other = join(folder, 'other.yaml');
    writeFileSync(other, readFileSync(file, 'utf8').replace(from, to));
    const ended = await folkmoot(['sim', other, '--record', '--out', join(folder, 'run')]);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(said)]);
  };
  await refused(
    JSON.stringify(process.execPath),
    '"no-such-program"',
    /no-such-program: spawn no-such-program ENOENT$/m,
  );
  await refused('tool: decide', 'tool: judge', /judge .*decide/m);
});

test('mcp: passes only the requested environment variables', () =>
  expectOneKey(townOf('', ', env: [MIND_KEY]', { first: notesKeys })));

test('mcp: records and replays the worked example', async () => {
  const file = join(root, 'examples/deciders/ledger.yaml');
  const folder = temporaryFolder();
  const first = await simJson(file, '--record', '--out', join(folder, 'run'));
  const { questions, failures } = first.json.deciders!;
  expect([questions > 0, failures]).toEqual([true, {}]);
  expect(cassetteIn(join(folder, 'run'))).toContain('"memory":{"ledger":{');
  const again = await simJson(file, '--cassette', join(folder, 'run'));
  expect(again.json.digest).toBe(first.json.digest);
});
