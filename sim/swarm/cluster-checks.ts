/**
 * Checks of the promises of a cluster, made after each step of a simulated one. The checks know all
 * requests, answers and durable bytes, and share no state with the nodes.
 */

import type { Card } from '../../cluster/order/order.js';
import type { Change, EtcdStore } from '../../cluster/simulated/etcd-store.js';
import type { Views } from '../../engine/node/views.js';
import { decodeEntry, splitStored } from '../../engine/protocol/log.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { RunFailure } from './failures.js';

/** One writer's register: the status of an agent, whose values are the numbers 1, 2, and so on. */
export interface Register {
  /** Last value that the writer has asked for. */
  asked: number;
  /** Last value that was acknowledged, or that a finished read has returned. */
  known: number;
}

/** A request with its answers. */
interface Asked {
  request: SignedRequest;
  /** Number of times it was sent. */
  sent: number;
  isAcknowledged: boolean;
  /** Reason of a refusal that guarantees that the request had no effect. */
  undone: string | null;
}

/** Refusals after which a request that was sent once is in no log. */
const undone = new Set(['NO_QUORUM', 'DISK_FULL', 'QUEUE_FULL', 'CLOCK']);

/** Returns a request's signature, which for votes and proposals is in the body. */
const signatureOf = ({ signature, body }: Pick<SignedRequest, 'signature' | 'body'>): string =>
  signature || (JSON.parse(Buffer.from(body).toString()) as { signature: string }).signature;

export class ClusterChecks {
  failure: RunFailure | null = null;
  /** Digest of each entry, of the first sound node that has it. */
  readonly #digests: string[] = [];
  /** Events by number. */
  readonly #events: string[] = [];
  /** Number of entries with a request's signature. */
  readonly #entries = new Map<string, number>();
  readonly #asked = new Map<string, Asked>();
  readonly registers = new Map<string, Register>();
  /** Values that clients have last read, by client, node and register. */
  readonly #reads = new Map<string, number>();

  fail(kind: RunFailure['kind'], sign: string, message: string): void {
    this.failure ??= { kind, sign, message };
  }

