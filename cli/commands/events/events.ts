/** `folkmoot events`: every event of a kept run or data folder, as NDJSON, CSV or Parquet. */
import { existsSync } from 'node:fs';
import { Command, Option } from 'commander';
import { type EventType, eventTypes } from '../../../engine/protocol/event-types.js';
import { integer } from '../../options/options.js';
import { UsageError } from '../../output/exit.js';
import { writeStderr } from '../../output/output.js';

interface Flags {
  format?: Format;
  type?: EventType[];
  agent?: string[];
  from: number;
  to?: number;
  out?: string;
}

const position = integer({ least: 1, most: Number.MAX_SAFE_INTEGER });

export function eventsCommand(): Command {
  return new Command('events')
    .description('export the events of a kept run or data folder: NDJSON, CSV or Parquet')
    .argument('<dir>', 'a folder that sim --out or serve --data wrote, archived or not')
    .addOption(
      new Option('--format <name>', "default: by the file's name, else ndjson").choices(formats),
    )
    .addOption(
      new Option('--type <name>', `only these; again for more: ${eventTypes.join(', ')}`).argParser(
        (name: string, before: EventType[] | undefined) => [...(before ?? []), typeOf(name)],
      ),
    )
    .addOption(
      new Option('--agent <id>', 'only of this agent; again for more').argParser(
        (id: string, before: string[] | undefined) => [...(before ?? []), agentOf(id)],
      ),
    )
    .option('--from <seq>', 'first event', position, 1)
    .option('--to <seq>', 'last event', position)
    .option('--out <file>', 'a new file, whole or not there; parquet needs one')
    .addHelpText(
      'after',
      `
NDJSON has each event as it was published: {data, seq, type}. CSV and Parquet have a column for
each member of the types asked for, by its names (validator.id is validator_id); lists are JSON, and
what a type has not is empty. agent is whose event it is. Times are UTC. In CSV what would break a
line, or steer a terminal, is written as JSON writes it; NDJSON and Parquet have texts as they are.

Votes are the type block_validation; what was asked, refused requests aside, is: folkmoot log DIR.
A server may have the folder open: what is exported ends with the event that was last when it began.

Examples:
  $ folkmoot events runs/7 > events.ndjson
  $ folkmoot events runs/7 --type block_validation --out votes.parquet
  $ folkmoot events folkmoot-data --agent agent_5f0c... --from 1000 --format csv`,
    )
    .action(run);
}

function typeOf(name: string): EventType {
  const known = eventTypes.find((type) => type === name);
  if (known) return known;
  throw new UsageError(`--type ${name}: expected one of ${eventTypes.join(', ')}`);
}

function agentOf(id: string): string {
  if (/^agent_[0-9a-f]{32}$/.test(id)) return id;
  throw new UsageError(`--agent ${id}: expected an id, agent_ and 32 hexadecimal digits`);
}

function formatOf({ format, out }: Flags): Format {
  const named = formats.find((one) => out?.toLowerCase().endsWith(`.${one}`));
  const wanted = format ?? named ?? 'ndjson';
  if (wanted === 'parquet' && out === undefined) {
    throw new UsageError('--format parquet: expected --out FILE, for it is no text');
  }
  return wanted;
}

async function run(folder: string, flags: Flags): Promise<void> {
  const format = formatOf(flags);
  const { out, from, type = [], agent = [] } = flags;
  if (out !== undefined && existsSync(out)) {
    throw new UsageError(`${out} is there already; expected the name of a new file`);
  }
  const { openForReading } = await import('../../options/folder.js');
  const { buildColumns, selectEvents } = await import('./columns.js');
  const { createSink } = await import('./sinks.js');
  const store = openForReading(folder);
  try {
    const meta = store.meta();
    const end = meta?.event_seq ?? 0;
    const to = Math.min(flags.to ?? end, end);
    if (from > end || (flags.to ?? 0) > end) writeStderr(`folkmoot: the events end at ${end}`);
    const columns = buildColumns(type.length === 0 ? eventTypes : type);
    const about = { network_id: meta?.network_id ?? '', first: `${from}`, last: `${to}` };
    const sink = await createSink({
      format,
      ...(out === undefined ? {} : { out }),
      columns,
      about,
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
      if (out !== undefined) writeStderr(`${written} events in ${out}`);
    } catch (error) {
      sink.abandon();
      throw error;
    }
  } finally {
    await store.close();
  }
}

/** Events between two looks at the progress. */
const STEP = 1_000;

/** What goes to standard output is its own progress. */
async function progressOf(out: string | undefined, total: number) {
  if (out === undefined || total < STEP) return null;
  const { showCount } = await import('../../output/progress.js');
  return showCount(total, 'events');
}

const formats = ['ndjson', 'csv', 'parquet'] as const;
type Format = (typeof formats)[number];
