/**
 * `folkmoot explore`: serves the page for a stored network or a load result, read-only. `--export`
 * recomputes the log, then writes the network and its page as one file.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Option } from 'commander';
import type { ClockView, Control } from '../../api/contract/control.js';
import type { Server, ServerOptions } from '../../api/index.js';
import type { KeptNetwork } from '../../engine/node/kept-network.js';
import type { LogLine } from '../../engine/replay/recompute.js';
import { CliCommand } from '../options/options.js';
import {
  openUiServer,
  resolveAddress,
  type UiServerFlags,
  uiServerOptions,
} from '../options/ui-server.js';
import { interruption, listenError, StopSignal, UsageError } from '../output/exit.js';
import { endNow, io } from '../output/io.js';
import { printJson, writeStderr, writeStdout } from '../output/output.js';
import { showCount } from '../output/progress.js';
import { packageVersion } from '../output/provenance.js';

export function exploreCommand(): CliCommand {
  return new CliCommand('explore')
    .description('browse a saved run or data folder on a local page')
    .argument('<dir>', 'saved run, data folder or load run')
    .addOptions(uiServerOptions())
    .choice('--open <when>', 'open in a browser (default: yes in a terminal)', ['yes', 'no'])
    .option('--verify', 'recompute the log in the browser')
    .addOption(
      new Option(
        '--export [file]',
        'new standalone HTML file to write (default: DIR/run.html)',
      ).conflicts(['port', 'host', 'open', 'verify']),
    )
    .option('--json', 'print one JSON object when ready')
    .notes(`
Serves the folder read-only until SIGTERM or SIGINT. Write requests get
READ_ONLY. New entries appear as another process commits them. Only view/ and
history/ in the folder are written. They are caches and can be deleted. For a
load run, the page shows the result: verdict, rates, latencies and errors.

--export recomputes the log first and refuses a folder that does not match. The
file needs no server and opens at any entry, such as run.html?at=1200. It
contains all that the page shows, with memes up to 256 KiB and proposals up to
1 MB, but no requests and no signatures. 100,000 events take about 0.5 MB; the
limit is 2,000,000 events. The report of the run links to DIR/run.html.`)
    .examples(
      'explore runs/7',
      'explore folkmoot-data --port 8081 --open no',
      'explore runs/7 --verify',
      'explore runs/7 --export',
      'explore folkmoot-data --export today.html',
    )
    .action(async (folder: string, flags: ExploreFlags) => {
      if (flags.export === undefined || isLoadRun(folder)) {
        return runExplore(folder, flags, new StopSignal());
      }
      await writeExport(folder, flags.export === true ? null : flags.export, flags);
    });
}

async function runExplore(
  folder: string,
  flags: ExploreFlags,
  stopping: StopSignal,
): Promise<void> {
  try {
    await start(folder, flags, stopping);
    await stopping.requested;
  } finally {
    await stopping.closeAll();
  }
  endNow();
}

/** Starts the server, unless a signal arrives first. */
async function start(folder: string, flags: ExploreFlags, stopping: StopSignal): Promise<void> {
  if (isLoadRun(folder)) return exploreLoad(folder, flags, stopping);
  const { KeptNetwork } = await import('../../engine/node/kept-network.js');
  const { storeFolder } = await import('../options/folder.js');
  const path = storeFolder(folder);
  const network = KeptNetwork.open({
    path,
    onLost(why) {
      writeStderr(`folkmoot: ${why}`);
      control.changed();
    },
  });
  stopping.opened(() => network.close());
  const control = new FolderControl(network, folder);
  stopping.opened(async () => control.close());
  if (await stopping.isAsked()) return;
  const more = await keptScenario(folder, network);
  const server = await openUiServer(network, flags, { control, ...more });
  stopping.opened(() => server.close());
  if (await stopping.isAsked()) return;
  announce(folder, flags, network, server);
}

function announce(folder: string, flags: ExploreFlags, network: KeptNetwork, server: Server): void {
  const { seq } = network.read.position;
  const { network_id } = network.genesis;
  const { url } = server;
  const page = flags.verify ? verifying(server.page!) : server.page!;
  if (flags.json) {
    printJson({ event: 'listening', url, page, folder, network_id, entries: seq + 1 });
  } else {
    writeStdout(`${page} shows ${folder}: ${network_id}, entries 0 to ${seq}; stop with Ctrl+C`);
  }
  openIfWanted(page, flags);
}

