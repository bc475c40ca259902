/**
 * Commands for the files of load runs: `load import` and `load schema` for load files, and `load
 * --disclose` and `load recount` for disclosed benchmarks.
 */
import { randomBytes } from 'node:crypto';
import { InvalidArgumentError, Option } from 'commander';
import type { Condition } from '../../../bench/load/conditions.js';
import { kinds, type LoadOptions, loadDefaults, type Mix } from '../../../bench/load/options.js';
import type { Recount } from '../../../bench/load/recount.js';
import type { LoadResult } from '../../../bench/load/result.js';
import type { LoadHooks } from '../../../bench/load/run.js';
import { describeSystemError } from '../../../engine/protocol/messages.js';
import { alignColumns, format } from '../../../report/shared/format.js';
import { readKeys, type UrlFlags, withUrl } from '../../options/client.js';
import { CliCommand, wholeNumber } from '../../options/options.js';
import { exitCodes, UsageError } from '../../output/exit.js';
import { io, setExitCode } from '../../output/io.js';
import { printJson, writeStderr, writeStdout } from '../../output/output.js';
import { commitHash } from '../../output/provenance.js';
import { reportConditions } from './compare.js';
import { showLoad } from './progress.js';

interface DiscloseFlags {
  /** Key file that signs. */
  key: string;
  /** Path of a load file. */
  file?: string;
  out?: string;
  rounds?: number;
  deviation?: string[];
  junit?: string;
  json?: boolean;
}

const ROUNDS = 3;

/** Runs the rounds of a disclosed benchmark, and writes the disclosure. @throws {UsageError} */
export async function disclose(
  options: LoadOptions,
  flags: DiscloseFlags,
  conditions: readonly Condition[],
  { signal, onFault }: { signal: AbortSignal; onFault: LoadHooks['onFault'] | undefined },
): Promise<void> {
  const { out, rounds = ROUNDS, deviation = [], file } = flags;
  if (out === undefined) {
    throw new UsageError('OPTION_REQUIRES', { option: '--disclose', required: '--out' });
  }
  const { keyPairFromSeed } = await import('../../../engine/crypto/keys.js');
  const { privateKey } = await readKeys(flags.key, '--disclose');
  const disclosure = await import('../../../bench/load/disclosure.js');
  await disclosure.prepareDisclosure(out);
  const made = await disclosure.runRounds(options, rounds, {
    ...showLoad(options),
    ...{ signal, commit: commitHash() ?? 'unknown', ...(onFault ? { onFault } : {}) },
    onRound: (number) => writeStderr(`folkmoot: round ${number} of ${rounds}`),
  });
  const material = {
    rounds: made,
    command: io().argv,
    configuration: configurationOf(options, file),
    deviations: deviation,
    meta: await disclosure.describeSystem(options.url),
  };
  const keys = keyPairFromSeed(Buffer.from(privateKey, 'hex'));
  await disclosure.writeDisclosure(out, material, keys);
  // The median round by accepted arrivals stands for all, in the tables and for conditions.
  const order = [...made].sort((a, b) => acceptedOf(a.result) - acceptedOf(b.result));
  const median = order[Math.floor((order.length - 1) / 2)]!;
  const { result } = median;
  const number = made.indexOf(median) + 1;
  writeStderr(`folkmoot: figures of round ${number}, the median of ${made.length}`);
  if (flags.json) printJson(result);
  else writeStdout(...(await import('./summary.js')).loadSummary(result));
  await reportConditions(conditions, result, flags);
}

const acceptedOf = ({ arrivals }: LoadResult): number => arrivals.accepted_per_s;

/** Returns the texts of the load file and of the modules and data that it names, by path. */
function configurationOf(options: LoadOptions, file: string | undefined): Record<string, string> {
  if (file === undefined) return {};
  const scripts = (options.scenarios ?? []).flatMap(({ script }) => script ?? []);
  return {
    [file]: options.file!,
    ...Object.fromEntries(scripts.map((script) => [script.file, script.source])),
    ...Object.fromEntries(
      scripts
        .filter(({ rows }) => rows.length > 0)
        .map((script) => [`data of ${script.file}`, JSON.stringify(script.rows)]),
    ),
  };
}

export function loadRecountCommand(): CliCommand {
  return new CliCommand('recount')
    .description('check a disclosed load run against the log of its server')
    .argument('<dir>', 'folder written by load --disclose')
    .argument('<data>', 'data folder of the server')
    .option('--json', 'print one JSON object')
    .notes(`
Works offline. Checks the signature, the digest of every file, and the log by a
replay. Counts finalized transactions, latencies, duplicates and gaps again. Any
contradiction ends with exit code 12.`)
    .examples(
      'load recount runs/disclosed folkmoot-data',
      'load recount runs/disclosed folkmoot-data --json',
      "load recount disclosed data --json | jq '.problems'",
    )
    .action(async (folder: string, data: string, { json }: { json?: boolean }) => {
      const { recount } = await import('../../../bench/load/recount.js');
      const { replayFolder } = await import('../replay.js');
      const found = await recount(folder, (onStep) =>
        replayFolder(data, { onStep }, (lines) => lines),
      );
      if (json) printJson(found);
      else writeStdout(...recountLines(found));
      setExitCode(found.problems.length > 0 ? exitCodes.differs : exitCodes.done);
    });
}

