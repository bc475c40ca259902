/** Exports a saved run as one HTML file: its rows, and the data that the page would request. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { constants, gzipSync, type ZlibOptions } from 'node:zlib';
import type { ServedNetwork } from '../engine/node/kept-network.js';
import { prepareRule } from '../engine/rules/sandbox.js';
import type { ScenarioView } from './contract/views.js';
import { runInSlices } from './time-slices.js';
import { parametersOf, type ViewWork } from './view/log/chunks.js';
import { computeOverview } from './view/log/reads.js';
import { ViewLog } from './view/log/view-log.js';
import { type Overview, type RowBatch, rowCode } from './view/model.js';
import { encodeRunArchive, type RunData, type RunSummary, type Scores } from './view/row-table.js';

/** Limit on events. Opening the file unpacks all rows, which must fit in the page's memory. */
export const MAX_EXPORTED_EVENTS = 2_000_000;
/** Number of bars in the time bar, as in ui/player/run-worker.ts. */
const BUCKETS = 600;

interface ExportOptions extends ViewWork, Pick<RunSummary, 'folder' | 'proven' | 'version'> {
  scenario?: ScenarioView | undefined;
}

/**
 * Exports a run. The same log and scenario yield the same file.
 *
 * @throws {RangeError} if the run contains more than {@link MAX_EXPORTED_EVENTS}.
 * @throws {StoreError} if data is unreadable or inconsistent.
 */
export async function exportRun(
  network: ServedNetwork,
  options: ExportOptions,
): Promise<{ html: string; entries: number; events: number }> {
  const { folder, proven, version, scenario, ...work } = options;
  const { event_seq } = network.read.position;
  if (event_seq > MAX_EXPORTED_EVENTS) {
    throw new RangeError(
      `too many events for one file: ${event_seq} (limit ${MAX_EXPORTED_EVENTS})`,
    );
  }
  await prepareRule(network.genesis);
  // The caller has verified the folder, but not its view's files.
  const view = new ViewLog(network, { folder: null });
  try {
    await view.catchUp(work);
    const overview = await runInSlices(computeOverview(network, BUCKETS));
    const { entry, event_seq: events } = overview;
    const batches = await spansOf(view, entry);
    const kept = keptOf(network, { overview, spans: batches, scenario });
    const run = smallest(encodeRunArchive({ batches: batches.map(coarse), data: kept }));
    const { network_id } = network.genesis;
    const size = { entries: entry + 1, events };
    return { ...size, html: htmlOf({ folder, network_id, ...size, proven, version }, run) };
  } finally {
    await view.close();
  }
}

async function spansOf(view: ViewLog, end: Overview['entry']): Promise<RowBatch[]> {
  const batches: RowBatch[] = [];
  for (let from = 0; from <= end; from = batches.at(-1)!.to + 1) {
    batches.push(await view.readRowBatch(from, end));
  }
  return batches;
}

/** A tenth of a point. The page shows no finer values. */
const TENTH = 1_000;

/** Rounds reputations to the displayed precision, because they take up a third of the file. */
function coarse(batch: RowBatch): RowBatch {
  const { kind, value } = batch.rows;
  const rounded = value.map((score, row) =>
    kind[row] === rowCode.reputation_update ? TENTH * Math.round(score / TENTH) : score,
  );
  return { ...batch, rows: { ...batch.rows, value: rounded } };
}

/** Deflate parameters. Results differ by a few per cent, so all parameters are tried. */
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

/** Limits on the JSON of all proposals and the bytes of all memes. The excess is omitted. */
const PROPOSAL_CHARACTERS = 1_000_000;
const MEME_BYTES = 256 * 1024;

interface KeptOptions {
  overview: Overview;
  spans: readonly RowBatch[];
  scenario: ScenarioView | undefined;
}

function keptOf(
  { read, genesis, epoch }: ServedNetwork,
  { overview, spans: batches, scenario }: KeptOptions,
): RunData {
  const introduced = batches.map((batch) => batch.introduced);
  return {
    network: { ...parametersOf(genesis), epoch },
    quiet: quietOf(read, batches),
    overview,
    agents: agentsOf(
      read,
      introduced.flatMap(({ agents }) => agents.map(({ id }) => id)),
    ),
    groups: scenario ? groupsOf(introduced, scenario.groups) : null,
    about: scenario ? aboutOf(scenario) : null,
    labels: scenario?.labels ?? {},
    proposals: proposalsOf(
      read,
      introduced.flatMap(({ blocks }) => blocks.map(({ entry }) => entry)),
    ),
    memes: memesOf(
      read,
      introduced.flatMap(({ memes }) => memes.map(({ id }) => id)),
    ),
  };
}