/** Returns the page address that starts recomputing the log. */
function verifying(page: string): string {
  const { hash } = new URL(page);
  return `${new URL('explore?verify=1', page).href}${hash}`;
}

interface ExploreFlags extends UiServerFlags {
  /** File path, or true for the default path. */
  export?: true | string;
  open?: 'yes' | 'no';
  verify?: boolean;
  json?: boolean;
}

function openIfWanted(url: string, { open }: ExploreFlags): void {
  if (open === 'yes' || (open === undefined && io().stdout.isTTY)) openBrowser(url);
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a browser without waiting for it. If the browser cannot be started, prints a notice. */
function openBrowser(url: string): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => writeStderr('folkmoot: no browser found; open the printed address'));
  child.unref();
}

/** Interval between checks for the end of a run in a different process. */
const LOOK_MS = 1_000;

class FolderControl implements Control {
  readonly kind = 'folder';
  readonly can = [] as const;
  readonly #network: KeptNetwork;
  /** Last file that a run writes. */
  readonly #result: string;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners = new Set<() => void>();
  #over = false;

  /** The timer does not keep the process alive. */
  constructor(network: KeptNetwork, folder: string) {
    this.#network = network;
    this.#result = join(folder, 'summary.json');
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
    this.#look();
  }

  clock(): ClockView {
    const at = new Date(this.#network.time).toISOString();
    return { holds: 'nothing', paused: false, speed: null, until: null, at, over: this.#over };
  }

  get lost(): string | null {
    return this.#network.lost;
  }

  /** Notifies listeners of a change, for example when the folder is lost. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  async do(): Promise<null> {
    return null;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (!existsSync(this.#result)) return;
    this.#over = true;
    this.close();
    this.changed();
  }
}

/** Returns true for a folder from `load --out`. Only such a folder contains a result. */
const isLoadRun = (folder: string): boolean => existsSync(join(folder, 'result.json'));

/** @throws {StoreError} if the result is invalid. */
async function exploreLoad(
  folder: string,
  flags: ExploreFlags,
  stopping: StopSignal,
): Promise<void> {
  if (flags.verify) throw new UsageError('NOT_FOR_LOAD_RUN', { option: '--verify', folder });
  if (flags.export) throw new UsageError('NOT_FOR_LOAD_RUN', { option: '--export', folder });
  const { readLoad } = await import('../../bench/load/files.js');
  const { toLoadState } = await import('../../bench/load/model.js');
  const { Board, loadControl, startLoadServer } = await import('../../api/load-server.js');
  const result = readLoad(folder);
  const board = new Board(toLoadState(result));
  const control = loadControl(
    () => 'over',
    () => {},
  );
  const { host, port } = resolveAddress(flags);
  const onFault = (error: unknown) =>
    writeStderr(`folkmoot: request failed: ${(error as Error).message}`);
  const { url, page, close } = await startLoadServer({ board, control, host, port, onFault }).catch(
    ({ message }: Error) => {
      throw listenError('CANNOT_SERVE', { reason: message });
    },
  );
  stopping.opened(close);
  if (await stopping.isAsked()) return;
  const { verdict } = result;
  if (flags.json) printJson({ event: 'listening', url, page, folder, verdict });
  else writeStdout(`${page} shows ${folder}: load run, ${verdict}; stop with Ctrl+C`);
  openIfWanted(page, flags);
}

/** Reads a saved run's scenario. A missing or damaged summary is not an error. */
async function keptScenario(
  folder: string,
  network: KeptNetwork,
): Promise<Pick<ServerOptions, 'scenario' | 'run'>> {
  const { openKeptRun, describeScenario } = await import('../../sim/run-view.js');
  const { collectLabels } = await import('../../sim/elections/rule-ballots.js');
  const { readKeptResult } = await import('../../sim/fork/kept-run.js');
  const { START_MS } = await import('../../sim/run/options.js');
  try {
    const result = readKeptResult(folder);
    if (!result) return {};
    const labels = collectLabels(result.elections ?? {});
    const scenario = describeScenario(result.scenario, result.seed, START_MS, labels);
    const { verdict } = result;
    const { run = {}, groups = {} } = result.reported ?? {};
    const ofGroups = Object.entries(groups).flatMap(([group, figures]) =>
      Object.entries(figures).map(([name, value]) => [`${name}@${group}`, value] as const),
    );
    const reported = { ...run, ...Object.fromEntries(ofGroups) };
    return {
      ...(scenario ? { scenario: { ...scenario, verdict, reported } } : {}),
      run: openKeptRun(folder, result, network),
    };
  } catch (error) {
    writeStderr(`folkmoot: warning: no scenario: ${(error as Error).message}`);
    return {};
  }
}

/** Default file name. The run's report links to this file. */
const BESIDE_REPORT = 'run.html';
/** Entries per turn of the event loop and per progress update. */
const TURN = 256;

/** @param file null for the default file of a saved run. @throws {UsageError} */
async function writeExport(
  folder: string,
  file: string | null,
  { json }: { json?: boolean },
): Promise<void> {
  const path = file ?? besideReport(folder);
  if (!/\.html?$/i.test(path)) {
    const expected = 'an .html file';
    throw new UsageError('INVALID_VALUE', { option: '--export', value: path, expected });
  }
  if (existsSync(path)) throw new UsageError('FILE_EXISTS', { path });
  if (!existsSync(dirname(path))) throw new UsageError('FOLDER_NOT_FOUND', { path: dirname(path) });
  const { signal, end } = interruption();
  try {
    const { entries, events, html } = await makeExport(folder, signal);
    const { writeWhole } = await import('../../report/folder.js');
    // The export blocked the thread, so a signal may be pending.
    await nextTurn();
    signal.throwIfAborted();
    writeWhole(dirname(path), basename(path), html);
    await renewReport(folder, path);
    const bytes = Buffer.byteLength(html);
    if (json) printJson({ event: 'exported', file: path, folder, entries, events, bytes });
    else
      writeStdout(
        `${path}: ${events} events in ${Math.ceil(bytes / 1_000)} kB; open the file in a browser`,
      );
  } catch (error) {
    if (signal.aborted) return end();
    throw error;
  }
}

function besideReport(folder: string): string {
  if (existsSync(join(folder, 'summary.json'))) return join(folder, BESIDE_REPORT);
  throw new UsageError('NOT_A_RUN', { folder });
}

async function makeExport(folder: string, signal: AbortSignal) {
  const { KeptNetwork } = await import('../../engine/node/kept-network.js');
  const { exportRun } = await import('../../api/run-export.js');
  const { storeFolder } = await import('../options/folder.js');
  const proven = await recompute(folder, signal);
  const network = KeptNetwork.open({ path: storeFolder(folder), whole: false });
  try {
    const about = { folder: basename(resolve(folder)), proven, version: packageVersion() };
    const { scenario } = await keptScenario(folder, network);
    return await exportRun(network, { ...about, signal, scenario });
  } finally {
    await network.close();
  }
}

/** Recomputes the log before the export, because the exported file cannot be recomputed. */
async function recompute(folder: string, signal: AbortSignal) {
  const { storeError } = await import('../../engine/store/messages.js');
  const { MAX_EXPORTED_EVENTS } = await import('../../api/run-export.js');
  const { replayFolder } = await import('./replay.js');
  let progress: ReturnType<typeof showCount> | null = null;
  const result = await replayFolder(folder, {}, (lines, { seq, event_seq: events }) => {
    if (events > MAX_EXPORTED_EVENTS) {
      throw new UsageError('TOO_MANY_EVENTS', { events, folder, limit: MAX_EXPORTED_EVENTS });
    }
    if (seq >= MANY_ENTRIES) progress = showCount(seq + 1, 'entries recomputed');
    return inTurns(lines, signal, (done) => progress?.update(done));
  }).finally(() => progress?.stop());
  const { first_divergence: divergence, entries, digest } = result;
  if (divergence) {
    const reason = `${divergence.what} of entry ${divergence.seq} does not follow from the log`;
    throw storeError('DATA_DAMAGED', { path: folder, reason });
  }
  return { entries, digest };
}

/** Number of entries below which no progress is shown. */
const MANY_ENTRIES = 1_000;

async function* inTurns(
  lines: Iterable<LogLine>,
  signal: AbortSignal,
  tell: (done: number) => void,
): AsyncGenerator<LogLine> {
  let done = 0;
  for (const line of lines) {
    if (done % TURN === 0) {
      await nextTurn();
      signal.throwIfAborted();
      tell(done);
    }
    yield line;
    done += 1;
  }
  tell(done);
}

/** Rewrites the run's report so that it links to the exported file. */
async function renewReport(folder: string, path: string): Promise<void> {
  const there = resolve(path) === resolve(folder, BESIDE_REPORT);
  if (!there || !existsSync(join(folder, 'report.html'))) return;
  const { writeRunReport } = await import('../../sim/report/index.js');
  await writeRunReport(folder);
}
