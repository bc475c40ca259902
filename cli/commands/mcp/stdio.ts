/** One session over standard input and output: nothing but the protocol is written there. */
import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { flushed, say } from '../../output/output.js';
import type { Stopping } from '../serve/stopping.js';
import type { ActingAgents } from './acting.js';
import { offered, session } from './session.js';

/** A message with the largest picture, in base64. */
export const MOST_MESSAGE_BYTES = 2 * 1024 * 1024;

/** Serves until the host closes its end, sends what is too large, or a signal comes. */
export async function serveStdio(agents: ActingAgents, stopping: Stopping): Promise<void> {
  const { server, end } = session(agents, offered(agents));
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  const gone = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close')]);
  await server.connect(
    new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MOST_MESSAGE_BYTES }),
  );
  const [urls, names] = [agents.urls, agents.names].map((all) => all.join(', '));
  say(`folkmoot mcp: serving ${urls} to standard input as ${names}`);
  await Promise.race([closed, gone, stopping.asked]);
  await end();
  await flushed();
}
