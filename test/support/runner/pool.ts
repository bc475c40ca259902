/** Vitest forks that report their file and exit when they end unexpectedly. */
import { ForksPoolWorker, type PoolOptions, type WorkerRequest } from 'vitest/node';

/** Vitest reuses a worker only if its name equals the pool name. */
const name = 'named-forks';

class NamedFork extends ForksPoolWorker {
  override name = name;
  #files: string[] = [];
  #stopping = false;

  override send(message: WorkerRequest): void {
    if (message.type === 'run') this.#files = message.context.files.map(({ filepath }) => filepath);
    super.send(message);
  }

  override async start(): Promise<void> {
    await super.start();
    const ended = (...[code, signal]: (string | number | null)[]) => {
      if (this.#stopping) return;
      const how = signal ?? `code ${code}`;
      const text = `a worker ended by ${how} while it ran ${this.#files.join(', ')}\n`;
      process.stderr.write(text);
      // Repeated at the end, because long logs are often truncated at the start.
      process.once('exit', () => process.stderr.write(text));
    };
    this.on('exit', ended);
  }

  override async stop(): Promise<void> {
    this.#stopping = true;
    await super.stop();
  }
}

export const namedForks = {
  name,
  createPoolWorker: (options: PoolOptions) => new NamedFork(options),
};
