/** Verifies the signatures in a load run, and finds repeated messages. */
import type { VerifyJob } from 'folkmoot';
import {
  authInput,
  httpInput,
  memeInput,
  proposalInput,
  sha256Hex,
  transactionInput,
  voteInput,
} from 'folkmoot/signing';
import type { Route } from './behaviour.js';
import type { Form } from './form.js';
import type { Fields } from './network.js';
import { nowMs, type Record } from './record.js';

/** A received request. */
export interface Signed {
  route: Route;
  method: string;
  target: string;
  headers: { [name: string]: string };
  raw: Buffer;
  body: Fields;
  form: Form | null;
}

type Verify = (job: VerifyJob) => boolean;

/** Allowed difference between a timestamp and the server clock. */
const FRESH_MS = 300_000;

export class Checker {
  readonly #verified: Verify;
  readonly #record: Record;
  readonly #networkId: string;
  readonly #inputs = new Set<string>();
  readonly #keys = new Set<string>();

  private constructor(verified: Verify, record: Record, networkId: string) {
    this.#verified = verified;
    this.#record = record;
    this.#networkId = networkId;
  }

  /** Loads the engine on demand, because a server that checks nothing starts without the engine. */
  static async open(record: Record, networkId: string): Promise<Checker> {
    const { verifyWithLibsodium } = await import('folkmoot/testing');
    return new Checker(verifyWithLibsodium!, record, networkId);
  }

  request(request: Signed): void {
    const { route, headers, body, form } = request;
    const key = headers['x-agent-public-key'] ?? String(body.public_key);
    const signature = form ? form.signature : String(body.signature ?? '');
    if (route === 'vote' || route === 'propose') {
      const input = route === 'vote' ? voteInput(body) : proposalInput(body);
      this.#one(route, key, input, signature, String(body.timestamp));
    }
    if (route === 'propose') this.#transactions(key, body.transactions as Fields[]);
    const timestamp = headers['x-timestamp'] ?? '';
    if (route === 'meme' && form) {
      const { caption, tags, file } = form;
      const input = memeInput({ caption, tags, content_sha256: sha256Hex(file), timestamp });
      this.#one(route, key, input, signature, timestamp);
    }
    if (route === 'status' || route === 'register') {
      const { method, target } = request;
      const input = httpInput({ method, target, timestamp, bodySha256: sha256Hex(request.raw) });
      this.#one(route, key, input, headers['x-agent-signature'] ?? '', timestamp);
    }
  }

  auth(message: Fields): void {
    const { public_key, timestamp, signature } = message as { [name: string]: string };
    const input = authInput(public_key!, timestamp!);
    // An agent may open several connections within a millisecond, so the signed text may repeat.
    this.#verify('auth', public_key!, input, signature!);
    this.#fresh('auth', timestamp!);
  }

  #transactions(producer: string, transactions: readonly Fields[]): void {
    for (const { hash, data, sender, signature } of transactions) {
      if (sha256Hex(String(data)) !== hash) this.#wrong(`a transaction's hash is not its data's`);
      const key = String(sender ?? producer);
      const input = transactionInput(this.#networkId, String(hash));
      this.#once('transaction', key, input);
      this.#verify('transaction', key, input, String(signature));
    }
  }

  #one(kind: string, key: string, input: string, signature: string, timestamp: string): void {
    this.#once(kind, key, input);
    this.#verify(kind, key, input, signature);
    this.#fresh(kind, timestamp);
  }

  #once(kind: string, key: string, input: string): void {
    const text = `${key}\n${input}`;
    if (this.#inputs.has(text)) this.#wrong(`a ${kind} came twice: ${input}`);
    this.#inputs.add(text);
  }

  #verify(kind: string, key: string, input: string, signature: string): void {
    this.#record.signatures += 1;
    this.#keys.add(key);
    this.#record.keys = this.#keys.size;
    const job = {
      publicKey: Buffer.from(key, 'hex'),
      message: Buffer.from(input),
      signature: Buffer.from(signature, 'hex'),
    };
    const whole = job.publicKey.length === 32 && job.signature.length === 64;
    if (!whole) return this.#wrong(`a ${kind} without a whole key and signature`);
    if (!this.#verified(job)) this.#wrong(`a ${kind} whose signature does not fit: ${input}`);
  }

  #fresh(kind: string, timestamp: string): void {
    const age = Math.abs(nowMs() - Date.parse(timestamp));
    if (!(age < FRESH_MS)) this.#wrong(`a ${kind} whose timestamp is ${timestamp}`);
  }

  #wrong(text: string): void {
    // The number is limited, because a broken run would report the same problem thousands of times.
    if (this.#record.wrong.length < 20) this.#record.wrong.push(text);
  }
}
