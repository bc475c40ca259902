/** Memes of text, no two alike, signed ahead: forms as the interface wants them. */
import { memeInput, sha256Hex } from '../../../engine/protocol/signing.js';
import { isRecord } from '../json.js';
import { signEach } from '../prepare/requests.js';
import { aheadMs, type Supply } from '../prepare/supply.js';
import type { Call } from '../workload.js';
import type { AgentPool } from './agent-pool.js';

interface Meme {
  agent: number;
  timestamp: string;
  headers: Record<string, string>;
  body: string;
  signedAtMs: number;
}

const BOUNDARY = 'folkmoot-load-boundary';
const CAPTION = 'a load run';
const TAG = 'load';

export class Memes {
  readonly #pool: AgentPool;
  readonly #perS: number;
  readonly #supply: Supply<Meme>;
  #made = 0;

  constructor(pool: AgentPool, { perS, onReady }: { perS: number; onReady(): void }) {
    this.#pool = pool;
    this.#perS = perS;
    const make = (count: number, position: number) => this.#make(count, position);
    this.#supply = pool.supply({ make, perS, onReady });
  }

  prepare(): Promise<void> {
    return this.#supply.prepare();
  }

  get ready(): boolean {
    return this.#supply.peek() !== null;
  }

  /** The next, or null until `onReady`. */
  next(): Call | null {
    if (!this.ready) return null;
    const { agent, headers, body, signedAtMs } = this.#supply.take();
    this.#pool.record.used(agent, signedAtMs);
    const target = '/api/v1/social/memes';
    const call = { operation: 'meme', method: 'POST', target, headers, body } as const;
    return { ...call, holds: memeHolds, completed: () => {} };
  }

  async #make(count: number, position: number): Promise<Meme[]> {
    const { agents, now, run, signers } = this.#pool;
    const first = this.#made;
    this.#made += count;
    const nowMs = now();
    const drafts = Array.from({ length: count }, (_, index) => {
      const atMs = nowMs + Math.min(aheadMs, ((position + index) * 1_000) / this.#perS);
      const timestamp = new Date(atMs).toISOString();
      const file = `meme ${first + index} of run ${run}`;
      const form = { caption: CAPTION, content_sha256: sha256Hex(file), tags: [TAG], timestamp };
      const { ordinal: agent, publicKey } = agents[(first + index) % agents.length]!;
      return { agent, publicKey, timestamp, file, input: memeInput(form) };
    });
    const signatures = await signEach(signers, drafts);
    const signedAtMs = performance.now();
    return drafts.map(({ agent, publicKey, timestamp, file }, index) => ({
      agent,
      timestamp,
      signedAtMs,
      headers: {
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'x-agent-public-key': publicKey,
        'x-timestamp': timestamp,
      },
      body: formOf(file, signatures[index]!),
    }));
  }
}

function formOf(file: string, signature: string): string {
  const part = (disposition: string, value: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
  const disposition = 'name="meme_file"; filename="meme.txt"\r\nContent-Type: text/plain';
  return (
    part('name="caption"', CAPTION) +
    part('name="tags"', TAG) +
    part('name="signature"', signature) +
    part(disposition, file) +
    `--${BOUNDARY}--\r\n`
  );
}

/** The interface does not show this answer. */
function memeHolds(data: unknown): boolean {
  return isRecord(data) && data.duplicate !== true;
}
