/** /api/v1/entries/{entry} and /log: the log itself, and what came of one of its entries. */
import { printLine, refuse, type ServedNetwork, storedLines } from '../../../engine/internal.js';
import { serverBounds } from '../../contract/limit-table.js';
import { inSlices } from '../../slices.js';
import { entryOf } from '../../view/log/index.js';
import { badQuery, expectedRows, number, rowsOf } from '../reads/parameters.js';
import { success } from '../response/envelope.js';
import type { Showing } from './shown.js';

/** "Which entry did this": one entry with its events. */
export const entry: Showing = async ({ services: { view, network }, params: [text = ''] }) => {
  if (!/^\d{1,15}$/.test(text)) {
    const message = 'entry in the path is not the number of an entry';
    return { refusal: refuse('SCHEMA', message, { pointer: '/entry' }) };
  }
  await view.prepareIndex();
  const found = entryOf(network, view.index, Number(text));
  if (found) return success(200, found);
  return { refusal: refuse('UNKNOWN_ENTRY', `the log has no entry ${text}`) };
};

/** Lines as `folkmoot log` prints them: so many as are asked for, or as large as they may be. */
export const log: Showing = async ({ services: { network } }, query) => {
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const from = number(query, 'from', 0);
  if (from === null) return badQuery('from', 'the number of an entry');
  const { read } = network;
  const last = Math.min(read.position.seq, from + limit - 1);
  if (from > last) {
    const message = `the log has no entry ${from}: it has entries 0 to ${read.position.seq}`;
    return { refusal: refuse('UNKNOWN_ENTRY', message) };
  }
  const body = await inSlices(linesOf(read, from, last));
  const headers = { 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store' };
  return { status: 200, headers, body };
};

/** Entries that are read at once, between two pauses. */
const AT_ONCE = 5;

function* linesOf(
  { log }: ServedNetwork['read'],
  from: number,
  last: number,
): Generator<undefined, string> {
  const lines: string[] = [];
  let bytes = 0;
  for (let at = from; at <= last; at += AT_ONCE) {
    for (const line of [...storedLines(log, at, Math.min(last, at + AT_ONCE - 1))]) {
      yield;
      const text = JSON.stringify(printLine(line));
      bytes += text.length;
      if (bytes > serverBounds.view.logBytes && lines.length > 0) return lines.join('');
      lines.push(`${text}\n`);
    }
  }
  return lines.join('');
}