function recountLines({ attested_by, rounds, problems }: Recount): string[] {
  const text = (value: number | null) => (value === null ? '–' : format(value));
  const rows = rounds.flatMap(({ folder, figures }) =>
    figures.map(({ figure, claimed, recounted }) => [
      ...[folder, figure, text(claimed), text(recounted)],
    ]),
  );
  return [
    `attested by ${attested_by}`,
    ...(rows.length > 0 ? alignColumns([['round', 'figure', 'run', 'log'], ...rows], [0, 1]) : []),
    ...problems.map((problem) => `refused: ${problem}`),
    ...(problems.length === 0 ? ['all figures follow from the log'] : []),
  ];
}

export function loadImportCommand(): CliCommand {
  return new CliCommand('import')
    .description('print a load file for k6 scenarios or Artillery phases')
    .argument('<file>', 'k6 script or options, or Artillery configuration')
    .notes(`
Reads the object scenarios: { ... } of a k6 script without running the script,
its JSON form, or the phases of Artillery. Members that load files do not have
are named on standard error.`)
    .examples(
      'load import script.js > peak.yaml',
      'load import artillery.yaml > peak.yaml',
      'load import options.json',
    )
    .action(async (path: string) => {
      const { importLoad } = await import('../../../bench/load/import.js');
      const { readBounded, fileBounds } = await import('../../../engine/store/folder.js');
      const { parseDocument, stringify } = await import('yaml');
      const text = reading(() => readBounded(path, fileBounds.text).toString(), path);
      // A JavaScript file can give thousands of YAML errors, and locating each one takes minutes.
      const document = parseDocument(text, { schema: 'core', prettyErrors: false });
      const toPlain = () => document.toJS({ maxAliasCount: 100 }) as unknown;
      const yaml = document.errors.length > 0 ? null : reading(toPlain, path);
      const { file, notes } = await importLoad(text, yaml);
      for (const line of notes) writeStderr(`folkmoot: ${line}`);
      writeStdout(...stringify(file).trimEnd().split('\n'));
    });
}

function reading<T>(read: () => T, path: string): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError('FILE_NOT_READABLE', { path, reason: describeSystemError(error) });
  }
}

export function loadSchemaCommand(): CliCommand {
  return new CliCommand('schema')
    .description('print the JSON Schema of load files')
    .examples(
      'load schema',
      'load schema > load-file.schema.json',
      "load schema | jq '.properties | keys'",
    )
    .action(async () => {
      const { loadFileJsonSchema } = await import('../../../bench/load/load-schema.js');
      writeStdout(...JSON.stringify(loadFileJsonSchema(), null, 2).split('\n'));
    });
}

interface ExportFlags extends UrlFlags {
  format: string;
  mix: Mix;
  count: number;
  agents: number;
  seed?: string;
}

/** Parses weights such as `read=8,status=1,meme=1`. */
function parseMix(text: string): Mix {
  const pairs = text.split(',').map((pair) => /^(\w+)=(\d{1,6})$/.exec(pair.trim()));
  if (pairs.some((pair) => pair === null || !Object.hasOwn(kinds, pair[1]!))) {
    throw new InvalidArgumentError('expected weights such as read=8,status=1,meme=1');
  }
  return Object.fromEntries(pairs.map((pair) => [pair![1]!, Number(pair![2])]));
}

export function loadExportCommand(): CliCommand {
  return withUrl(new CliCommand('export'))
    .description('print signed requests for another load tool')
    .addOption(
      new Option('--format <tool>', 'form of the requests')
        .choices(['k6', 'wrk', 'vegeta', 'har'])
        .makeOptionMandatory(),
    )
    .option('--mix <weights>', 'kinds of requests with weights', parseMix, { read: 1 } as Mix)
    .option('--count <n>', 'number of requests', wholeNumber(1, 100_000), 1_000)
    .option('--agents <n>', 'number of agents', wholeNumber(1, 100_000), 100)
    .option('--seed <text>', 'random seed (default: random)')
    .notes(`
Registers the agents, which stay active, and signs each request. A server takes
a request for 300 s after its timestamp, and only once. autocannon reads HAR.
Votes and proposals depend on responses, so only folkmoot load sends them.`)
    .examples(
      'load export --format k6 --mix read=8,meme=2 > requests.js',
      'load export --format vegeta --count 10000 > targets.json',
      'load export --format har --mix status=1 > requests.har',
    )
    .action(async ({ url, format: tool, mix, count, agents, seed }: ExportFlags) => {
      const { exportRequests, forms } = await import('../../../bench/load/export.js');
      const plan = { of: 'arrivals', segments: [{ ms: 1_000, from: count, to: count }] } as const;
      const scenario = { name: 'export', executor: 'constant-arrival-rate', plan, mix } as const;
      const rest = { startMs: 0, stopMs: null, law: 'uniform', think: null, script: null } as const;
      const options: LoadOptions = {
        ...loadDefaults,
        ...{ url: url.replace(/\/+$/, ''), workload: 'export', rate: count, concurrency: null },
        ...{ agents, batch: 0, durationMs: 1_000, warmupMs: 0, keepAgents: true },
        ...{ seed: seed ?? randomBytes(8).toString('hex'), scenarios: [{ ...scenario, ...rest }] },
      };
      const requests = await exportRequests(options, count);
      writeStderr(`folkmoot: ${requests.length} requests, seed ${options.seed}`);
      writeStdout(...forms[tool]!(requests).trimEnd().split('\n'));
    });
}
