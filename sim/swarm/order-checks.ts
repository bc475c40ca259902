/**
 * Checks of the order, as etcd holds it: each batch is put once, by the process that has the node's
 * name, and no node deletes what another still needs. Reads etcd's committed changes, and shares no
 * state with the nodes.
 */
import type { Card } from '../../cluster/order/order.js';
import type { Change, EtcdStore } from '../../cluster/simulated/etcd-store.js';
import type { ClusterChecks } from './cluster-checks.js';

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
    if (this.foreign.has(value.toString())) return;
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

  #card({ key, value }: Change): void {
    if (this.foreign.has(value.toString())) return;
    const name = key.toString();
    const card = JSON.parse(value.toString()) as Card;
    const { revision } = card.position;
    this.#claimed.set(name, Math.max(revision, this.#claimed.get(name) ?? 0));
    this.#announced(card);
  }
}
