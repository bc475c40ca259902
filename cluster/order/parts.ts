/**
 * Batches that are larger than etcd takes at a time: they are put aside in parts, and the batch in
 * the order refers to these. A key beside them is written with the batch, and so has its revision.
 */
import { createHash } from 'node:crypto';
import { Type, Value } from '../../engine/internal.js';
import type { Condition, EtcdClient, Operation } from '../etcd/index.js';
import { jsonIn, UnreadableBatch } from './encode.js';

/** Etcd refuses more than 1.5 MiB. */
const PART_BYTES = 1024 * 1024;
/** In place of the length of a batch's head: what follows says where its parts are. */
const IN_PARTS = Buffer.from('ffffffff', 'hex');

/** Where the parts of a batch are; the largest batch has a few. */
const Reference = Type.Object({
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  parts: Type.Integer({ minimum: 1, maximum: 64 }),
});

/** A value for the order, and what must hold, and be written, where it is put. */
interface PutAside {
  value: Buffer;
  holds: Condition[];
  refer: Operation[];
}

export class Parts {
  readonly #client: EtcdClient;
  readonly #prefix: string;

  constructor(client: EtcdClient, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  /** Parts go first; the same again is the same. */
  async putAside(bytes: Buffer): Promise<PutAside> {
    if (bytes.length <= PART_BYTES) return { value: bytes, holds: [], refer: [] };
    const sha256 = sha256Of(bytes);
    const holds: Condition[] = [];
    for (let from = 0; from < bytes.length; from += PART_BYTES) {
      const key = this.#partKey(sha256, holds.length);
      const modRevision = await this.#client.put(key, bytes.subarray(from, from + PART_BYTES));
      // Where the batch is put, its parts are as they were put: all nodes read them as of then.
      holds.push({ key, is: '=', modRevision });
    }
    const reference = Buffer.from(JSON.stringify({ sha256, parts: holds.length }));
    return {
      value: Buffer.concat([IN_PARTS, reference]),
      holds,
      refer: [{ put: this.#refKey(sha256), value: '' }],
    };
  }

  /**
   * The bytes of the batch that a value of the order is or refers to, as of its revision: they are
   * the same at every node, whatever is written to the keys of its parts later.
   *
   * @throws {UnreadableBatch}
   * @throws {EtcdError} `compacted` where that revision is not kept any more.
   */
  async together(value: Buffer, revision: number): Promise<Buffer> {
    if (!IN_PARTS.equals(value.subarray(0, IN_PARTS.length))) return value;
    const reference = jsonIn(value.toString('utf8', IN_PARTS.length));
    if (!Value.Check(Reference, reference)) {
      throw new UnreadableBatch('it does not say where its parts are');
    }
    const { sha256, parts } = reference;
    const found: Buffer[] = [];
    for (let part = 0; part < parts; part += 1) {
      const [stored] = (await this.#client.range(this.#partKey(sha256, part), { revision })).values;
      if (!stored) throw new UnreadableBatch(`its part ${part} was not there when it was written`);
      found.push(stored.value);
    }
    const bytes = Buffer.concat(found);
    if (sha256Of(bytes) === sha256) return bytes;
    throw new UnreadableBatch('its parts are not those that were put aside');
  }

  /** Deletes the parts of batches up to a revision, and those that no batch came to refer to. */
  async clear(revision: number): Promise<void> {
    const { values } = await this.#client.range(this.#partsOf(''), { keysOnly: true });
    const hashes = new Set(values.map(({ key }) => key.split('/').at(-2)!));
    for (const sha256 of hashes) {
      const ref = this.#refKey(sha256);
      const found = await this.#client.get(ref);
      if (found && found.modRevision > revision) continue;
      // A batch may come to refer to them meanwhile.
      await this.#client.transact({
        if: [{ key: ref, is: '=', modRevision: found?.modRevision ?? 0 }],
        do: [{ delete: this.#partsOf(`${sha256}/`) }, { delete: ref }],
      });
    }
  }

  #partsOf(sha256: string): { prefix: string } {
    return { prefix: `${this.#prefix}part/${sha256}` };
  }

  #partKey(sha256: string, part: number): string {
    return `${this.#prefix}part/${sha256}/${part}`;
  }

  #refKey(sha256: string): string {
    return `${this.#prefix}parted/${sha256}`;
  }
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
