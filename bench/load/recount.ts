/**
 * A recount of a disclosed benchmark, offline, from its files and the log of the server. It checks
 * the signature, the digest of each file and the log, and counts finalized transactions, latencies,
 * duplicates and gaps again. The log has the times of the server, so a latency of the recount ends
 * when the server finalized the block, and that of the run when the event arrived.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyFastest } from '../../engine/crypto/keys.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import type { ReplayedStep } from '../../engine/replay/recompute.js';
import type { ReplayResult } from '../../engine/replay/replay.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import {
  BLOCKS,
  DISCLOSURE,
  Disclosure,
  disclosureInput,
  itemNames,
  sha256File,
} from './disclosure.js';
import { readLoad } from './files.js';
import type { RunBlock } from './measurement.js';
import { loadResultError } from './messages.js';
import { newHistogram, percentile, record } from './percentiles.js';
import type { LoadResult } from './result.js';

/** A figure of the run beside that of the recount. */
interface Counted {
  figure: string;
  claimed: number | null;
  recounted: number | null;
}

export interface Recount {
  attested_by: string;
  rounds: { folder: string; figures: Counted[] }[];
  /** Reasons for which the disclosure is refused. */
  problems: string[];
}

/** Largest difference between the clocks of generator and server, in milliseconds. */
const CLOCK_MS = 1_000;

const problemOf = validator('load_disclosure', Disclosure);

/** @throws {StoreError} `LOAD_RESULT_INVALID` if the file is not a disclosure. */
function readDisclosure(folder: string): Disclosure {
  const path = join(folder, DISCLOSURE);
  if (!existsSync(path)) throw loadResultError('LOAD_RESULT_NOT_FOUND', { path });
  let value: unknown;
  try {
    value = parseUnique(readBounded(path, fileBounds.result).toString('utf8'));
  } catch (error) {
    throw loadResultError('LOAD_RESULT_INVALID', { path, reason: (error as Error).message });
  }
  const problem = problemOf(value);
  if (!problem) return value as Disclosure;
  const reason = `${problem.pointer || 'it'} ${problem.message}`;
  throw loadResultError('LOAD_RESULT_INVALID', { path, reason });
}

/** Replays the log, and calls `onStep` for each entry. */
export type ReplayLog = (onStep: (step: ReplayedStep) => void) => Promise<ReplayResult>;

/** @throws {StoreError} if the disclosure or the log cannot be read. */
export async function recount(folder: string, replayLog: ReplayLog): Promise<Recount> {
  const disclosure = readDisclosure(folder);
  const problems = [...signatureProblems(disclosure), ...fileProblems(folder, disclosure)];
  const { attested_by, rounds } = disclosure;
  // Figures of changed files mean nothing.
  if (problems.length > 0) return { attested_by, rounds: [], problems };
  const log = new LogCounts(rounds.flatMap(({ log: { begin, end } }) => [begin.seq, end.seq]));
  const replayed = await replayLog((step) => log.take(step));
  if (!replayed.match) {
    const at = replayed.first_divergence?.seq ?? replayed.entries;
    return {
      attested_by,
      rounds: [],
      problems: [`the log does not follow from its entries: ${at}`],
    };
  }
  const counted = rounds.map(({ folder: name, log: points }) => {
    const result = readLoad(join(folder, name));
    const blocks = readBlocks(join(folder, name, BLOCKS));
    for (const [which, point] of Object.entries(points)) {
      const found = log.points.get(point.seq);
      const same = found?.digest === point.digest && found.log_digest === point.log_digest;
      if (!same)
        problems.push(`${name}: the log has other digests at its ${which}, entry ${point.seq}`);
    }
    const figures = figuresOf(result, blocks, log, problems, name);
    return { folder: name, figures };
  });
  return { attested_by, rounds: counted, problems };
}

function signatureProblems(disclosure: Disclosure): string[] {
  const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
  const isValid = verifyFastest({
    publicKey: bytes(disclosure.attested_by),
    message: disclosureInput(disclosure),
    signature: bytes(disclosure.signature),
  });
  const missing = itemNames.filter((name) => !Object.hasOwn(disclosure.items, name));
  return [
    ...(isValid ? [] : [`the signature is not that of ${disclosure.attested_by}`]),
    ...missing.map((name) => `item missing: ${name}`),
  ];
}

const fileProblems = (folder: string, { rounds }: Disclosure): string[] =>
  rounds.flatMap(({ folder: name, files }) =>
    Object.entries(files).flatMap(([file, digest]) => {
      const path = join(folder, name, file);
      if (!/^[\w.-]+$/.test(file)) return [`${name}: invalid file name: ${file}`];
      if (!existsSync(path)) return [`${name}: file missing: ${file}`];
      return sha256File(path) === digest ? [] : [`${name}: file changed: ${file}`];
    }),
  );

