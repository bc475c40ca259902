/** Reads the end of a server's log until the server dies, and remembers the position. */
import { expect } from 'vitest';
import type { Host } from '../../support/host.js';
import { meta } from './actions.js';
import { Caller, expectCut } from './caller.js';

/** End of a log, as shown by `/api/v1/meta` and a block's votes. */
interface Told {
  seq: number;
  event_seq: number;
  digest: string;
}

/** Number of concurrent readers, each on a separate connection. */
const READERS = 4;

export class Position {
  #furthest: Told = { seq: -1, event_seq: -1, digest: '' };

  /** Reads until the connections are cut. */
  async watch(server: Host): Promise<void> {
    const caller = new Caller(server.url, READERS);
    const readers = Array.from({ length: READERS }, () => this.#read(caller).catch(expectCut));
    await Promise.all(readers);
    caller.close();
  }

  async #read(caller: Caller): Promise<never> {
    for (;;) {
      const told = await meta(caller);
      if (told.seq > this.#furthest.seq) this.#furthest = told;
      if (told.seq === this.#furthest.seq) expect(told.digest).toBe(this.#furthest.digest);
    }
  }

  /** Expects that a restarted server still has everything that was read before. */
  expectKept(now: Told): void {
    const { seq, event_seq, digest } = this.#furthest;
    expect(now.seq).toBeGreaterThanOrEqual(seq);
    expect(now.event_seq).toBeGreaterThanOrEqual(event_seq);
    if (now.seq === seq) expect(now.digest).toBe(digest);
  }
}
