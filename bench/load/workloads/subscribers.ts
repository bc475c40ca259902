/**
 * Updates that subscribers receive. Each agent subscribes on its own connection, and other agents
 * update their status. Each update must reach each subscriber exactly once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent, AgentPool } from '../agents.js';
import { EventStream, integerAt, readSeq, topics } from '../event-stream.js';
import { forEachLimited } from '../server.js';
import type { Expected, RunContext, Source } from '../workload.js';
import { Drafts } from './drafts.js';

const AT_A_TIME = 128;
const POLL_MS = 20;

/** @param users largest number of updates in flight that the plans need. */
export async function updates(
  pool: AgentPool,
  expected: Expected,
  users: number,
  progress: (line: string) => void,
): Promise<Source> {
  const { context, run } = pool;
  const { agents: count } = context.options;
  // An updater has one update in flight.
  const updaters = Math.max(8, users, Math.min(256, Math.ceil(expected.perS / 5)));
  // Validators that never vote would delay the blocks of other agents.
  const all = await pool.register(count + updaters, () => ['producer']);
  const deliveries = new Deliveries(count, context);
  const mark = `load ${run} `;
  const source = new Drafts(pool, {
    ...{ agents: all.slice(count), expected },
    draft: (number) => ({ do: 'status', reason: mark + number }),
    sent: (number, intendedMs) => deliveries.sent(number, intendedMs),
    completed: (number, { kind }) => deliveries.completed(number, kind === 'accepted'),
  });
  await follow(pool, all.slice(0, count), mark, deliveries);
  progress(`${count} subscribers connected`);
  await source.prepared();
  return {
    next: (intendedMs) => source.next(intendedMs),
    waitsFor: () => source.waitsFor(),
    drain: (signal) => complete(context, deliveries, signal),
  };
}

/** Resolves once all deliveries have arrived, or once missing deliveries are late. */
async function complete(
  { now, options }: RunContext,
  deliveries: Deliveries,
  signal: AbortSignal,
): Promise<void> {
  const lateMs = now() + options.timeoutMs;
  while (!signal.aborted && now() < lateMs && deliveries.waits) await sleep(POLL_MS);
  // After an abort, missing deliveries may still be in flight.
  if (!signal.aborted) deliveries.finish();
}

/** Connects the agents. @param mark prefix of the reasons of updates @throws {Failure} */
async function follow(
  pool: AgentPool,
  agents: readonly Agent[],
  mark: string,
  deliveries: Deliveries,
): Promise<void> {
  const reason = Buffer.from(mark);
  const { nodes } = pool.context;
  await forEachLimited(agents, AT_A_TIME, async (agent, index) => {
    let receive = (_: Buffer) => {};
    const stream = await EventStream.open({
      ...{ nodes, agent: agent.ordinal, auth: () => pool.auth(agent) },
      receive: (text) => receive(text),
      onClosed: () => deliveries.disconnected(index),
      onEpoch: pool.onEpoch,
    });
    pool.atEnd(() => stream.cut());
    await stream.expect(topics);
    // This topic makes event numbers gapless, so that a missing event is detected.
    const numbered = (await stream.subscribe(['outcomes'])) === 'acknowledged';
    receive = (text) => {
      const at = text.indexOf(reason);
      const number = at < 0 ? null : integerAt(text, at + reason.length);
      deliveries.received(index, number, numbered ? readSeq(text) : null);
    };
  });
}

/* Each update is kept until all subscribers have received it, with one bit per subscriber. */

interface Update {
  intendedMs: number;
  /** True once the update's outcome is known. */
  settled: boolean;
  /** True once accepted, or received by a subscriber, so that all must receive it. */
  due: boolean;
  /** Number of subscribers connected when the update was sent. */
  expected: number;
  /** One bit per subscriber, set once it has the update or will not receive it. */
  done: Uint8Array;
  missing: number;
}

interface Subscriber {
  connected: boolean;
  /** Number of the last event; 0 before the first event. */
  seq: number;
  left: number;
}

class Deliveries {
  readonly #now: () => number;
  readonly #record: RunContext['recorder'];
  readonly #subscribers: Subscriber[];
  readonly #updates = new Map<number, Update>();
  #sent = 0;
  /** Scheduled time of the last update. Later problems are counted at this time. */
  #intendedMs: number;