  /** Checks the entries after `from` in a node's log, as the node shows them. */
  applied(node: string, from: number, read: Views, orderedVersion: number): void {
    const { seq, order } = read.position;
    if (order!.version > orderedVersion) {
      const text = `node ${node} shows batch ${order!.version}, but a quorum has ${orderedVersion}`;
      this.fail('safety', 'shown before durable', text);
    }
    for (let at = from + 1; at <= seq; at += 1) {
      const { digest } = read.log.entry(at)!;
      this.told(node, at, digest, 'has');
      if (this.#digests[at] !== undefined) continue;
      this.#digests[at] = digest;
      for (const { bytes } of read.log.entries(at, at)) this.#count(bytes, at);
    }
  }

  /** Checks a digest that a node has told. */
  told(node: string, seq: number, digest: string, how: string): void {
    const known = this.#digests[seq];
    if (known === undefined || known === digest) return;
    const text = `node ${node} ${how} digest ${digest} at entry ${seq}, others have ${known}`;
    this.fail('safety', 'logs differ', text);
  }

  #count(bytes: Uint8Array, seq: number): void {
    const entry = decodeEntry(splitStored(bytes).bytes);
    if (entry.kind === 'tick' || entry.kind === 'genesis') return;
    const signature = signatureOf(entry);
    const count = (this.#entries.get(signature) ?? 0) + 1;
    this.#entries.set(signature, count);
    if (count > 1) this.fail('safety', 'applied twice', `${entry.kind} of entry ${seq} is twice`);
    if (this.#asked.has(signature)) return;
    this.fail('safety', 'never asked', `${entry.kind} of entry ${seq} was never asked for`);
  }

  /** Checks events that a node has published. */
  published(node: string, last: number, events: readonly { seq: number; json: string }[]): void {
    let before = last;
    for (const { seq, json } of events) {
      if (seq !== before + 1) {
        this.fail('safety', 'events', `node ${node} publishes event ${seq} after ${before}`);
      }
      before = seq;
      const known = this.#events[seq];
      if (known !== undefined && known !== json) {
        this.fail('safety', 'events', `node ${node} publishes a different event ${seq}: ${json}`);
      }
      this.#events[seq] = json;
    }
  }

  /** Checks that a card promises only what the node's disk holds. */
  announced(card: Card, storedVersion: number): void {
    this.told(card.node, card.seq, card.digest, 'announces');
    if (card.position.version <= storedVersion) return;
    const claim = `batch ${card.position.version}, its disk has ${storedVersion}`;
    this.fail('safety', 'card before durable', `node ${card.node} announces ${claim}`);
  }

  asks(request: SignedRequest): void {
    const signature = signatureOf(request);
    const asked = this.#asked.get(signature);
    if (asked) asked.sent += 1;
    else this.#asked.set(signature, { request, sent: 1, isAcknowledged: false, undone: null });
  }

  acknowledged(request: SignedRequest): void {
    this.#asked.get(signatureOf(request))!.isAcknowledged = true;
  }

  refused(request: SignedRequest, reason: string): void {
    if (undone.has(reason)) this.#asked.get(signatureOf(request))!.undone = reason;
  }

  /** True if a refusal guarantees that the request had no effect. */
  isUndone(reason: string): boolean {
    return undone.has(reason);
  }

  /** Checks a read that began when `known` was the register's last known value. */
  readLatest(what: string, value: number, known: number): void {
    const register = this.registers.get(what)!;
    if (value < known || value > register.asked) {
      const text = `${what} is ${value}, after ${known} was known and ${register.asked} asked`;
      this.fail('safety', 'not linearizable', text);
    }
    register.known = Math.max(register.known, value);
  }

  /** Checks a read without a barrier, which may lag but never goes back. */
  readAt(client: string, node: string, what: string, value: number): void {
    const key = `${client} ${node} ${what}`;
    const last = this.#reads.get(key) ?? 0;
    if (value < last) {
      this.fail(
        'safety',
        'read goes back',
        `${client} reads ${what} at ${node}: ${last}, ${value}`,
      );
    }
    this.#reads.set(key, value);
  }

  /** Checks the whole history, once all nodes have applied the whole order. */
  end(): void {
    for (const [signature, { request, sent, isAcknowledged, undone: reason }] of this.#asked) {
      const count = this.#entries.get(signature) ?? 0;
      const { kind } = request;
      if (isAcknowledged && count === 0) {
        this.fail('safety', 'lost', `${kind} was acknowledged, and is in no log`);
      }
      if (reason !== null && sent === 1 && count > 0) {
        this.fail('safety', 'done after all', `${kind} was refused with ${reason}, and is done`);
      }
    }
  }

  /** Number of requests, acknowledged requests and entries. */
  get counts() {
    const all = [...this.#asked.values()];
    const acknowledged = all.filter((one) => one.isAcknowledged).length;
    return { asked: all.length, acknowledged, entries: this.#digests.length };
  }
}

/*
 * Checks of the order, as etcd holds it: each batch is put once, by the process that has the node's
 * name, and no node deletes what another still needs. Reads etcd's committed changes.
 */

/** Value of a node's key: the incarnation and the number of its last batch. */
const HOLDER = /^([^:]+):(\d+)$/;
const LENGTH_BYTES = 4;

export class OrderChecks {
  /** Number of batches. */
  version = 0;
  /** Revisions up to which an operator has compacted etcd. */
  readonly compacted = new Set<number>();
  /** Values that another program has written. */
  readonly foreign = new Set<string>();
  readonly #checks: ClusterChecks;
  readonly #prefix: string;
  readonly #announced: (card: Card) => void;
  readonly #stamped: (node: string, stamp: number) => void;
  #revision = 1;
  #compactRevision = -1;
  /** Values of the founding record, oldest first. */
  readonly #founding: string[] = [];
  readonly #holders = new Map<string, string>();
  /** Latest position that a card of each node has claimed. */
  readonly #claimed = new Map<string, number>();

  constructor(
    checks: ClusterChecks,
    network: string,
    told: { announced(card: Card): void; stamped(node: string, stamp: number): void },
  ) {
    this.#checks = checks;
    this.#prefix = `folkmoot/network/${network}/`;
    this.#announced = told.announced;
    this.#stamped = told.stamped;
  }

  /** Checks the changes since the last call. */
  look(store: EtcdStore): void {
    while (this.#revision < store.revision) {
      this.#revision += 1;
      this.#changed(store.changesAt(this.#revision));
    }
    if (store.compactRevision === this.#compactRevision) return;
    this.#compactRevision = store.compactRevision;
    if (this.compacted.has(this.#compactRevision)) return;
    for (const [node, revision] of this.#claimed) {
      if (revision >= this.#compactRevision) continue;
      const text = `nodes deleted the order to ${this.#compactRevision}, ${node} has ${revision}`;
      this.#checks.fail('safety', 'deleted too early', text);
    }
  }

  /** Checks that the founding record is as it was written first. */
  end(): void {
    const [first, last] = [this.#founding[0], this.#founding.at(-1)];
    if (first === last) return;
    this.#checks.fail('liveness', 'founding', `the founding record is ${last}, it was ${first}`);
  }

  #changed(changes: readonly Change[]): void {
    let batch: Change | null = null;
    let taken: Change | null = null;
    for (const change of changes) {
      const name = change.key.toString().slice(this.#prefix.length);
      if (name === 'founding') this.#founding.push(change.value.toString());
      else if (name === 'order') batch = change;
      else if (name.startsWith('node/')) taken = change;
      else if (name.startsWith('card/')) this.#card(change);
    }
    if (batch) this.#appended(batch, taken);
    if (taken) this.#holders.set(taken.key.toString(), taken.value.toString());
  }

  /** A batch takes the number after the last one of the process that has the node's name. */
  #appended({ version, value }: Change, taken: Change | null): void {
    this.version = version;
    if (this.#isForeign(value)) return;
    const [, incarnation, k] = HOLDER.exec(taken?.value.toString() ?? '') ?? [];
    const before = this.#holders.get(taken?.key.toString() ?? '');
    if (k === undefined || before !== `${incarnation}:${Number(k) - 1}`) {
      const text = `batch ${version} is number ${k} of ${incarnation}, after ${before}`;
      this.#checks.fail('safety', 'fence', text);
    }
    const end = LENGTH_BYTES + value.readUInt32BE(0);
    // A batch in parts has its head elsewhere.
    if (end > value.length) return;
    const head = JSON.parse(value.toString('utf8', LENGTH_BYTES, end)) as Record<string, unknown>;
    if (head.incarnation !== incarnation || String(head.k) !== k) {
      const text = `batch ${version} is ${head.incarnation}:${head.k} as ${incarnation}:${k}`;
      this.#checks.fail('safety', 'fence', text);
    }
    this.#stamped(incarnation!, Number(head.stamp));
  }

  #isForeign(value: Buffer): boolean {
    return this.foreign.size > 0 && this.foreign.has(value.toString());
  }

  #card({ key, value }: Change): void {
    const name = key.toString();
    // A node whose card another program has overwritten may need a snapshot.
    if (this.#isForeign(value)) return void this.#claimed.delete(name);
    const card = JSON.parse(value.toString()) as Card;
    const { revision } = card.position;
    this.#claimed.set(name, Math.max(revision, this.#claimed.get(name) ?? 0));
    this.#announced(card);
  }
}
