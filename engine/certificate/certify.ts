/**
 * Builds a block's certificate by replaying the log. Uses only recomputed results, and checks the
 * certificate before returning it.
 */
import { isHash, lowerAscii } from '../protocol/text.js';
import type { LogLine } from '../replay/recompute.js';
import { replayError } from '../replay/recompute.js';
import { replay } from '../replay/replay.js';
import { checkCertificate } from './check.js';
import { blockError, Collector } from './collect.js';
import { CERTIFICATE_BYTES, certificateText } from './format.js';

/** Options of {@link certify}. */
export interface CertifyOptions {
  /** Log lines, ascending from entry 0, as returned by `storedLines` and `fileLines`. */
  lines: Iterable<LogLine> | AsyncIterable<LogLine>;
  /** Block hash. */
  block: string;
  /**
   * Extends the digest chain to this entry, for example an entry whose digest the reader trusts.
   * Must not precede the entry that decided the block.
   * Default: the entry that decided the block.
   */
  through?: number | undefined;
  /** Size limit for results added to bridge gaps between entries. Default: 1 MiB. */
  bridgeBytes?: number | undefined;
  /** Size limit for the certificate. Default: 16 MiB. */
  mostBytes?: number | undefined;
  onProgress?: ((seq: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

const BRIDGE_BYTES = 1024 * 1024;

/**
 * Returns the certificate of a finalized or rejected block, as text for `checkCertificate`.
 *
 * @throws {StoreError} `MISSING` if the log does not contain the block, the block is undecided, the
 *   network has no signatures, `through` precedes the end of the block, or the certificate is too
 *   large; `CORRUPT` if replaying the log fails or a signature is invalid.
 * @throws the signal's reason if `signal` is aborted.
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
  if (!isHash(block)) throw blockError('BAD_BLOCK_HASH', { block });
  const collector = new Collector({ block, through, bridgeBytes });
  const { onProgress, signal } = options;
  const { first_divergence: divergence, entries } = await replay({
    lines: untilDone(lines, collector, signal),
    onStep: (step) => collector.take(step),
    ...(onProgress ? { onProgress } : {}),
  });
  if (divergence && !collector.done) {
    const { seq, kind, what, expected, found } = divergence;
    throw replayError('LOG_DIVERGES', { seq, kind, what, expected, found });
  }
  if (collector.problem !== null) throw collector.problem;
  if (!collector.done) {
    throw blockError('CERTIFY_LOG_END', { through: through!, last: entries - 1 });
  }
  if (through !== undefined && through < collector.decidedAt) {
    throw blockError('CERTIFY_TOO_EARLY', { through, decided: collector.decidedAt });
  }
  const certificate = collector.certificate();
  const { first, links } = certificate.spans.at(-1)!;
  if (through !== undefined && first + links.length <= through) {
    throw blockError('CERTIFY_GAP', { through, most: bridgeBytes });
  }
  const text = certificateText(certificate);
  const bytes = Buffer.byteLength(text);
  if (bytes > mostBytes) {
    throw blockError('CERTIFICATE_TOO_LARGE', { bytes, most: mostBytes });
  }
  const checked = checkCertificate(text, { mostBytes });
  if (checked.holds) return text;
  const { where, problem } = checked;
  throw blockError('CERTIFICATE_INVALID', { where, problem });
}

/** Yields lines up to the last entry that the certificate needs. */
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
