/**
 * Programs of bench/ that serve in a process of their own, and tell their parent what they paid.
 * The programs import this module too, so it imports nothing else of ours.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';

/** What such a program is asked, and what it answers; first of all, unasked, it tells its port. */
type Question = 'usage' | { body: string };
type Answer = { port: number } | { cpuSeconds: number; residentBytes: number };

interface ForkedServer extends MeasuredServer {
  /** Gives it what it needs to know; resolves when it has understood. */
  tell(question: Question): Promise<void>;
}

/** The program `name` of bench/, for the work of a case. */
export async function withChildServer<T>(
  name: string,
  args: readonly string[],
  work: (server: ForkedServer) => Promise<T>,
): Promise<T> {
  const program = new URL(`../${name}.js`, import.meta.url);
  const child = fork(program, args, { serialization: 'json' });
  const ended = once(child, 'exit');
  const answered = async (): Promise<Answer> => {
    const over = ended.then(([code, signal]) => {
      throw new Error(`bench/${name} ended by ${signal ?? code}; does what it imports load here?`);
    });
    const [message] = await Promise.race([once(child, 'message'), over]);
    return message as Answer;
  };
  const ask = async (question: Question) => {
    child.send(question);
    const answer = await answered();
    if (!('cpuSeconds' in answer)) throw new Error(`bench/${name} did not report its usage`);
    return answer;
  };
  const first = await answered();
  try {
    return await work({
      url: `http://127.0.0.1:${'port' in first ? first.port : 0}`,
      pid: child.pid!,
      cpuSeconds: async () => (await ask('usage')).cpuSeconds,
      residentBytes: async () => (await ask('usage')).residentBytes,
      async tell(question) {
        await ask(question);
      },
      async stop() {},
    });
  } finally {
    child.disconnect();
    await ended;
  }
}

/** The other end: tells the port, then answers; `told` takes what is no question. */
export function answerParent(port: number, told: (question: { body: string }) => void): void {
  const tell = (answer: Answer) => void process.send?.(answer);
  process.on('message', (question: Question) => {
    if (question !== 'usage') told(question);
    const { user, system } = process.cpuUsage();
    tell({ cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage.rss() });
  });
  process.on('disconnect', () => process.exit(0));
  tell({ port });
}

/** A server in a process of its own, whose CPU time and memory can be asked for. */
export interface MeasuredServer {
  url: string;
  pid: number;
  /** CPU time of all its threads so far. */
  cpuSeconds(): Promise<number>;
  /** Resident memory. */
  residentBytes(): Promise<number>;
  stop(): Promise<void>;
}
