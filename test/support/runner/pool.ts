/** Vitest's forks, which say what they ran and how they ended when they end by themselves. */
import { ForksPoolWorker, type PoolOptions, type WorkerRequest } from 'vitest/node';

/** Vitest gives a worker another file only if its name is that of the pool. */
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
      // And last of all: of a long output, often only the end is kept.
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