function aboutOf({ title, question, seed, verdict, reported }: ScenarioView): RunData['about'] {
  return {
    title,
    ...(question === undefined ? {} : { question }),
    ...(seed === undefined ? {} : { seed }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(reported === undefined ? {} : { reported }),
  };
}

function groupsOf(
  introduced: readonly RowBatch['introduced'][],
  groups: ScenarioView['groups'],
): RunData['groups'] {
  const places = new Map(groups.flatMap(({ agents }, place) => agents.map((id) => [id, place])));
  const ids = introduced.flatMap(({ agents }) => agents.map(({ id }) => id));
  return { names: groups.map(({ name }) => name), of: ids.map((id) => places.get(id) ?? -1) };
}

type Read = ServedNetwork['read'];

function quietOf(read: Read, batches: readonly RowBatch[]): RunData['quiet'] {
  const quiet: RunData['quiet'] = { entries: [], at: [] };
  let next = 0;
  const until = (entry: number) => {
    for (; next < entry; next += 1) {
      quiet.entries.push(next);
      quiet.at.push(read.log.entry(next)!.at);
    }
  };
  for (const { from, to, rows } of batches) {
    for (const offset of rows.entry) {
      until(from + offset);
      next = from + offset + 1;
    }
    until(to + 1);
  }
  return quiet;
}

function agentsOf(read: Read, ids: readonly string[]): RunData['agents'] {
  const kept: RunData['agents'] = { description: [], reason: [], scores: [] };
  for (const id of ids) {
    const { description, reason } = read.agent(id)!;
    kept.description.push(description);
    kept.reason.push(reason);
    const scores = Object.values(read.reputation(id)!).map((score) => Math.round(score * 10) / 10);
    kept.scores.push(scores as Scores);
  }
  return kept;
}

function proposalsOf(read: Read, entries: readonly number[]): RunData['proposals'] {
  let left = PROPOSAL_CHARACTERS;
  return entries.map((entry) => {
    if (left <= 0) return null;
    const { body } = read.signed(entry);
    const proposal = unsigned(body);
    left -= JSON.stringify(proposal).length;
    return left < 0 ? null : proposal;
  });
}

/** Removes signatures, which prove nothing without the signed text in the log. */
function unsigned({ signature: _, transactions, ...rest }: Record<string, unknown>) {
  const list = Array.isArray(transactions) ? (transactions as Record<string, unknown>[]) : [];
  return { ...rest, transactions: list.map(({ signature: __, ...transaction }) => transaction) };
}

function memesOf(read: Read, ids: readonly string[]): RunData['memes'] {
  const kept: RunData['memes'] = {};
  let left = MEME_BYTES;
  for (const [number, id] of ids.entries()) {
    const { bytes } = read.memeContent(id) ?? {};
    if (!bytes || bytes.length > left) continue;
    left -= bytes.length;
    kept[number] = textIn(bytes) ?? { base64: Buffer.from(bytes).toString('base64') };
  }
  return kept;
}

function textIn(bytes: Uint8Array): { text: string } | null {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return null;
  }
}

/*
 * The HTML file contains scripts, styles and the run as base64. Nothing in the run is parsed as
 * markup, and gzip's checksum detects a changed byte. The file makes no requests.
 */

const require = createRequire(import.meta.url);
const built = (name: string) =>
  readFileSync(join(dirname(require.resolve('#page')), 'exported', name), 'utf8');

/** @param run compressed with gzip */
function htmlOf(about: RunSummary, run: Uint8Array): string {
  const style = built('page.css');
  const page = built('page.js');
  const begin = built('begin.js');
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(begin)}' '${hashOf(page)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src blob: data:',
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types folkmoot folkmoot-begin',
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Folkmoot</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="page"></div>
<noscript>
<p>This file needs JavaScript to show its run.</p>
</noscript>
<script type="text/plain" id="about">${packed(JSON.stringify(about))}</script>
<script type="text/plain" id="player">${packed(built('player.js'))}</script>
<script type="text/plain" id="look">${packed(style)}</script>
<script type="text/plain" id="code">${packed(page)}</script>
<script>${begin}</script>
<script type="text/plain" id="run">${base64(run)}</script>
</body>
</html>
`;
}

const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const packed = (text: string) => base64(gzipSync(text, { level: 9 }));
