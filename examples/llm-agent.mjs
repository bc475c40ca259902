#!/usr/bin/env node
/**
 * An agent controlled by a language model at an OpenAI-compatible endpoint. The model uses the
 * tools of `folkmoot mcp`, which holds the key. Exits when the model responds without a tool call.
 *
 *   OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=qwen3 \
 *     node examples/llm-agent.mjs --key ada.key.json --task "Vote on blocks; be strict."
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: asked } = parseArgs({
  options: {
    key: { type: 'string', default: 'ada.key.json' },
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
    task: { type: 'string', default: 'Register as Ada. Vote on blocks of others, with a reason.' },
    turns: { type: 'string', default: '1000' },
  },
});
const { OPENAI_BASE_URL = 'http://127.0.0.1:11434/v1', OPENAI_MODEL = 'default' } = process.env;
/** Turns kept in the model's context, and attempts per turn. */
const REMEMBERED = 40;
const TRIES = 5;

function fail(problem) {
  console.error(`llm-agent: ${problem}`);
  process.exit(1);
}

/** Exits if a server is unreachable. Any status counts as reachable. */
async function reach(url, what) {
  try {
    await (await fetch(url, { signal: AbortSignal.timeout(10_000) })).body?.cancel();
  } catch (error) {
    const { code, message } = error.cause ?? error;
    fail(`${url} does not answer (${code ?? message}); ${what}`);
  }
}

await reach(`${asked.url}/healthz`, 'start a network with folkmoot serve, or set --url');
await reach(`${OPENAI_BASE_URL}/models`, 'start a model, or set OPENAI_BASE_URL');

const sdk = ['@modelcontextprotocol/client@2.4.0', '@modelcontextprotocol/server@2.4.0'];
const { Client, StdioClientTransport } = await Promise.all([
  import('@modelcontextprotocol/client'),
  import('@modelcontextprotocol/client/stdio'),
  import('@modelcontextprotocol/server'),
]).then(
  (modules) => Object.assign({}, ...modules),
  () => fail(`the MCP SDK is missing; run npm install ${sdk.join(' ')}`),
);
const folkmoot = fileURLToPath(
  new URL('dist/cli/main.js', import.meta.resolve('folkmoot/package.json')),
);
const args = [folkmoot, 'mcp', '--key', asked.key, '--url', asked.url];
const versionNegotiation = { mode: { pin: '2026-07-28' } };
const network = new Client({ name: 'llm-agent', version: '1.0.0' }, { versionNegotiation });
await network
  .connect(new StdioClientTransport({ command: process.execPath, args }))
  .catch(() => fail('folkmoot mcp ended; see its message above'));

const tools = (await network.listTools()).tools.map(({ name, description, inputSchema }) => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
}));
const beginning = [
  { role: 'system', content: network.getInstructions() },
  { role: 'user', content: asked.task },
];

/** Returns the model's next message. */
async function thought(messages, tries = 1) {
  try {
    const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${process.env.OPENAI_API_KEY ?? 'none'}`,
      },
      body: JSON.stringify({ model: OPENAI_MODEL, messages, tools }),
      signal: AbortSignal.timeout(120_000),
    });
    if (!response.ok) {
      const problem = `${response.url} answered ${response.status}: ${await response.text()}`;
      throw Object.assign(new Error(problem.slice(0, 300)), { status: response.status });
    }
    return (await response.json()).choices[0].message;
  } catch (error) {
    // An unknown model or key is a permanent error.
    const lasting = error.status < 500 && error.status !== 408 && error.status !== 429;
    if (lasting || tries === TRIES) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1_000 * 2 ** tries));
    return thought(messages, tries + 1);
  }
}

/** Returns a tool call's result or error as a message for the model. */
async function used({ id, function: { name, arguments: text } }) {
  let content;
  try {
    const result = await network.callTool({ name, arguments: JSON.parse(text || '{}') });
    console.log(`${name} ${text}: ${result.content[0].text}`);
    content = result.content.map(({ text }) => text).join('\n');
  } catch (error) {
    content = `The call failed: ${error.message}`;
  }
  return { role: 'tool', tool_call_id: id, content };
}

const turns = [];
try {
  for (let turn = 0; turn < Number(asked.turns); turn += 1) {
    const message = await thought([...beginning, ...turns.slice(-REMEMBERED).flat()]);
    if (!message.tool_calls?.length) {
      console.log(message.content);
      break;
    }
    const results = [];
    for (const call of message.tool_calls) results.push(await used(call));
    turns.push([message, ...results]);
  }
} catch (error) {
  console.error(`llm-agent: ${error.message}`);
  process.exitCode = 1;
} finally {
  // Blocks do not wait for an inactive agent's vote.
  await network.callTool({ name: 'set_status', arguments: { status: 'inactive' } }).catch(() => {});
  await network.close();
}
