/**
 * Programs in bench/ that serve in their own process and report their CPU time to the parent. The
 * programs import this module too, so it must not import other project modules.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * Messages to a child program. The program's first message, sent without a request, is its port.
 */
type Question = 'usage' | { body: string };
type Answer = { port: number } | { cpuSeconds: number };

interface ForkedServer extends MeasuredServer {
  /** Configures the program, and resolves once the configuration is applied. */
  tell(question: Question): Promise<void>;
}

/** Runs the program `name` from bench/ for the duration of `work`. */
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
      throw new Error(
        `bench/${name} ended with ${signal ?? code}; check that its native modules load`,
      );
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
      cpuSeconds: async () => (await ask('usage')).cpuSeconds,
      async tell(question) {
        await ask(question);
      },
    });
  } finally {
    child.disconnect();
    await ended;
  }
}

/**
 * Runs in the child program. Reports the port, then answers each message with the usage so far.
 * `told` receives the messages that configure the program.
 */
export function answerParent(port: number, told: (question: { body: string }) => void): void {
  const tell = (answer: Answer) => void process.send?.(answer);
  process.on('message', (question: Question) => {
    if (question !== 'usage') told(question);
    const { user, system } = process.cpuUsage();
    tell({ cpuSeconds: (user + system) / 1e6 });
  });
  process.on('disconnect', () => process.exit(0));
  tell({ port });
}

/** A server in its own process. */
export interface MeasuredServer {
  url: string;
  cpuSeconds(): Promise<number>;
}
