/**
 * What a kept run leaves in its folder: network/, scenario.json, summary.json and the tables. Every
 * file is whole or not there; summary.json comes last, so a folder that has it is complete.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint } from '../../engine/store/process-end.js';
import { prepareFolder, removeParts, writeWhole } from '../../report/folder.js';
import { CsvFile, NdjsonFile } from '../../report/tables.js';
import { CASSETTE_FILE } from '../agents/deciders/adapter.js';
import type { DecisionLine } from '../measure/decisions.js';
import { type Row, sweepTables, type TableName, tables } from '../measure/dictionary.js';
import type { RunResults } from '../measure/results.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { listEdges, type Neighbours } from '../world/graph.js';
import type { SimResult } from './result.js';

/** What a run or a sweep writes; none of it may be there before. */
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

/** What is written while the run goes. */
export interface Tables {
  /** Takes the rows of votes.csv; absent when the scenario does not ask for them. */
  onRow?: (row: Row<'votes.csv'>) => void;
  /** Takes the lines of decisions.ndjson likewise. */
  onDecision?: (line: DecisionLine) => void;
  /** To be called at the end of the run, before `writeResult`. */
  finish(): void;
  /** To be called when the run failed: no half file stays. What is finished stays. */
  abandon(): void;
}

/**
 * Makes the folder. One that holds a run already is refused: a run begins at genesis.
 * @param goesOn it holds a run with external deciders that did not come to its end.
 * @throws {StoreError} `OTHER_NETWORK` then, `UNREADABLE` when it cannot be used.
 */
export async function prepareOutput(folder: string, goesOn = false): Promise<void> {
  if (!goesOn) return prepareFolder(folder, kept);
  // What a run left that was killed is made again; what was answered in it stays.
  for (const name of kept) {
    if (name !== CASSETTE_FILE) await rm(join(folder, name), { recursive: true, force: true });
  }
  await removeParts(folder);
}

/** @throws {StoreError} `UNREADABLE`, as its functions, when they cannot be written. */
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

/** Writes what is known at the end. The network must be open: rows are read as they are written. */
export async function writeResult(
  folder: string,
  result: SimResult,
  { tables: rows }: RunResults,
  neighbours: Neighbours,
): Promise<void> {
  crashPoint('output.before');
  open(folder, 'blocks.csv').finishWith(rows['blocks.csv']);
  open(folder, 'agents.csv').finishWith(rows['agents.csv']);
  open(folder, 'groups.csv').finishWith(rows['groups.csv']);
  open(folder, 'series.csv').finishWith(rows['series.csv']);
  open(folder, 'edges.csv').finishWith(listEdges(neighbours));
  open(folder, 'messages.csv').finishWith(rows['messages.csv']);
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

/** Columns in the order of the dictionary. */
function open<T extends TableName>(folder: string, name: T): CsvFile<Row<T>> {
  return new CsvFile(folder, name, Object.keys(tables[name]));
}
