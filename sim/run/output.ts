/**
 * Output folder of a run: network/, scenario.json, summary.json and tables. Files are written
 * atomically. summary.json comes last, so a folder that contains it is complete.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint } from '../../engine/store/process-end.js';
import { assertNoLinks, prepareFolder, removeParts, writeWhole } from '../../report/folder.js';
import { CsvFile, NdjsonFile } from '../../report/tables.js';
import { CASSETTE_FILE } from '../agents/deciders/adapter.js';
import type { DecisionLine } from '../measure/decisions.js';
import { type Row, sweepTables, type TableName, tables } from '../measure/dictionary.js';
import type { RunResults } from '../measure/results.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { listEdges, type Neighbours } from '../world/graph.js';
import type { SimResult } from './result.js';

/** Files of a run or sweep, which must not exist beforehand. */
const kept = [
  'network',
  'scenario.json',
  'summary.json',
  'report.html',
  'sweep.json',
  'decisions.ndjson',
  CASSETTE_FILE,
  ...Object.keys(sweepTables),
  ...Object.keys(tables),
];

/** Tables written during the run. */
export interface Tables {
  /** Receives rows of votes.csv. Absent unless the scenario enables it. */
  onRow?: (row: Row<'votes.csv'>) => void;
  /** Receives lines of decisions.ndjson. Absent unless the scenario enables it. */
  onDecision?: (line: DecisionLine) => void;
  /** Finishes the tables. Call this at the end of the run, before `writeResult`. */
  finish(): void;
  /** Deletes partial files and keeps finished files. Call this after a failure. */
  abandon(): void;
}

/**
 * Creates the folder. Refuses a folder that contains a run.
 * @param goesOn true if the folder contains an unfinished run with external deciders to continue.
 * @throws {StoreError} `OTHER_NETWORK` if it contains a run, `UNREADABLE` if it is not usable.
 */
export async function prepareOutput(folder: string, goesOn = false): Promise<void> {
  if (!goesOn) return prepareFolder(folder, kept);
  assertNoLinks(folder, kept);
  // Delete everything that a killed run left, except its recorded answers.
  for (const name of kept) {
    if (name !== CASSETTE_FILE) await rm(join(folder, name), { recursive: true, force: true });
  }
  await removeParts(folder);
}

/** @throws {StoreError} `UNREADABLE` if a table cannot be written; its methods throw likewise. */
export function openTables(folder: string, { measure }: Pick<Scenario, 'measure'>): Tables {
  const votes = measure.votes ? open(folder, 'votes.csv') : null;
  const decisions = measure.decisions ? new NdjsonFile(folder, 'decisions.ndjson') : null;
  return {
    ...(votes ? { onRow: (row) => votes.add(row) } : {}),
    ...(decisions ? { onDecision: (line) => decisions.add(line) } : {}),
    finish() {
      votes?.finish();
      decisions?.finish();
    },
    abandon() {
      votes?.abandon();
      decisions?.abandon();
    },
  };
}

/** Writes the final results. The network must be open, because rows are read on demand. */
export async function writeResult(
  folder: string,
  result: SimResult,
  { tables: rows, deliberation, calls }: RunResults,
  neighbours: Neighbours,
): Promise<void> {
  crashPoint('output.before');
  open(folder, 'blocks.csv').finishWith(rows['blocks.csv']);
  open(folder, 'agents.csv').finishWith(rows['agents.csv']);
  open(folder, 'groups.csv').finishWith(rows['groups.csv']);
  open(folder, 'series.csv').finishWith(rows['series.csv']);
  open(folder, 'edges.csv').finishWith(listEdges(neighbours));
  open(folder, 'messages.csv').finishWith(rows['messages.csv']);
  if (calls) open(folder, 'calls.csv').finishWith(calls);
  if (deliberation) {
    open(folder, 'samples.csv').finishWith(deliberation.samples);
    open(folder, 'statements.csv').finishWith(deliberation.statements);
  }
  const reported = [...reportedRows(result.reported)];
  if (reported.length > 0) open(folder, 'reported.csv').finishWith(reported);
  writeWhole(folder, 'scenario.json', `${JSON.stringify(result.scenario, null, 2)}\n`);
  writeWhole(folder, 'summary.json', `${JSON.stringify(result, null, 2)}\n`);
}

function* reportedRows({ run, groups }: SimResult['reported']): Iterable<Row<'reported.csv'>> {
  for (const [measure, value] of Object.entries(run)) yield { group: null, measure, value };
  for (const [group, figures] of Object.entries(groups)) {
    for (const [measure, value] of Object.entries(figures)) yield { group, measure, value };
  }
}

/** Opens a table. Its columns follow the order of the data dictionary. */
function open<T extends TableName>(folder: string, name: T): CsvFile<Row<T>> {
  return new CsvFile(folder, name, Object.keys(tables[name]));
}
