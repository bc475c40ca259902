/** The bare server of `bench/bare-server.ts`, started and asked. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { BareAnswer, BareQuestion } from '../bare-server.js';
import type { MeasuredServer } from './server.js';

/** A bare server that answers each GET with `body`, for the work of a case. */
export async function withBare<T>(
  body: string,
  work: (server: MeasuredServer) => Promise<T>,
): Promise<T> {
  const child = fork(new URL('../bare-server.js', import.meta.url), { serialization: 'json' });
  const ended = once(child, 'exit');
  const answered = async (): Promise<BareAnswer> => {
    const message = await Promise.race([once(child, 'message'), ended.then(() => null)]);
    if (!message) throw new Error('the bare server ended; does uWebSockets.js load here?');
    return message[0] as BareAnswer;
  };
  const first = await answered();
  const usage = async (question: BareQuestion) => {
    child.send(question);
    const answer = await answered();
    if (!('cpuSeconds' in answer)) throw new Error('the bare server did not report its usage');
    return answer;
  };
  await usage({ body });
  try {
    return await work({
      url: `http://127.0.0.1:${'port' in first ? first.port : 0}`,
      pid: child.pid!,
      cpuSeconds: async () => (await usage('usage')).cpuSeconds,
      residentBytes: async () => (await usage('usage')).residentBytes,
      async stop() {},
    });
  } finally {
    child.disconnect();
    await ended;
  }
}
