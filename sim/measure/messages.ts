/** Counts messages by kind as they would be on the wire, and the memes that they carry. */
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import { type MessageKind, messageKinds } from '../world/messages.js';
import type { Cause, Traffic } from '../world/observer.js';
import type { Row } from './dictionary.js';
import { share } from './statistics.js';

/** Messages of one kind. Each sent message or copy is either lost or delivered. */
export interface MessageFigures {
  /** Sent messages, without copies. */
  sent: number;
  /** Deliveries, including those after the end: sent + duplicated = delivered + lost. */
  delivered: number;
  lost: number;
  /** Copies made by links. */
  duplicated: number;
  /** Bytes sent, including copies. */
  bytes: number;
}

type Counts = Omit<MessageFigures, 'delivered'>;

export class Messages {
  readonly #counts = Object.fromEntries(
    messageKinds.map((kind) => [kind, { sent: 0, lost: 0, duplicated: 0, bytes: 0 }]),
  ) as Record<MessageKind, Counts>;

  #waits = 0;
  #waitedMs = 0;

  add(kind: MessageKind, what: Traffic, count: number, bytes: number): void {
    const counts = this.#counts[kind];
    counts[what] += count;
    if (what !== 'lost') counts.bytes += count * bytes;
  }

  /** Adds messages that waited for an uplink. */
  wait(count: number, ms: number): void {
    this.#waits += count;
    this.#waitedMs += ms;
  }

  measures(closedBlocks: number) {
    const total = (what: keyof Counts) =>
      messageKinds.reduce((sum, kind) => sum + this.#counts[kind][what], 0);
    const [sent, lost, duplicated] = [total('sent'), total('lost'), total('duplicated')];
    return {
      messages_sent: sent,
      messages_delivered: sent + duplicated - lost,
      messages_lost: lost,
      messages_duplicated: duplicated,
      message_bytes: total('bytes'),
      messages_per_block: share(sent, closedBlocks),
      uplink_wait_mean_ms: share(this.#waitedMs, this.#waits),
    };
  }

  figures(): Record<MessageKind, MessageFigures> {
    const figures = messageKinds.map((kind) => {
      const { sent, lost, duplicated, bytes } = this.#counts[kind];
      return [kind, { sent, delivered: sent + duplicated - lost, lost, duplicated, bytes }];
    });
    return Object.fromEntries(figures) as Record<MessageKind, MessageFigures>;
  }

  *rows(): Iterable<Row<'messages.csv'>> {
    for (const [kind, figures] of Object.entries(this.figures())) yield { kind, ...figures };
  }
}

/** Reach of memes, references to memes, and votes that memes changed. */
export class Memes {
  #heard = 0;
  #references = 0;
  /** Number of counted votes per group for which the decision without memes is known. */
  readonly #known: number[];
  readonly #turned: number[];

  constructor(groups: number) {
    this.#known = Array.from({ length: groups }, () => 0);
    this.#turned = Array.from({ length: groups }, () => 0);
  }

  get references(): number {
    return this.#references;
  }

  add(group: number, decision: Decision, { memes, note }: Cause): void {
    this.#references += memes.length;
    this.#heard += note?.receivedMemes.length ?? 0;
    if (!note || note.withoutMemes === null) return;
    this.#known[group]! += 1;
    if (note.withoutMemes !== decision) this.#turned[group]! += 1;
  }

  meanReach(memes: number): number | null {
    return share(this.#heard, memes);
  }

  get influence(): number | null {
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
    return share(sum(this.#turned), sum(this.#known));
  }

  influenceOn(group: number): number | null {
    return share(this.#turned[group]!, this.#known[group]!);
  }
}
