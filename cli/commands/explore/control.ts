/** The clock of a folder: it stands where its log ends, and there is nothing to pause. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ClockShown, Control } from '../../../api/contract/control.js';
import type { KeptNetwork } from '../../../engine/internal.js';

/** How often it is looked whether the run that another process makes is over. */
const LOOK_MS = 1_000;

export class FolderControl implements Control {
  readonly kind = 'folder';
  readonly can = [] as const;
  readonly #network: KeptNetwork;
  /** What a run leaves last. */
  readonly #result: string;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners = new Set<() => void>();
  #over = false;

  /** It never holds the process. */
  constructor(network: KeptNetwork, folder: string) {
    this.#network = network;
    this.#result = join(folder, 'summary.json');
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
    this.#look();
  }

  clock(): ClockShown {
    const at = new Date(this.#network.time).toISOString();
    return { holds: 'nothing', paused: false, speed: null, until: null, at, over: this.#over };
  }

  get lost(): string | null {
    return this.#network.lost;
  }

  /** To be called when the folder is lost: whoever looks on is told. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  async do(): Promise<null> {
    return null;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Looks no more. */
  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (!existsSync(this.#result)) return;
    this.#over = true;
    this.close();
    this.changed();
  }
}
