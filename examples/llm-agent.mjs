#!/usr/bin/env node
/**
 * Agents controlled by a language model at an OpenAI-compatible endpoint. The model uses the tools
 * of `folkmoot mcp`, which holds the keys. An agent leaves when the model calls no tool. Each --key
 * is an agent with its own conversation, and the Nth --task is that of the Nth key, as is the last.
 *
 *   OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=qwen3 \
 *     node examples/llm-agent.mjs --key ada.key.json --task "Vote on blocks; be strict."
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: asked } = parseArgs({
  options: {
    key: { type: 'string', multiple: true, default: ['ada.key.json'] },
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
    task: {
      type: 'string',
      multiple: true,
      default: ['Register as NAME. Vote on blocks of others, with a reason.'],
    },
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

function noAnswer(url, error, what) {
  const { code, message } = error.cause ?? error;
  return `${url} does not answer (${code ?? message}); ${what}`;
}

try {
  const signal = AbortSignal.timeout(10_000);
  await (await fetch(`${asked.url}/healthz`, { signal })).body?.cancel();
} catch (error) {
  fail(noAnswer(asked.url, error, 'start a network with folkmoot serve, or set --url'));
}

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
const keys = asked.key.flatMap((file) => ['--key', file]);
const args = [folkmoot, 'mcp', ...keys, '--url', asked.url];
const versionNegotiation = { mode: { pin: '2026-07-28' } };
const network = new Client({ name: 'llm-agent', version: '1.0.0' }, { versionNegotiation });
await network
  .connect(new StdioClientTransport({ command: process.execPath, args }))
  .catch(() => fail('folkmoot mcp ended; see its message above'));

/** Tools without the argument that selects the agent, which this program sets. */
const offered = (await network.listTools()).tools;
const tools = offered.map(({ name, description, inputSchema }) => {
  const { agent: _, ...properties } = inputSchema.properties;
  const required = (inputSchema.required ?? []).filter((one) => one !== 'agent');
  const parameters = { ...inputSchema, properties, required };
  return { type: 'function', function: { name, description, parameters } };
});
const agents = offered[0].inputSchema.properties.agent.enum;
const tasks = asked.task;
const label = (agent) => (agents.length > 1 ? `${agent}: ` : '');
let isReachable = false;

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
    isReachable = true;
    return (await response.json()).choices[0].message;
  } catch (error) {
    if (!isReachable && error.cause?.code) {
      throw new Error(noAnswer(OPENAI_BASE_URL, error, 'start a model, or set OPENAI_BASE_URL'));
    }
    // An unknown model or key is a permanent error.
    const lasting = error.status < 500 && error.status !== 408 && error.status !== 429;
    if (lasting || tries === TRIES) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1_000 * 2 ** tries));
    return thought(messages, tries + 1);
  }
}

/** Returns a tool call's result or error as a message for the model. */
async function used(agent, { id, function: { name, arguments: text } }) {
  let content;
  try {
    const args = { ...JSON.parse(text || '{}'), agent };
    const result = await network.callTool({ name, arguments: args });
    console.log(`${label(agent)}${name} ${text}: ${result.content[0].text}`);
    content = result.content.map(({ text }) => text).join('\n');
  } catch (error) {
    content = `The call failed: ${error.message}`;
  }
  return { role: 'tool', tool_call_id: id, content };
}

/** Lets the model act as one agent, in a conversation of its own, until it calls no tool. */
async function takePart(agent, index) {
  const task = tasks[Math.min(index, tasks.length - 1)].replaceAll('NAME', agent);
  const own = `You act as ${agent}. Omit the argument "agent".`;
  const beginning = [
    { role: 'system', content: `${network.getInstructions()}\n${own}` },
    { role: 'user', content: task },
  ];
  const turns = [];
  try {
    for (let turn = 0; turn < Number(asked.turns); turn += 1) {
      const message = await thought([...beginning, ...turns.slice(-REMEMBERED).flat()]);
      if (!message.tool_calls?.length) {
        console.log(`${label(agent)}${message.content}`);
        break;
      }
      const results = [];
      for (const call of message.tool_calls) results.push(await used(agent, call));
      turns.push([message, ...results]);
    }
  } catch (error) {
    console.error(`llm-agent: ${label(agent)}${error.message}`);
    process.exitCode = 1;
  } finally {
    // Blocks do not wait for an inactive agent's vote.
    const leave = { name: 'set_status', arguments: { status: 'inactive', agent } };
    await network.callTool(leave).catch(() => {});
  }
}

await Promise.all(agents.map(takePart));
await network.close();
