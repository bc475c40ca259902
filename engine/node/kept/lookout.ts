/** Looks at a folder again and again, and notices when it is no longer the one that was opened. */
import { statSync } from 'node:fs';
import { join } from 'node:path';

export class Lookout {
  readonly #file: string;
  readonly #opened: number;
  readonly #timer: NodeJS.Timeout;
  readonly #look: () => void;
  readonly #onLost: (why: string) => void;
  /** What the last look found. A folder may be between two names: only what lasts is told. */
  #found: string | null = null;
  /** Why it is looked at no more, or null. */
  lost: string | null = null;

  /** `look` may throw: then what is there cannot be read. It never holds the process. */
  constructor(folder: string, everyMs: number, look: () => void, onLost: (why: string) => void) {
    this.#file = join(folder, 'data.mdb');
    this.#opened = statSync(this.#file).ino;
    this.#look = look;
    this.#onLost = onLost;
    this.#timer = setInterval(() => this.#watch(folder), everyMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #watch(folder: string): void {
    const why = this.#problem();
    const lasts = why === this.#found;
    this.#found = why;
    if (why === null || !lasts) return;
    this.close();
    this.lost = `${folder} ${why}: what was read before is still shown, and nothing new`;
    this.#onLost(this.lost);
  }

  #problem(): string | null {
    try {
      const now = statSync(this.#file, { throwIfNoEntry: false });
      if (!now) return 'was deleted';
      if (now.ino !== this.#opened) return 'was replaced by another';
      this.#look();
      return null;
    } catch (error) {
      return `cannot be read any more (${(error as Error).message})`;
    }
  }
}
