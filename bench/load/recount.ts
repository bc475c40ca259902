/**
 * A recount of a disclosed benchmark, offline, from its files and the log of the server. It checks
 * signature, digests and log, and counts transactions, latencies, duplicates and gaps again. A
 * latency of the log ends at finality, and that of the run when the event arrived.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
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
  findFalseItems,
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
/** Time by which the log may show a longer run: 1 % of late arrivals, and delays of requests. */
const lateMs = (measuredMs: number): number => Math.max(100, 0.01 * measuredMs) + 400;

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

export type ReplayLog = (onStep: (step: ReplayedStep) => void) => Promise<ReplayResult>;

/** @throws {StoreError} if the disclosure or the log cannot be read. */
export async function recount(folder: string, replayLog: ReplayLog): Promise<Recount> {
  const disclosure = readDisclosure(folder);
  const problems = [
    ...signatureProblems(disclosure),
    ...orderProblems(disclosure),
    ...fileProblems(folder, disclosure),
  ];
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
  const results = rounds.map(({ folder: name }) => readLoad(join(folder, name)));
  for (const name of findFalseItems(disclosure, results)) {
    problems.push(`item ${name} does not follow from the results of the rounds`);
  }
  const counted = rounds.map(({ folder: name, log: points }, index) => {
    const result = results[index]!;
    const blocks = readBlocks(join(folder, name, BLOCKS));
    for (const [which, point] of Object.entries(points)) {
      const found = log.points.get(point.seq);
      const same = found?.digest === point.digest && found.log_digest === point.log_digest;
      if (!same)
        problems.push(`${name}: the log has other digests at its ${which}, entry ${point.seq}`);
    }
    problems.push(...blockProblems(result, blocks, log, points).map((text) => `${name}: ${text}`));
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

const ascending = (a: number, b: number) => a - b;

const isFile = (path: string): boolean => statSync(path).isFile();

/** Each round has a folder and a part of the log of its own, so that no figure counts twice. */
const orderProblems = ({ rounds }: Disclosure): string[] =>
  rounds.flatMap(({ folder, log: { begin, end } }, index) => {
    const isNamed = folder === `round-${index + 1}`;
    const isLater = index === 0 || begin.seq >= rounds[index - 1]!.log.end.seq;
    return isNamed && isLater && begin.seq <= end.seq ? [] : [`${folder}: not in order`];
  });

const fileProblems = (folder: string, { rounds }: Disclosure): string[] =>
  rounds.flatMap(({ folder: name, files }) => {
    const uncovered = ['result.json', BLOCKS].filter((file) => !Object.hasOwn(files, file));
    const changed = Object.entries(files).flatMap(([file, digest]) => {
      const path = join(folder, name, file);
      if (!/^[\w.-]+$/.test(file)) return [`${name}: invalid file name: ${file}`];
      if (!existsSync(path)) return [`${name}: file missing: ${file}`];
      return isFile(path) && sha256File(path) === digest ? [] : [`${name}: file changed: ${file}`];
    });
    return [...uncovered.map((file) => `${name}: no digest of ${file}`), ...changed];
  });

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
  /** Entry and time of each proposal. */
  readonly proposed = new Map<string, { seq: number; at: number }>();
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
        this.proposed.set(hash, { seq: entry.seq, at: entry.at });
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

/** Checks that the blocks of a round were proposed in its part of the log, and in its time. */
function blockProblems(
  { measured_s }: LoadResult,
  blocks: readonly RunBlock[],
  log: LogCounts,
  { begin, end }: Disclosure['rounds'][number]['log'],
): string[] {
  const measured = blocks.filter((one) => one.measured);
  const spread = (times: readonly number[]) =>
    times.length > 0 ? Math.max(...times) - Math.min(...times) : 0;
  const measuredMs = 1_000 * measured_s;
  const isLonger = spread(measured.map((one) => one.scheduled_ms)) > measuredMs + 1;
  const proposed = measured.flatMap(({ hash }) => log.proposed.get(hash)?.at ?? []).sort(ascending);
  // The last ones may be late by a stall of the server.
  const punctual = proposed.slice(0, -Math.max(1, Math.ceil(0.01 * proposed.length)));
  const shows = spread(punctual);
  const understates = shows > measuredMs + lateMs(measuredMs);
  return [
    ...(isLonger ? [`blocks are scheduled over more than its ${measured_s} s`] : []),
    ...(understates ? [`measured ${measured_s} s, and ${shows / 1_000} s by the log`] : []),
    ...blocks.flatMap(({ hash, scheduled_ms }) => {
      const { seq, at } = log.proposed.get(hash) ?? { seq: Number.NaN, at: Number.NaN };
      if (!(seq > begin.seq && seq <= end.seq))
        return [`block ${hash} is not of its part of the log`];
      return scheduled_ms <= at + CLOCK_MS
        ? []
        : [`block ${hash} was scheduled after its proposal`];
    }),
  ];
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
  /** The run sees a block later than the log, but for the clocks. */
  const notBelow = (figure: string, one: number | null, other: number | null): Counted => {
    if (one !== null && other !== null && one < other - CLOCK_MS) must(figure, one, other, false);
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
    notBelow('finality p50, ms', finality.p50, at(50)),
    notBelow('finality p99, ms', finality.p99, at(99)),
  ];
}
