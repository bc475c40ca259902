/**
 * A model server without a model, for trying prompts: it speaks OpenAI's chat completions, prints
 * each prompt to standard error, and answers with the most frequent option among the statements.
 * If the request has tools, as those of ../llm-agent.mjs, it calls them to approve one block.
 *
 *   node examples/deciders/mock-model.mjs 8000
 */
import { createServer } from 'node:http';

const port = Number(process.argv[2] ?? 8000);

/** Finds the options and the stated values in a prompt like prompts/deliberate.md. */
function answerTo(prompt) {
  const options = JSON.parse(/^Options: (\[.*\])$/m.exec(prompt)?.[1] ?? '["approve","reject"]');
  const stated = [...prompt.matchAll(/"value":"([^"]*)"/g)].map(([, value]) => value);
  const count = (option) => stated.filter((value) => value === option).length;
  const value = options.reduce((best, option) => (count(option) > count(best) ? option : best));
  return { do: 'state', value, reason: `I count ${count(value)} statements for ${value}.` };
}

/** Finds the next tool call in a conversation: join, wait, look, comment and vote. */
function nextCall(messages) {
  const last = messages.flatMap(({ tool_calls = [] }) => tool_calls).at(-1)?.function;
  const name = last?.name;
  const cursors = messages.flatMap(({ content }) => /"cursor":"([^"]+)"/.exec(content)?.[1] ?? []);
  const result = messages.at(-1).content;
  const block_hash = /"block_hash":"(\w{64})"/.exec(result)?.[1];
  // Events from this cursor on include blocks that are proposed while this agent registers.
  if (cursors.length === 0) return ['look', { what: 'network' }];
  if (last?.arguments.includes('"network"')) return ['look', { what: 'me' }];
  if (result.includes('"registered":false')) {
    const task = messages.find(({ role }) => role === 'user').content;
    return ['register', { name: /\bas (\w+)/.exec(task)?.[1] ?? 'Mia' }];
  }
  if (name === 'wait_for_news' && result.includes('block_proposal')) {
    return ['look', { what: 'block', id: block_hash }];
  }
  if (name === 'look' && block_hash) {
    return ['discuss', { block_hash, message: 'I have looked at it.' }];
  }
  if (name === 'discuss' && block_hash) return ['vote', { block_hash, decision: 'approve' }];
  const isDecided = /"(?:block_)?status":"(?:finalized|rejected|expired)"|VOTING_CLOSED/;
  if (['vote', 'wait_for_news'].includes(name) && isDecided.test(result)) return null;
  return ['wait_for_news', { timeout_s: 5, cursor: cursors.at(-1) }];
}

function messageFor({ messages, tools }, prompt) {
  if (!tools) return { role: 'assistant', content: JSON.stringify(answerTo(prompt)) };
  const call = nextCall(messages);
  if (!call) return { role: 'assistant', content: 'I am done.' };
  const [name, args] = call;
  const of = { name, arguments: JSON.stringify(args) };
  const tool_calls = [{ id: `call-${messages.length}`, type: 'function', function: of }];
  return { role: 'assistant', content: null, tool_calls };
}

const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
};

const server = createServer(timeouts, async (request, response) => {
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
    request.resume();
    response.writeHead(404).end('{"error":"use POST /v1/chat/completions"}');
    return;
  }
  let body = '';
  for await (const chunk of request) body += chunk;
  const asked = JSON.parse(body);
  const prompt = asked.messages.map(({ content }) => content).join('\n\n');
  process.stderr.write(`${prompt}\n----\n`);
  const message = messageFor(asked, prompt);
  const usage = { prompt_tokens: Math.ceil(prompt.length / 4), completion_tokens: 20 };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ choices: [{ message }], usage }));
});
server.listen(port, '127.0.0.1', () => {
  process.stdout.write(`{"event":"listening","port":${server.address().port}}\n`);
});
