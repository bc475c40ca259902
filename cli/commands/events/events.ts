import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { type EventType, eventTypes } from '../../../engine/protocol/event-types.js';
import { CliCommand, expectOrdered, integer } from '../../options/options.js';
import { UsageError } from '../../output/exit.js';
import { writeStderr } from '../../output/output.js';

interface Flags {
  format?: Format;
  type?: EventType[];
  agent?: string[];
  block?: string;
  from: number;
  to?: number;
  rawCells?: boolean;
  out?: string;
}

const position = integer(1, Number.MAX_SAFE_INTEGER);

export function eventsCommand(): CliCommand {
  return new CliCommand('events')
    .description('export events as NDJSON, CSV, Parquet or PrefLib')
    .argument('<dir>', 'saved run or data folder')
    .choice('--format <name>', 'output format (default: by file name, else ndjson)', formats)
    .option(
      '--type <name>',
      'event type, may be repeated (default: all)',
      (name: string, before: EventType[] | undefined) => [...(before ?? []), typeOf(name)],
    )
    .option(
      '--agent <id>',
      'agent id, may be repeated (default: all)',
      (id: string, before: string[] | undefined) => [...(before ?? []), agentOf(id)],
    )
    .option('--from <seq>', 'first event', position, 1)
    .option('--to <seq>', 'last event', position)
    .option('--block <hash>', 'preflib: one block, by its hash or first digits', blockOf)
    .option('--raw-cells', 'csv: leave formulas in text as they are')
    .option('--out <path>', 'new file or folder (default: standard output)')
    .notes(`
Event types:
${eventTypes.map((type) => `  ${type}`).join('\n')}

NDJSON contains each event as published: {data, seq, type}. CSV and Parquet have
one column for each member of the selected types, such as validator_id for
validator.id. Lists are JSON. Times are UTC. CSV escapes control characters as
JSON does, and puts an apostrophe before text that a spreadsheet would run as a
formula, except with --raw-cells. Parquet requires --out.

PrefLib contains the ballots of the approving votes on blocks with options, one
file per block in the new folder --out, or one file with --block. Rankings are
orders, approvals and equal scores are ties, and weights are left out.

Votes have the type block_validation. For accepted requests, use folkmoot log.
The folder may be open in a server: the export ends with the last event at its
start.`)
    .examples(
      'events runs/7 > events.ndjson',
      'events runs/7 --type block_validation --out votes.parquet',
      'events folkmoot-data --from 1000 --format csv',
      'events runs/7 --format preflib --out ballots',
    )
    .action(run);
}

function typeOf(name: string): EventType {
  const known = eventTypes.find((type) => type === name);
  if (known) return known;
  const expected = `one of ${eventTypes.join(', ')}`;
  throw new UsageError('INVALID_VALUE', { option: '--type', value: name, expected });
}

function agentOf(id: string): string {
  if (/^agent_[0-9a-f]{32}$/.test(id)) return id;
  const expected = 'agent_ and 32 hexadecimal digits';
  throw new UsageError('INVALID_VALUE', { option: '--agent', value: id, expected });
}

function blockOf(hash: string): string {
  if (/^[0-9a-f]{4,64}$/.test(hash)) return hash;
  const expected = '4 to 64 hexadecimal digits';
  throw new UsageError('INVALID_VALUE', { option: '--block', value: hash, expected });
}

/** Checks the options that apply to only one of the formats. */
function assertBlock({ format, block, type, out }: Flags): void {
  if (format !== 'preflib') {
    if (block === undefined) return;
    throw new UsageError('OPTION_REQUIRES', { option: '--block', required: '--format preflib' });
  }
  if (type) {
    const advice = 'leave out --type';
    throw new UsageError('OPTION_CONFLICT', {
      option: '--type',
      other: '--format preflib',
      advice,
    });
  }
  if (block !== undefined || out !== undefined) return;
  const required = '--out FOLDER or --block HASH';
  throw new UsageError('OPTION_REQUIRES', { option: '--format preflib', required });
}

function formatOf({ format, out }: Flags): Format {
  const named = tableFormats.find((one) => out?.toLowerCase().endsWith(`.${one}`));
  const wanted = format ?? named ?? 'ndjson';
  const other = /\.(?!ndjson$|jsonl$|json$)\w+$/i.test(basename(out ?? ''));
  if (format === undefined && named === undefined && other) {
    const expected = 'a file that ends in .ndjson, .csv or .parquet, or --format';
    throw new UsageError('INVALID_VALUE', { option: '--out', value: out!, expected });
  }
  if (wanted === 'parquet' && out === undefined) {
    throw new UsageError('OPTION_REQUIRES', { option: '--format parquet', required: '--out FILE' });
  }
  return wanted;
}

async function run(folder: string, flags: Flags): Promise<void> {
  assertBlock(flags);
  const { block, out, from, type = [], agent = [] } = flags;
  if (out !== undefined && existsSync(out)) throw new UsageError('FILE_EXISTS', { path: out });
  const format = formatOf(flags);
  if (flags.rawCells && format !== 'csv') {
    throw new UsageError('OPTION_REQUIRES', { option: '--raw-cells', required: '--format csv' });
  }
  expectOrdered(from, flags.to);
  const { openForReading, readOptionLabels, warnBeyondEnd } = await import(
    '../../options/folder.js'
  );
  const { buildColumns, selectEvents } = await import('./columns.js');
  const { createSink } = await import('./sinks.js');
  const store = openForReading(folder);
  try {
    const meta = store.meta();
    const end = meta?.event_seq ?? 0;
    const to = Math.min(flags.to ?? end, end);
    warnBeyondEnd('event', end, { '--from': from, '--to': flags.to });
    if (format === 'preflib') {
      const { exportPrefLib } = await import('./preflib.js');
      const labels = readOptionLabels(folder);
      await exportPrefLib(store, { from, to, agents: new Set(agent), block, out, labels });
      return;
    }
    const columns = buildColumns(type.length === 0 ? eventTypes : type);
    const about = { network_id: meta?.network_id ?? '', first: `${from}`, last: `${to}` };
    const sink = await createSink({
      format,
      ...(out === undefined ? {} : { out }),
      columns,
      about,
      raw: flags.rawCells === true,
    });
    try {
      const wanted = { from, to, types: new Set(type), agents: new Set(agent) };
      const progress = await progressOf(out, to - from + 1);
      let written = 0;
      let seen = 0;
      for (const one of selectEvents(store, wanted)) {
        seen += 1;
        if (one) await sink.add(one);
        if (one) written += 1;
        if (seen % STEP === 0) progress?.update(seen);
      }
      await sink.finish();
      progress?.stop();
      if (out !== undefined) writeStderr(`${written} events written to ${out}`);
    } catch (error) {
      sink.abandon();
      throw error;
    }
  } finally {
    await store.close();
  }
}

/** Number of events between two progress updates. */
const STEP = 1_000;

/** Shows progress, except when writing to standard output. */
async function progressOf(out: string | undefined, total: number) {
  if (out === undefined || total < STEP) return null;
  const { showCount } = await import('../../output/progress.js');
  return showCount(total, 'events');
}

const tableFormats = ['ndjson', 'csv', 'parquet'] as const;
const formats = [...tableFormats, 'preflib'] as const;
type Format = (typeof formats)[number];
