/**
 * The approvals of one block, signed in threads in the order in which they are sent. Signatures are
 * kept as 64-byte slices; text is made of them only when a vote is sent.
 */
import { type Signers, signatureBytes, signShare } from './signers.js';
import { voteBegin, voteEnd, voteInput } from './texts.js';

export class Ballots {
  readonly #blockHash: string;
  readonly #timestamp: string;
  readonly #begin: string;
  /** The voter whose vote is the first; the others follow in turn. */
  readonly #first: number;
  readonly #voters: number;
  #signatures: Buffer = Buffer.alloc(0);
  #signed = 0;
  #planned = 0;
  /** When the latest was signed. */
  signedAtMs = 0;

  constructor(block: { hash: string; timestamp: string; first: number; voters: number }) {
    this.#blockHash = block.hash;
    this.#timestamp = block.timestamp;
    this.#begin = voteBegin(block.hash, block.timestamp);
    this.#first = block.first;
    this.#voters = block.voters;
  }

  /** Votes of which the signature is there, or under way. */
  get planned(): number {
    return this.#planned;
  }

  /** Signs until so many are there; `onSigned` is called as they come. */
  async sign(signers: Signers, count: number, onSigned: () => void = () => {}): Promise<void> {
    const from = this.#planned;
    const upTo = Math.min(count, this.#voters);
    if (upTo <= from) return;
    this.#planned = upTo;
    const shares: Promise<Uint8Array>[] = [];
    for (let at = from; at < upTo; at += signShare) {
      shares.push(this.#share(signers, at, Math.min(at + signShare, upTo)));
    }
    // Awaited one by one below; a failure of a later one must not be nobody's meanwhile.
    for (const share of shares) share.catch(() => {});
    this.#signatures = Buffer.concat([this.#signatures], upTo * signatureBytes);
    let at = from;
    for (const share of shares) {
      const made = await share;
      this.#signatures.set(made, at * signatureBytes);
      at += made.length / signatureBytes;
      this.#signed = at;
      this.signedAtMs = performance.now();
      onSigned();
    }
  }

  /** Votes that can be sent. */
  get signed(): number {
    return this.#signed;
  }

  /** The voter of the vote with this index. */
  voterAt(index: number): number {
    return (this.#first + index) % this.#voters;
  }

  /** A vote as it is sent, or null when it is not signed yet. */
  bodyAt(index: number): string | null {
    if (index >= this.#signed) return null;
    const at = index * signatureBytes;
    return this.#begin + this.#signatures.toString('hex', at, at + signatureBytes) + voteEnd;
  }

  #share(signers: Signers, from: number, to: number): Promise<Uint8Array> {
    const ordinals = Array.from({ length: to - from }, (_, index) => this.voterAt(from + index));
    const inputs = [voteInput(this.#blockHash, this.#timestamp)];
    return signers.signatures({ ordinals, inputs });
  }
}
