/**
 * Blocks, memes and alliances of a run in the order in which they came, so that an intervention can
 * name one by its number. What an intervention kept from coming has its number all the same.
 */
import type { Event } from '../../../engine/internal.js';
import type { Named } from '../../scenario/schema/interventions/interventions.js';

export class Numbers {
  /** Ids, '' for what was kept out. */
  readonly blocks: string[] = [];
  readonly alliances: string[] = [];
  readonly memes: { id: string; author: string }[] = [];
  readonly #ids = new Set<string>();
  /** Blocks that are finalized. */
  height = 0;

  happened({ type, data }: Event): void {
    if (type === 'block_proposal' && this.#isNew(data.block_hash)) {
      this.blocks.push(data.block_hash);
    } else if (type === 'meme_posted' && this.#isNew(data.meme_id)) {
      this.memes.push({ id: data.meme_id, author: data.creator.id });
    } else if (type === 'alliance_update' && this.#isNew(data.alliance_id)) {
      this.alliances.push(data.alliance_id);
    } else if (type === 'block_status' && data.status === 'finalized') this.height += 1;
  }

  /** The id; undefined for what has not come, or was kept from coming. */
  block = (named: Named): string | undefined => this.#known(named, this.blocks);
  alliance = (named: Named): string | undefined => this.#known(named, this.alliances);
  meme(named: Named): string | undefined {
    if (typeof named === 'number') return this.memes[named]?.id;
    return this.#known(named, []);
  }

  #known(named: Named, list: readonly string[]): string | undefined {
    if (typeof named === 'number') return list[named] || undefined;
    return this.#ids.has(named) ? named : undefined;
  }

  #isNew(id: string): boolean {
    const { size } = this.#ids;
    return this.#ids.add(id).size > size;
  }
}
