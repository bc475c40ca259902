/** Generates the rows of a synthetic network: registrations, then votes on successive blocks. */

import { type RowBatch, rowKinds, type Snapshot } from '../../dist/api/view/model.js';
import { applyRowBatch, createEmptySnapshot } from '../../dist/api/view/reducer.js';
import { newRows } from '../../dist/api/view/row-batch.js';

export const kind = (name: (typeof rowKinds)[number]) => rowKinds.indexOf(name);
const personalities = ['chaotic', 'dramatic', 'emotional', 'lawful', 'memetic', 'rational'];
const START_MS = Date.parse('2026-01-01T00:00:00Z');

export interface StoryOptions {
  agents: number;
}

export class Story {
  readonly #options: StoryOptions;
  readonly picture: Snapshot;
  #seed = 1;
  #entry = 0;
  #event = 0;
  #at = START_MS;
  #voters: number[] = [];
  #block = -1;

  constructor(options: StoryOptions) {
    this.#options = options;
    const of = { network_id: 'crowd', epoch: 'one', policy: 'bft', weights: 'equal' };
    this.picture = createEmptySnapshot({ ...of, participation_bps: 5_000 });
  }

  /** Returns the next entries. */
  next(rows: number, stepMs: number): RowBatch {
    const from = this.#entry;
    const columns = newRows(rows);
    const introduced: RowBatch['introduced'] = { agents: [], blocks: [], memes: [], alliances: [] };
    const said: RowBatch['said'] = [];
    const put = (
      row: number,
      name: (typeof rowKinds)[number],
      who: number,
      what = 0,
      value = 0,
    ) => {
      columns.entry[row] = this.#entry - from;
      columns.at[row] = Math.floor(this.#at);
      columns.kind[row] = kind(name);
      columns.who[row] = who;
      columns.what[row] = what;
      columns.value[row] = value;
      if (name !== 'registered') this.#event += 1;
    };
    for (let row = 0; row < rows; row += 1) {
      this.#at += stepMs;
      const registered = this.picture.agents.length + introduced.agents.length;
      if (this.#options.agents === 0) put(row, 'network_metrics', 0);
      else if (registered < this.#options.agents) {
        introduced.agents.push(this.#agent(registered));
        put(row, 'registered', registered);
      } else if (this.#voters.length === 0 && this.#block >= 0 && !this.#closed) {
        this.#closed = true;
        put(row, 'block_status', 0, this.#block, this.#outcome());
      } else if (this.#closed) {
        this.#open(introduced);
        put(row, 'block_proposal', introduced.blocks.at(-1)!.producer, this.#block);
      } else if (this.#chance() < 0.03) {
        const who = Math.floor(this.#chance() * this.#options.agents);
        const text = 'This state diff looks sound to me.';
        put(row, 'consensus_discussion', who, this.#block, 0);
        const at = Math.floor(this.#at);
        const about = { what: this.#block, stance: 'positive', text };
        said.push({ entry: this.#entry, at, who, kind: 'remark', ...about });
      } else if (this.#chance() < 0.02) {
        const who = Math.floor(this.#chance() * this.#options.agents);
        put(row, 'reputation_update', who, 0, Math.floor(this.#chance() * 1_000_000));
      } else {
        const who = this.#voters.pop()!;
        const reject = this.#chance() < 0.12 + 0.3 * ((this.#block * 7) % 5 === 0 ? 1 : 0) ? 1 : 0;
        this.#tally[reject]! += 1;
        put(row, 'block_validation', who, this.#block, 2 + reject);
      }
      this.#entry += 1;
    }
    const span: RowBatch = {
      from,
      to: this.#entry - 1,
      event_seq: this.#event,
      at: Math.floor(this.#at),
      digest: '',
      log_digest: '',
      rows: columns,
      introduced,
      said: said.slice(-50),
      omitted: Math.max(0, said.length - 50),
    };
    applyRowBatch(this.picture, span);
    return span;
  }

  #closed = true;
  #tally: [number, number] = [0, 0];

  #outcome(): number {
    const [, reject] = this.#tally;
    return 3 * reject >= this.#options.agents ? 2 : this.#chance() < 0.1 ? 3 : 1;
  }

  #open({ blocks }: RowBatch['introduced']): void {
    this.#closed = false;
    this.#block += 1;
    this.#tally = [0, 0];
    const { agents } = this.#options;
    this.#voters = Array.from({ length: agents }, (_, number) => number)
      .map((number) => ({ number, key: this.#chance() }))
      .sort((one, other) => one.key - other.key)
      .map(({ number }) => number);
    blocks.push({
      ...{ number: this.#block, hash: String(this.#block).padStart(64, '0') },
      ...{ parent: String(this.#block - 1).padStart(64, '0'), height: this.#block + 1 },
      ...{ producer: Math.floor(this.#chance() * agents), transactions: 3, total: agents },
      ...{ electors: agents, needed: Math.floor((2 * agents) / 3) + 1 },
      ...{ proposed_at: Math.floor(this.#at), deadline: Math.floor(this.#at) + 30_000 },
      entry: this.#entry,
    });
  }

  #agent(number: number) {
    const personality = personalities[number % personalities.length]!;
    return {
      ...{ number, id: `agent_${String(number).padStart(64, '0')}` },
      public_key: String(number).padStart(64, '0'),
      ...{ name: `${personality}-${number}`, personality },
      ...{ validator: number % 50 !== 7, producer: number % 20 === 0 },
    };
  }

  /** Returns the same numbers in every run. */
  #chance(): number {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647;
    return this.#seed / 2_147_483_647;
  }
}
