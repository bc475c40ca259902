/** MCP servers that are started, by the command line: killed, gone on with, and without them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { folkmoot, simJson } from '../../../support/cli.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { root } from '../../../support/paths.js';
import { killed } from '../killed.js';

const sdk = pathToFileURL(join(root, 'node_modules/@modelcontextprotocol/sdk/dist/esm')).href;

/** A server of the SDK; `first` is done when it starts, `how` with a question before its answer. */
const program = (how: string, first: string) => `
import { Server } from '${sdk}/server/index.js';
import { StdioServerTransport } from '${sdk}/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '${sdk}/types.js';
import { appendFileSync } from 'node:fs';
${first}
const server = new Server({ name: 'mind', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'decide', inputSchema: { type: 'object' } }],
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const { id, view } = params.arguments;
  appendFileSync('asked.txt', id + '\\n');
  ${how}
  const decision = view.block.soundness >= 80 ? 'approve' : 'reject';
  return { content: [], structuredContent: { commands: [{ do: 'vote', decision }] } };
});
await server.connect(new StdioServerTransport());
`;

function townOf(how = '', strategy = '', { agents = 4, first = '' } = {}) {
  const folder = temporaryFolder();
  const file = join(folder, 'town.yaml');
  writeFileSync(join(folder, 'mind.mjs'), program(how, first));
  const command = JSON.stringify([process.execPath, 'mind.mjs']);
  writeFileSync(
    file,
    `title: minds
agents:
  - group: minds
    count: ${agents}
    producers: 3
    strategy: { kind: mcp, tool: decide, command: ${command}, backoff_ms: 1${strategy} }
length: { blocks: 3 }
signatures: none
`,
  );
  const asked = () => {
    const name = join(folder, 'asked.txt');
    return existsSync(name) ? readFileSync(name, 'utf8').trim().split('\n') : [];
  };
  return { folder, file, asked };
}

const cassetteIn = (of: string) => readFileSync(join(of, 'decisions.cassette'), 'utf8');

test('mcp: fifty minds, killed twice and gone on with, then without the server', async () => {
  const { folder, file, asked } = townOf('', ', most_at_once: 3', { agents: 50 });
  const whole = join(folder, 'whole');
  const { json } = await simJson(file, '--record', '--out', whole);
  const { questions, failures } = json.deciders!;
  expect([json.deciders!.asked, asked().length, failures]).toEqual([questions, questions, {}]);

  writeFileSync(join(folder, 'asked.txt'), '');
  const out = join(folder, 'killed');
  const args = [file, '--record', '--out', out];
  for (const share of [0.3, 0.6]) {
    await killed(args, () => asked().length > share * questions);
    expect(existsSync(join(out, 'summary.json'))).toBe(false);
  }
  const resumed = await simJson(...args);
  expect(resumed.json.digest).toBe(json.digest);
  // At each kill, the calls under way are made twice: one a session. All of them count.
  const { calls } = resumed.json.deciders!;
  expect(calls).toBeLessThanOrEqual(questions + 2 * 3);
  expect(asked().length).toBeLessThanOrEqual(calls);
  const answersIn = (run: string) => cassetteIn(run).replaceAll(/"calls":\d+|"sum":"\w+"/g, '');
  expect(answersIn(out)).toBe(answersIn(whole));

  const lies = "return { content: [{ type: 'text', text: '[]' }] };";
  writeFileSync(join(folder, 'mind.mjs'), program(lies, ''));
  const before = asked().length;
  const lied = await simJson(file, '--cassette', out);
  writeFileSync(join(folder, 'mind.mjs'), 'process.exit(1)');
  const alone = await simJson(file, '--cassette', out);
  expect([lied.json.digest, alone.json.digest]).toEqual([json.digest, json.digest]);
  expect(asked().length).toBe(before);
  const replayed = await folkmoot(['replay', out]);
  expect(replayed.code).toBe(0);
});

const hang = 'await new Promise(() => setInterval(() => {}, 1_000));';
const ways: [what: string, how: string, reason: string, first?: string][] = [
  ['ends', 'process.exit(3);', 'ended'],
  ['talks where the protocol is', `console.log('thinking'); ${hang}`, 'no_json'],
  ['greets where the protocol is', '', 'no_json', "console.log('Welcome!');"],
  ['says too much', `process.stdout.write('x'.repeat(3_000_000)); ${hang}`, 'too_long'],
  [
    'says too much in one answer',
    "return { content: [{ type: 'text', text: 'x'.repeat(300_000) }] };",
    'too_long',
  ],
  ['fails', "throw new Error('of mine');", 'refused'],
  ['ends before it begins', '', 'ended', 'process.exit(0);'],
];

test.each(
  ways,
)('mcp: one that %s has a reason, and the run goes on', async (_, how, reason, first) => {
  const { folder, file } = townOf(how, ', retries: 0', { first: first ?? '' });
  const { json } = await simJson(file, '--record', '--out', join(folder, 'run'));
  const { questions, failures } = json.deciders!;
  expect(failures).toEqual({ [reason]: questions });
  const again = await simJson(file, '--cassette', join(folder, 'run'));
  expect(again.json.digest).toBe(json.digest);
});

test('mcp: one that hangs, and that no signal ends but the last one, is given up', async () => {
  const first = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000);";
  const { folder, file } = townOf(hang, ', retries: 0, timeout_ms: 1500', { first });
  const { json } = await simJson(file, '--record', '--out', join(folder, 'run'));
  expect(json.deciders!.failures).toEqual({ timeout: json.deciders!.questions });
});

test('mcp: no such program, no such tool, no such variable: said in a line', async () => {
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
    /decider no-such-program cannot be started: spawn no-such-program ENOENT$/m,
  );
  await refused('tool: decide', 'tool: judge', /has no tool judge; expected one of decide$/m);
  await refused(
    'tool: decide',
    'env: [MIND_KEY], tool: decide',
    /^folkmoot: the decider of group minds needs the environment variable MIND_KEY/m,
  );
});

test('mcp: it is given no more of the environment than it asks for', async () => {
  const first = `
  const named = ['MIND_KEY', 'OTHER_KEY'].map((name) => process.env[name] ?? 'none').join(' ');
  appendFileSync('env.txt', named + '\\n');`;
  const { folder, file } = townOf('', ', env: [MIND_KEY]', { first });
  const env = { MIND_KEY: 'key-of-the-mind', OTHER_KEY: 'of nobody else' };
  const ended = await folkmoot(['sim', file, '--record', '--out', join(folder, 'run')], { env });
  expect([ended.code, ended.stderr]).toEqual([0, expect.anything()]);
  const seen = new Set(readFileSync(join(folder, 'env.txt'), 'utf8').trim().split('\n'));
  expect([...seen]).toEqual(['key-of-the-mind none']);
  expect(cassetteIn(join(folder, 'run'))).not.toContain('key-of-the-mind');
});

test('mcp: the worked example, recorded and taken again', async () => {
  const file = join(root, 'examples/deciders/ledger.yaml');
  const folder = temporaryFolder();
  const first = await simJson(file, '--record', '--out', join(folder, 'run'));
  const { questions, failures } = first.json.deciders!;
  expect([questions > 0, failures]).toEqual([true, {}]);
  expect(cassetteIn(join(folder, 'run'))).toContain('"memory":{"ledger":{');
  const again = await simJson(file, '--cassette', join(folder, 'run'));
  expect(again.json.digest).toBe(first.json.digest);
});
