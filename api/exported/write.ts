/** A kept run in one file: its rows, and what a page asks beside them. */
import { constants, deflateRawSync, gzipSync, type ZlibOptions } from 'node:zlib';
import type { ServedNetwork } from '../../engine/internal.js';
import type { ScenarioShown } from '../contract/shown.js';
import { inSlices } from '../slices.js';
import type { About } from '../view/kept.js';
import { overviewOf, ViewLog, type ViewWork } from '../view/log/index.js';
import { type Overview, rowKinds, type Span } from '../view/model.js';
import { encodeReel } from '../view/reel.js';
import { htmlOf } from './html.js';
import { keptOf } from './kept.js';

/** Rows are unpacked all at once where the file is opened: no more than a page keeps at hand. */
export const MOST_EVENTS = 2_000_000;
/** As many as a wide screen has pixels for. */
const BUCKETS = 600;

/** What the file says of itself, beside what the network does. */
export interface ExportOptions extends ViewWork, Pick<About, 'folder' | 'proven' | 'version'> {
  /** Of the scenario of its agents, where it is known. */
  groups?: ScenarioShown['groups'] | undefined;
}

/** A file as text, and how much it holds. */
export interface ExportedFile {
  html: string;
  entries: number;
  events: number;
}

/**
 * The whole file. The same log, and groups, give the same file.
 *
 * @throws {RangeError} when the run has more than {@link MOST_EVENTS}.
 * @throws {StoreError} when something of it cannot be read, or does not fit together.
 */
export async function exported(
  network: ServedNetwork,
  options: ExportOptions,
): Promise<ExportedFile> {
  const { folder, proven, version, groups, ...work } = options;
  const { event_seq } = network.read.position;
  if (event_seq > MOST_EVENTS) {
    throw new RangeError(`${event_seq} events; one file holds ${MOST_EVENTS} at the most`);
  }
  // The caller has recomputed what the folder holds, and not the files of its view.
  const view = new ViewLog(network, { folder: null });
  try {
    await view.catchUp(work);
    const overview = await inSlices(overviewOf(network, view.index, BUCKETS));
    const { entry, event_seq: events } = overview;
    const spans = await spansOf(view, entry);
    const kept = keptOf(network, { overview, spans, groups });
    const run = smallest(encodeReel({ spans: spans.map(coarse), kept }, packedSize));
    const { network_id } = network.genesis;
    const size = { entries: entry + 1, events };
    return { ...size, html: htmlOf({ folder, network_id, ...size, proven, version }, run) };
  } finally {
    await view.close();
  }
}

async function spansOf(view: ViewLog, end: Overview['entry']): Promise<Span[]> {
  const spans: Span[] = [];
  for (let from = 0; from <= end; from = spans.at(-1)!.to + 1) {
    spans.push(await view.span(from, end));
  }
  return spans;
}

const REPUTATION = rowKinds.indexOf('reputation_update');
/** A tenth of a point of 100: the page shows no less. */
const TENTH = 1_000;

/** Reputations as finely as they are shown: they take a third of the room. */
function coarse(span: Span): Span {
  const { kind, value } = span.rows;
  const rounded = value.map((score, row) =>
    kind[row] === REPUTATION ? TENTH * Math.round(score / TENTH) : score,
  );
  return { ...span, rows: { ...span.rows, value: rounded } };
}

const packedSize = (bytes: Uint8Array) => deflateRawSync(bytes, { level: 6 }).length;

/** How deflate divides its work decides a few per cent; which way is best, only trying tells. */
const ways: readonly ZlibOptions[] = [6, 7, 8].flatMap((memLevel) =>
  [constants.Z_DEFAULT_STRATEGY, constants.Z_FILTERED].map((strategy) => ({
    level: 9,
    memLevel,
    strategy,
  })),
);

const smallest = (bytes: Uint8Array): Uint8Array =>
  ways
    .map((way) => gzipSync(bytes, way))
    .reduce((best, one) => (one.length < best.length ? one : best));
