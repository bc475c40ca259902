/** /api/v1/view, /columns and /overview: what a page draws, and by which it goes on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { serverBounds } from '../../contract/limit-table.js';
import { inSlices } from '../../slices.js';
import { overviewOf } from '../../view/log/index.js';
import type { Overview } from '../../view/model.js';
import { badQuery, number } from '../reads/parameters.js';
import { jsonResponse, success } from '../response/envelope.js';
import type { Showing } from './shown.js';

const {
  columnRows,
  columnBytes,
  columnSaid,
  buckets: mostBuckets,
  defaultBuckets,
} = serverBounds.view;

/** The network after an entry; without one, after the last. */
export const picture: Showing = async ({ services: { view } }, query) => {
  const at = query.has('at') ? number(query, 'at', 0) : undefined;
  if (at === null) return badQuery('at', 'the number of an entry');
  return jsonResponse(200, `{"success":true,"data":${await view.pictureText(at)}}`);
};

/** How long somebody who asks how far it is waits for the end of it. */
const MOMENT_MS = 250;

/** How much of the log a picture can be made of: gone on with whenever somebody asks. */
export const progress: Showing = async ({ services: { view, network } }) => {
  const all = view.catchUp().then(() => true);
  const made = await Promise.race([all, sleep(MOMENT_MS, false, { ref: false })]);
  all.catch(() => undefined);
  const { seq } = network.read.position;
  const ended = { entry: made ? seq : Math.max(0, view.end), to: seq };
  return success(200, { made, ...((made ? null : view.progress) ?? ended) });
};

/** Rows of entries as one encoded span: as far as its bounds go. */
export const columns: Showing = async ({ services: { view } }, query) => {
  const from = query.has('from') ? number(query, 'from', 0) : null;
  if (from === null) return badQuery('from', 'the number of an entry');
  const to = query.has('to') ? number(query, 'to', 0) : undefined;
  if (to === null || (to !== undefined && to < from)) {
    return badQuery('to', 'the number of an entry, `from` or a later one');
  }
  const most = { rows: columnRows, said: columnSaid, bytes: columnBytes };
  const body = await view.spanBytes(from, to, most);
  const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' };
  return { status: 200, headers, body };
};

/** A whole log in pieces, out of its index alone. */
export const overview: Showing = async ({ services: { view, network } }, query) => {
  const count = number(query, 'buckets', defaultBuckets);
  if (count === null || count < 1 || count > mostBuckets) {
    return badQuery('buckets', `a whole number from 1 to ${mostBuckets}`);
  }
  await view.prepareIndex();
  const data: Overview = await inSlices(overviewOf(network, view.index, count));
  return success(200, data);
};
