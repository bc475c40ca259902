/**
 * A model server without a model, for trying prompts: it speaks OpenAI's chat completions, prints
 * each prompt to standard error, and answers with the most frequent option among the statements.
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

const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
};

const server = createServer(timeouts, async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { messages } = JSON.parse(body);
  const prompt = messages.map(({ content }) => content).join('\n\n');
  process.stderr.write(`${prompt}\n----\n`);
  const content = JSON.stringify(answerTo(prompt));
  const usage = { prompt_tokens: Math.ceil(prompt.length / 4), completion_tokens: 20 };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }], usage }));
});
server.listen(port, '127.0.0.1', () => {
  process.stdout.write(`{"event":"listening","port":${server.address().port}}\n`);
});