  constructor(subscribers: number, { now, recorder }: RunContext) {
    this.#now = now;
    this.#record = recorder;
    this.#intendedMs = now();
    this.#subscribers = Array.from({ length: subscribers }, () => {
      return { connected: true, seq: 0, left: 0 };
    });
  }

  /** True if an outcome is unknown, or a connected subscriber lacks an update. */
  get waits(): boolean {
    return [...this.#updates.values()].some(({ settled, due }) => !settled || due);
  }

  sent(number: number, intendedMs: number): void {
    const done = new Uint8Array(Math.ceil(this.#subscribers.length / 8));
    const update = { intendedMs, settled: false, due: false, expected: 0, done, missing: 0 };
    this.#subscribers.forEach(({ connected }, index) => {
      if (connected) update.missing += 1;
      else mark(update, index);
    });
    update.expected = update.missing;
    this.#updates.set(number, update);
    this.#intendedMs = intendedMs;
    this.#sent = Math.max(this.#sent, number + 1);
  }

  /** Records an outcome. If one subscriber receives a refused update, all must. */
  completed(number: number, accepted: boolean): void {
    const update = this.#updates.get(number);
    if (!update) return;
    update.settled = true;
    if (accepted) this.#expect(update);
    this.#forget(number, update);
  }

  /** Records that a subscriber received an update, or a different event if `number` is null. */
  received(subscriber: number, number: number | null, seq: number | null): void {
    const inOrder = seq === null || this.#numbered(subscriber, seq);
    if (number === null || number >= this.#sent) return;
    const nowMs = this.#now();
    const update = this.#updates.get(number);
    if (!update || isMarked(update, subscriber)) {
      // Numbers that do not ascend are already counted.
      if (inOrder) this.#record.deliveries({ holes: 1 }, update?.intendedMs ?? this.#intendedMs);
      return;
    }
    // This delivery was counted as missing and now arrives out of order.
    if (!inOrder) this.#subscribers[subscriber]!.left -= 1;
    this.#expect(update);
    mark(update, subscriber);
    this.#record.delivered(nowMs - update.intendedMs, update.intendedMs);
    update.missing -= 1;
    this.#forget(number, update);
  }

  /** Records a closed connection. Its deliveries stay expected, but are not awaited. */
  disconnected(subscriber: number): void {
    this.#subscribers[subscriber]!.connected = false;
    this.#record.deliveries({ disconnects: 1 }, this.#intendedMs);
    for (const [number, update] of this.#updates) {
      if (isMarked(update, subscriber)) continue;
      mark(update, subscriber);
      update.missing -= 1;
      this.#forget(number, update);
    }
  }

  /** Counts missing deliveries, which missing event numbers include. */
  finish(): void {
    const missing = new Uint32Array(this.#subscribers.length);
    for (const update of this.#updates.values()) {
      if (!update.due) continue;
      this.#record.deliveries({ holes: update.missing }, update.intendedMs);
      this.#subscribers.forEach((_, index) => {
        if (!isMarked(update, index)) missing[index]! += 1;
      });
    }
    this.#updates.clear();
    this.#subscribers.forEach(({ left }, index) => {
      const more = left - missing[index]!;
      if (more > 0) this.#record.deliveries({ holes: more }, this.#intendedMs);
    });
  }

  #expect(update: Update): void {
    if (update.due) return;
    update.due = true;
    this.#record.deliveries({ expected: update.expected }, update.intendedMs);
  }

  /** Frees an update that all subscribers have received. */
  #forget(number: number, { due, settled, missing }: Update): void {
    if (missing === 0 && due && settled) this.#updates.delete(number);
  }

  /**
   * Counts gaps and repetitions of event numbers. Returns true if the number is the highest yet.
   */
  #numbered(index: number, seq: number): boolean {
    const subscriber = this.#subscribers[index]!;
    const expected = subscriber.seq === 0 ? seq : subscriber.seq + 1;
    if (seq > expected) subscriber.left += seq - expected;
    else if (seq < expected) this.#record.deliveries({ holes: 1 }, this.#intendedMs);
    subscriber.seq = Math.max(subscriber.seq, seq);
    return seq >= expected;
  }
}

const mark = ({ done }: Update, index: number) => {
  done[index >> 3]! |= 1 << (index & 7);
};

const isMarked = ({ done }: Update, index: number) =>
  ((done[index >> 3]! >> (index & 7)) & 1) === 1;
