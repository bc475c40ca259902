/**
 * A disclosed benchmark: fourteen items with which a reader judges and repeats it. The signature
 * covers the items, the digests of the files, and those of the server's log around each repetition.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, type as systemType, totalmem } from 'node:os';
import { join } from 'node:path';
import { type KeyPair, sign } from '../../engine/crypto/keys.js';
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../engine/protocol/canonical.js';
import { prepareFolder, writeWhole } from '../../report/folder.js';
import { CsvFile } from '../../report/tables.js';
import { computeStatistics, Sample } from '../../sim/sweep/statistics.js';
import { fileNames, writeLoad } from './files.js';
import type { RunBlock } from './measurement.js';
import { loadError } from './messages.js';
import type { LoadOptions } from './options.js';
import type { LoadResult } from './result.js';
import { type LoadHooks, runLoad } from './run.js';
import { isRecord, readMeta } from './server.js';

export const DISCLOSURE = 'disclosure.json';
export const BLOCKS = 'blocks.csv';
const blockColumns = ['hash', 'transactions', 'measured', 'scheduled_ms', 'final_ms'];

const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });

const LogPoint = Type.Object(
  { seq: Type.Integer({ minimum: 0 }), digest: Digest, log_digest: Digest },
  { additionalProperties: false },
);
type LogPoint = Static<typeof LogPoint>;

export const Disclosure = Type.Object(
  {
    format: Type.Literal('folkmoot-disclosure-1'),
    items: Type.Record(Type.String(), Type.Unknown()),
    rounds: Type.Array(
      Type.Object(
        {
          folder: Type.String({ pattern: '^round-[1-9][0-9]{0,2}$' }),
          files: Type.Record(Type.String(), Digest),
          log: Type.Object({ begin: LogPoint, end: LogPoint }, { additionalProperties: false }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 100 },
    ),
    attested_by: Digest,
    signature: Type.String({ pattern: '^[0-9a-f]{128}$' }),
  },
  { additionalProperties: false, $id: 'folkmoot-disclosure-1' },
);
export type Disclosure = Static<typeof Disclosure>;

/** One repetition. */
interface Round {
  result: LoadResult;
  blocks: readonly RunBlock[];
  begin: LogPoint;
  end: LogPoint;
}

/** Everything that the items describe. */
interface Material {
  rounds: readonly Round[];
  command: readonly string[];
  /** Configuration files by path. */
  configuration: Readonly<Record<string, string>>;
  /** Deviations from the defaults of a run, in words. */
  deviations: readonly string[];
  meta: Readonly<Record<string, unknown>>;
  attestedBy: string;
}

/** Mean with a 95 % interval over the repetitions. */
function overRounds(values: readonly number[]) {
  const { mean, low, high, sd } = computeStatistics(Sample.of([...values]), 't_skew');
  return { values, mean, sd, low: low ?? mean, high: high ?? mean };
}

const scheduled = ({ operations }: LoadResult) =>
  operations.filter(({ operation }) => !operation.endsWith('(beside)'));
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
const short = ({ histogram: _, ...rest }: LoadResult['finality']) => rest;

/** The items, each from the material. Their names are their titles in a report. */
const items: Record<string, (all: Material, results: readonly LoadResult[]) => unknown> = {
  '1 verdict': (_, results) => results.map(({ verdict, reasons }) => ({ verdict, reasons })),
  '2 what counts': () => ({
    transaction: 'signed data in a proposed block, counted once',
    final: 'the event stream of the server showed the block as finalized before the deadline',
    observer: 'the load generator, over an authenticated connection',
  }),
  '3 rates': (_, results) => ({
    offered_per_s: overRounds(results.map((one) => one.arrivals.intended / one.measured_s)),
    sent_per_s: overRounds(
      results.map((one) => sum(scheduled(one).map(({ sent }) => sent)) / one.measured_s),
    ),
    accepted_per_s: overRounds(results.map(({ arrivals }) => arrivals.accepted_per_s)),
    final_per_s: overRounds(results.map(({ transactions }) => transactions.tps)),
    interval: '95 %, over the repetitions',
  }),
  '4 latency': (_, results) => ({
    counted_from: 'the scheduled time',
    rounds: results.map((one) => ({
      finality: short(one.finality),
      response: Object.fromEntries(
        scheduled(one).map(({ operation, response }) => [operation, short(response)]),
      ),
    })),
    histograms: 'histograms.hlog of each round',
  }),
  '5 steady state': (_, results) => ({
    warmup_s: results.map(({ asked }) => asked.warmup_s),
    measured_s: results.map(({ measured_s }) => measured_s),
    judged: results.every(({ arrivals }) => arrivals.halves.length > 0)
      ? 'the halves accept the same within a tenth, and their medians differ by less than two'
      : 'not judged: the plan is not steady, or a round ended early',
    halves: results.map(({ arrivals }) => arrivals.halves),
  }),
  '6 load over time': (_, results) => ({
    scenarios:
      results[0]!.scenarios?.map(({ name, executor, mix }) => ({ name, executor, mix })) ??
      results[0]!.asked,
    saturation: results[0]!.saturation ?? 'not searched; see folkmoot load --saturate',
    curve: 'seconds.csv of each round',
  }),
  '7 generator': (_, results) =>
    results.map(({ generator, arrivals, shard }) => ({
      ...{ lag: short(generator.lag), utilization: generator.utilization },
      dropped: arrivals.intended - arrivals.accepted,
      ...{ waits: arrivals.held, clock_offset_ms: shard?.clock_offset_ms ?? null },
    })),
  '8 system': ({ configuration, meta }, results) => ({
    generator: {
      cpu: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
      ...{ memory_bytes: totalmem(), kernel: `${systemType()} ${release()}` },
      ...{ node: process.version, commit: results[0]!.commit },
    },
    server: meta,
    configuration,
    seed: results.map(({ seed }) => seed),
  }),
  '9 durability': ({ meta }, results) => ({
    durable: results[0]!.server.durable,
    signatures: meta.signatures ?? 'verified',
    replicas: results[0]!.nodes?.map(({ url }) => url) ?? [results[0]!.server.url],
  }),
  '10 errors': (_, results) =>
    results.map(({ operations }) =>
      operations.map(({ response: _r, service: _s, ...counts }) => counts),
    ),
  '11 faults': (_, results) =>
    results.map(({ faults, outages }) => faults ?? outages ?? 'no faults were injected'),
  '12 resources': ({ rounds }) => ({
    generator: process.resourceUsage(),
    log_entries: rounds.map(({ begin, end }) => end.seq - begin.seq),
    cost_per_million_final: 'not stated',
  }),
  '13 repeat': ({ command }) => ({
    command: ['folkmoot', ...command].join(' '),
    recount: 'folkmoot load recount FOLDER DATA',
    raw_data: 'the files of each round, with their digests in rounds[].files',
  }),
  '14 deviations': ({ deviations, attestedBy }) => ({
    deviations: deviations.length > 0 ? deviations : 'none stated',
    attested_by: attestedBy,
  }),
};