/** Reads the blocks of a run. Its digest was checked, so it is as the run wrote it. */
function readBlocks(path: string): RunBlock[] {
  const [, ...lines] = readFileSync(path, 'utf8').trimEnd().split(/\r?\n/);
  return lines.map((line) => {
    const [hash = '', transactions, measured, scheduled, final = ''] = line.split(',');
    return {
      ...{ hash, transactions: Number(transactions), measured: measured === '1' },
      scheduled_ms: Number(scheduled),
      final_ms: final === '' ? null : Number(final),
    };
  });
}

/** Counts of the log: finalized blocks, their transactions and votes. */
class LogCounts {
  readonly points = new Map<number, { digest: string; log_digest: string }>();
  readonly finalMs = new Map<string, number>();
  readonly votes = new Map<string, number>();
  readonly #transactions = new Map<string, readonly string[]>();
  readonly #wanted: ReadonlySet<number>;

  constructor(wanted: readonly number[]) {
    this.#wanted = new Set(wanted);
  }

  take({ entry, events, digest, log_digest }: ReplayedStep): void {
    if (this.#wanted.has(entry.seq)) this.points.set(entry.seq, { digest, log_digest });
    for (const { json } of events) {
      if (!/"type":"block_(?:status|validation|proposal)"/.test(json)) continue;
      const { type, data } = JSON.parse(json) as { type: string; data: Record<string, unknown> };
      const hash = String(data.block_hash);
      if (type === 'block_proposal') {
        const { transactions = [] } = JSON.parse(Buffer.from(entry.body).toString()) as {
          transactions?: { hash: string }[];
        };
        this.#transactions.set(
          hash,
          transactions.map((one) => one.hash),
        );
      } else if (type === 'block_validation') {
        this.votes.set(hash, (this.votes.get(hash) ?? 0) + 1);
      } else if (data.status === 'finalized') this.finalMs.set(hash, entry.at);
    }
  }

  transactionsOf(hash: string): readonly string[] {
    return this.#transactions.get(hash) ?? [];
  }
}

/** Counts a round again, and adds a problem for each contradiction. */
function figuresOf(
  result: LoadResult,
  blocks: readonly RunBlock[],
  log: LogCounts,
  problems: string[],
  name: string,
): Counted[] {
  const { transactions: claimed, operations, asked, measured_s, finality } = result;
  const measured = blocks.filter((one) => one.measured);
  const counted = { final: 0, late: 0, unseen: 0, duplicates: 0, gaps: 0, votes: 0 };
  const seen = new Set<string>();
  const latency = newHistogram();
  for (const { hash, transactions, scheduled_ms, final_ms, measured: isMeasured } of blocks) {
    const known = log.transactionsOf(hash);
    const atMs = log.finalMs.get(hash);
    counted.votes += log.votes.get(hash) ?? 0;
    if (known.length !== transactions) counted.gaps += Math.abs(transactions - known.length);
    if (atMs === undefined) {
      if (final_ms !== null) problems.push(`${name}: block ${hash} is not final in the log`);
      continue;
    }
    for (const one of known) {
      if (seen.has(one)) counted.duplicates += 1;
      seen.add(one);
    }
    if (!isMeasured) continue;
    if (final_ms === null) counted.unseen += known.length;
    else if (final_ms - scheduled_ms > asked.finality_timeout_ms) counted.late += known.length;
    else {
      counted.final += known.length;
      for (const _ of known) record(latency, atMs - scheduled_ms);
      if (final_ms < atMs - CLOCK_MS)
        problems.push(`${name}: block ${hash} was seen before it was final`);
    }
  }
  const proposed = measured.reduce((sum, { transactions }) => sum + transactions, 0);
  const accepted = operations
    .filter(({ operation }) => operation.startsWith('vote'))
    .reduce((sum, one) => sum + one.accepted, 0);
  const must = (figure: string, one: number, other: number, holds = one === other): Counted => {
    if (!holds) problems.push(`${name}: ${figure} is ${one}, and ${other} by the log`);
    return { figure, claimed: one, recounted: other };
  };
  const tps = measured_s > 0 ? counted.final / measured_s : 0;
  const at = (percent: number) => percentile(latency, percent);
  return [
    must('finalized', claimed.finalized, counted.final),
    must('tps', claimed.tps, tps),
    must('accepted transactions', claimed.accepted, proposed, claimed.accepted <= proposed),
    must('votes on the blocks', accepted, counted.votes, accepted <= counted.votes),
    must('duplicates', 0, counted.duplicates),
    must('gaps', 0, counted.gaps),
    { figure: 'final, not seen by the run', claimed: null, recounted: counted.unseen },
    { figure: 'finality p50, ms', claimed: finality.p50, recounted: at(50) },
    { figure: 'finality p99, ms', claimed: finality.p99, recounted: at(99) },
  ];
}
