/** The clock of a folder: it stands where its log ends, and there is nothing to pause. */
import type { ClockShown, Control } from '../../../api/contract/control.js';
import type { KeptNetwork } from '../../../engine/internal.js';

export class FolderControl implements Control {
  readonly kind = 'folder';
  readonly can = [] as const;
  readonly #network: KeptNetwork;
  readonly #listeners = new Set<() => void>();

  constructor(network: KeptNetwork) {
    this.#network = network;
  }

  clock(): ClockShown {
    const at = new Date(this.#network.time).toISOString();
    return { holds: 'nothing', paused: false, speed: null, until: null, at };
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
}
