/**
 * Makes the certificate of a block by replaying its log: nothing is taken from what was stored, and
 * what is made is checked before it is handed out.
 */
import { isHash } from '../protocol/text.js';
import { lowerAscii } from '../protocol/unicode.js';
import type { LogLine } from '../replay/recompute.js';
import { replay } from '../replay/replay.js';
import { StoreError } from '../store/store.js';
import { checkCertificate } from './check.js';
import { Collector } from './collect.js';
import { CERTIFICATE_BYTES, certificateText } from './format.js';

/** What to certify, and out of which log. */
export interface CertifyOptions {
  /** Ascending from entry 0, as `storedLines` and `fileLines` give them. */
  lines: Iterable<LogLine> | AsyncIterable<LogLine>;
  /** The block's hash. */
  block: string;
  /**
   * Carries the digest chain on to this entry, whose digest the reader trusts. Default: the entry
   * that decided the block.
   */
  through?: number | undefined;
  /** How many characters of results may be added to leave out no entry. Default: 1 MiB. */
  bridgeBytes?: number | undefined;
  /** A larger certificate is not made. Default: 16 MiB. */
  mostBytes?: number | undefined;
  onProgress?: ((seq: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

const BRIDGE_BYTES = 1024 * 1024;

/**
 * The certificate of a block that was finalized or rejected, as text for `checkCertificate`.
 *
 * @throws {StoreError} `MISSING` when the log has no such block, or it was not decided, or the
 * agents of the network sign nothing, or the certificate would be too large; `CORRUPT` when the log
 * does not replay, or a signature in it does not hold.
 * @throws the signal's reason, when it is aborted.
 *
 * @example
 * ```ts
 * import { certify, checkCertificate, openLmdbStore } from 'folkmoot';
 * import { SCHEMA_VERSION, storedLines, tables } from 'folkmoot';
 * import { completeScenario, simulate } from 'folkmoot/sim';
 *
 * const agents = [{ group: 'town', count: 20, producers: 2 }];
 * const scenario = completeScenario({ title: 'Small', agents, length: { blocks: 2 } });
 * await simulate(scenario, { out: 'run' });
 * const folder = { path: 'run/network', tables, schemaVersion: SCHEMA_VERSION };
 * const store = openLmdbStore({ ...folder, readOnly: true });
 * const { block_hash: block } = JSON.parse(store.get('heights', 1) ?? '{}');
 * const lines = storedLines(store, 0, store.meta()?.seq ?? 0);
 * const checked = checkCertificate(await certify({ lines, block }));
 * console.log(checked.holds && checked.claim.status); // finalized
 * await store.close();
 * ```
 */
export async function certify(options: CertifyOptions): Promise<string> {
  const { lines, through, bridgeBytes = BRIDGE_BYTES, mostBytes = CERTIFICATE_BYTES } = options;
  const block = lowerAscii(options.block);
  if (!isHash(block)) throw new StoreError('MISSING', `${block} is no block hash (64 hex digits)`);
  const collector = new Collector({ block, through, bridgeBytes });
  const { onProgress, signal } = options;
  const { first_divergence: divergence, entries } = await replay({
    lines: untilDone(lines, collector, signal),
    onStep: (step) => collector.take(step),
    ...(onProgress ? { onProgress } : {}),
  });
  if (divergence && !collector.done) {
    const { seq, kind, what, expected, found } = divergence;
    const text = `entry ${seq} (${kind}): ${what}: expected ${expected}, found ${found}`;
    throw new StoreError('CORRUPT', `the log does not replay: ${text}`);
  }
  const { problem } = collector;
  if (problem !== null) throw new StoreError('MISSING', problem);
  if (!collector.done) {
    const end = `the log ends at entry ${entries - 1}`;
    throw new StoreError('MISSING', `${end}: it cannot be certified through entry ${through}`);
  }
  const certificate = collector.certificate();
  const { first, links } = certificate.spans.at(-1)!;
  if (through !== undefined && first + links.length <= through) {
    const text = `more than ${bridgeBytes} bytes lie between the end of the block and it`;
    throw new StoreError('MISSING', `it cannot be certified through entry ${through}: ${text}`);
  }
  const text = certificateText(certificate);
  const bytes = Buffer.byteLength(text);
  if (bytes > mostBytes) {
    const most = `at most ${mostBytes} are made`;
    throw new StoreError('MISSING', `the certificate has ${bytes} bytes; ${most}`);
  }
  const checked = checkCertificate(text, { mostBytes });
  if (checked.holds) return text;
  const { where, problem: found } = checked;
  throw new StoreError('CORRUPT', `the log gives no certificate that holds: ${where}: ${found}`);
}

/** What lies beyond the last entry that matters is not read. */
async function* untilDone(
  lines: Iterable<LogLine> | AsyncIterable<LogLine>,
  collector: Collector,
  signal: AbortSignal | undefined,
): AsyncGenerator<LogLine> {
  for await (const line of lines) {
    signal?.throwIfAborted();
    if (collector.done) return;
    yield line;
  }
}
