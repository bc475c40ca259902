/** Records that follow from the entries, in memory: those that the engine reads again. */
import type { KeptRecords } from '../../dist/engine/replay/recompute.js';

/** What nobody reads while the engine runs takes room for nothing. */
const written = new Set(['agent_states', 'standings', 'state', 'block_numbers', 'network']);

export class Records implements KeptRecords {
  readonly #texts = new Map<string, string>();

  get(table: string, key: unknown): string | undefined {
    return this.#texts.get(name(table, key));
  }

  /** Asked for only where an engine is restored: here each begins at genesis. */
  range(): never {
    throw new Error('records are read one by one here');
  }

  write(_seq: number, changes: readonly { table: string; key: unknown; json: string | null }[]) {
    for (const { table, key, json } of changes) {
      if (written.has(table)) continue;
      if (json === null) this.#texts.delete(name(table, key));
      else this.#texts.set(name(table, key), json);
    }
  }
}

const name = (table: string, key: unknown) => `${table} ${JSON.stringify(key)}`;
