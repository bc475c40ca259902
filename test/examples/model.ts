/** The mock model of the examples, behind a server with the faults of real ones. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { mockModel } from '../support/mock-model.js';

interface Asked {
  messages: { role: string }[];
  tools: { function: { name: string; parameters: { properties: object } } }[];
}

interface Model {
  url: string;
  /** Requests with tools. */
  asked: Asked[];
}

/**
 * Starts a server that has no GET /models. Its first answer is a failure, and the first tool call
 * has invalid JSON, as models sometimes write. The agent reports this to the model and continues.
 */
export async function faultyModel(): Promise<Model> {
  const mock = await mockModel();
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void request.socket.destroy();
    const body = (await json(request)) as Asked;
    asked.push(body);
    const given = { method: 'POST', body: JSON.stringify(body) };
    const answer = await (await fetch(`${mock}/chat/completions`, given)).text();
    const isFirst = body.messages.length === 2;
    response.statusCode = asked.length === 1 ? 503 : 200;
    response.end(isFirst ? answer.replace(/"arguments":"[^}]*}"/, '"arguments":"{"') : answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}
