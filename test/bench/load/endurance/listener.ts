/**
 * A subscriber that uses the client library from the first event on. Counts votes and lost events.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentClient, EventStream } from 'folkmoot/client';
import { clientOf } from '../../../client/helpers.js';
import { everyTopic } from '../../../live/clients/subscriber.js';

/** Allowed time without a further event while behind the server. */
const SILENT_MS = 10_000;

export class Listener {
  readonly client: AgentClient;
  /** Votes received. */
  votes = 0;
  /** Number of events out of order. */
  holes = 0;
  /** Number of the last event. */
  seq = 0;

  private constructor(client: AgentClient) {
    this.client = client;
  }

  /** Opens a listener that never votes, so that blocks do not wait for its vote. */
  static async open(url: string): Promise<Listener> {
    const client = clientOf(url);
    await client.register({ name: 'Listener', personality: 'neutral', capabilities: ['producer'] });
    const listener = new Listener(client);
    const events = client.events(everyTopic, { since: 0 });
    onTestFinished(() => void events.return());
    await events.opened;
    void listener.#listen(events);
    return listener;
  }

  /** Resolves once the listener has received all events so far. @throws if events stop arriving. */
  async caughtUp(): Promise<void> {
    const { event_seq } = await this.client.meta();
    let heard = { seq: this.seq, atMs: performance.now() };
    while (this.seq < event_seq) {
      await sleep(20);
      if (this.seq > heard.seq) heard = { seq: this.seq, atMs: performance.now() };
      else if (performance.now() - heard.atMs > SILENT_MS) {
        throw new Error(`the listener received ${this.seq} of ${event_seq} events, and then none`);
      }
    }
  }

  /** Returns the votes on all blocks, as counted by the server. */
  async heldVotes(): Promise<number> {
    let votes = 0;
    for (let from: { cursor?: string } | null = {}; from !== null; ) {
      const page: Awaited<ReturnType<AgentClient['blocks']>> = await this.client.blocks(from);
      for (const { tally } of page.blocks) votes += tally.approve + tally.reject;
      from = page.next_cursor === null ? null : { cursor: page.next_cursor };
    }
    return votes;
  }

  async #listen(events: EventStream): Promise<void> {
    for await (const { seq, type } of events) {
      if (seq !== this.seq + 1) this.holes += 1;
      this.seq = seq;
      if (type === 'block_validation') this.votes += 1;
    }
  }
}
