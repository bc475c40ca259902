/** Fake language model with the OpenAI chat protocol. Responds by fixed rules. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface Message {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

interface Asked {
  model: string;
  messages: Message[];
  tools: { type: string; function: { name: string; parameters: { type: string } } }[];
}

export interface Model {
  url: string;
  /** Names of the offered tools. */
  tools(): string[];
}

/** Starts a model server that runs until the end of the test. Its first request fails. */
export async function modelByRule(): Promise<Model> {
  let tools: string[] = [];
  let asked = 0;
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.end('{"data":[]}');
      return;
    }
    if (!request.url!.startsWith('/v1/')) {
      request.resume();
      response.writeHead(404).end('{"error":"no such model"}');
      return;
    }
    const body = (await json(request)) as Asked;
    tools = body.tools.map((tool) => tool.function.name);
    asked += 1;
    response.statusCode = asked === 1 ? 503 : 200;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ choices: [{ message: next(body.messages, asked) }] }));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, tools: () => tools };
}

function next(messages: readonly Message[], asked: number): Message {
  const done = messages.flatMap(({ tool_calls = [] }) => tool_calls);
  const last = messages.at(-1)!.content ?? '';
  const block = /"block_hash":"(\w{64})"/.exec(last)?.[1];
  const after = done.at(-1)?.function.name;
  const call = (name: string, args: object, more: string = JSON.stringify(args)): Message => {
    const of = { name, arguments: more };
    return {
      ...{ role: 'assistant', content: null, tool_calls: [{ id: `call-${asked}`, function: of }] },
    };
  };
  // Models sometimes write invalid JSON. The agent reports it to the model and continues.
  if (after === undefined) return call('look', {}, '{"what":');
  if (last.startsWith('The call failed')) return call('look', { what: 'me' });
  if (last.includes('"registered":false')) return call('register', { name: 'Mia' });
  if (after === 'wait_for_news' && last.includes('block_proposal') && block) {
    return call('look', { what: 'block', id: block });
  }
  if (after === 'look' && block) {
    return call('discuss', { block_hash: block, message: 'I have looked at it.' });
  }
  if (after === 'discuss') return call('vote', { block_hash: block, decision: 'approve' });
  if (after === 'vote' && last.includes('finalized')) {
    return { role: 'assistant', content: 'I am done.' };
  }
  return call('wait_for_news', { timeout_s: 5 });
}