export const itemNames = Object.keys(items);

/** Items that follow from the results of the rounds alone. */
const derived = ['1 verdict', '3 rates', '4 latency', '5 steady state', '7 generator', '10 errors'];

/** Returns the names of the items that do not follow from the results. */
export function findFalseItems(
  { items: claimed }: Disclosure,
  results: readonly LoadResult[],
): string[] {
  const made = (name: string): unknown =>
    JSON.parse(JSON.stringify(items[name]!({} as Material, results)));
  return derived.filter((name) => canonical(made(name)) !== canonical(claimed[name]));
}

/** Returns the text that the signature covers. */
export const disclosureInput = ({ signature: _, ...rest }: Disclosure): Buffer =>
  Buffer.from(`folkmoot-load-disclosure\n${canonical(rest)}`);

export const sha256File = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');

/** Reads the end of the log of a server. @throws {Failure} `NO_DIGESTS` */
async function readLogPoint(url: string): Promise<LogPoint> {
  const { seq, digest, log_digest } = await readMeta(url);
  if (!Number.isInteger(seq) || typeof digest !== 'string') throw loadError('NO_DIGESTS', { url });
  return { seq, digest, log_digest } as LogPoint;
}

/** Creates the folder before the first round. @throws {StoreError} if it holds a run. */
export const prepareDisclosure = (folder: string): Promise<void> =>
  prepareFolder(folder, [DISCLOSURE]);

/** Writes all rounds, and then the signed disclosure. */
export async function writeDisclosure(
  folder: string,
  material: Omit<Material, 'attestedBy'>,
  keys: KeyPair,
): Promise<void> {
  const rounds = await Promise.all(
    material.rounds.map(async ({ result, blocks, begin, end }, index) => {
      const name = `round-${index + 1}`;
      const path = join(folder, name);
      await writeLoad(result, path);
      new CsvFile(path, BLOCKS, blockColumns).finishWith(
        blocks.map((block) => ({ ...block, measured: block.measured ? 1 : 0 })),
      );
      const files = [...fileNames, BLOCKS].filter((file) => existsSync(join(path, file)));
      const digests = files.map((file) => [file, sha256File(join(path, file))]);
      return { folder: name, files: Object.fromEntries(digests), log: { begin, end } };
    }),
  );
  const results = material.rounds.map(({ result }) => result);
  const whole = { ...material, attestedBy: keys.publicKeyHex };
  const made = Object.entries(items).map(([name, make]) => [name, make(whole, results)]);
  // Undefined members would change with the encoding.
  const unsigned = JSON.parse(
    JSON.stringify({
      format: 'folkmoot-disclosure-1',
      ...{ items: Object.fromEntries(made), rounds, attested_by: keys.publicKeyHex },
    }),
  ) as Disclosure;
  const signature = Buffer.from(sign(disclosureInput(unsigned), keys)).toString('hex');
  const text = `${JSON.stringify({ ...unsigned, signature }, null, 2)}\n`;
  writeWhole(folder, DISCLOSURE, text);
}

export async function describeSystem(url: string): Promise<Record<string, unknown>> {
  const { limits, ...meta } = await readMeta(url);
  const { seq: _, event_seq: __, digest: ___, log_digest: ____, ...rest } = meta;
  return { ...rest, limits: isRecord(limits) ? limits.profile : null };
}

interface RoundHooks extends LoadHooks {
  /** Called before each round, with its number from 1. */
  onRound?(number: number): void;
}

/** Repeats a run, with the ends of the server's log around it. @throws {Failure} `NO_DIGESTS` */
export async function runRounds(
  options: LoadOptions,
  count: number,
  hooks: RoundHooks,
): Promise<Round[]> {
  const rounds: Round[] = [];
  const { rawSpeed } = await import('../raw/raw.js');
  while (rounds.length < count && !hooks.signal?.aborted) {
    hooks.onRound?.(rounds.length + 1);
    const begin = await readLogPoint(options.url);
    const blocks = new Map<string, RunBlock>();
    const result = await runLoad(
      { ...options, seed: `${options.seed}-${rounds.length + 1}` },
      { ...hooks, r: rawSpeed(), onBlock: (block) => void blocks.set(block.hash, block) },
    );
    const end = await readLogPoint(options.url);
    rounds.push({ result, blocks: [...blocks.values()], begin, end });
  }
  return rounds;
}
