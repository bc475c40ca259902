/**
 * `folkmoot explore`: shows a network that is kept in a folder, or the result of a load run, on a
 * page, and changes nothing. `--export` writes a run and its page as one file, once its log was
 * recomputed.
 */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Command, Option } from 'commander';
import type { ClockShown, Control } from '../../api/contract/control.js';
import type { Server, ServerOptions } from '../../api/index.js';
import type { KeptNetwork } from '../../engine/node/kept-network.js';
import type { LogLine } from '../../engine/replay/recompute.js';
import type { ReplayResult } from '../../engine/replay/replay.js';
import {
  openUiServer,
  resolveAddress,
  type UiServerFlags,
  uiServerOptions,
} from '../options/ui-server.js';
import { interruption, ListenError, StopSignal, UsageError } from '../output/exit.js';
import { endNow, io } from '../output/io.js';
import { printJson, writeStderr, writeStdout } from '../output/output.js';
import { showCount } from '../output/progress.js';
import { packageVersion } from '../output/provenance.js';

export function exploreCommand(): Command {
  const command = new Command('explore')
    .description('show a kept run or a data folder on a page, also while it is written')
    .argument('<dir>', 'a folder that sim --out, serve --data or load --out wrote');
  for (const option of uiServerOptions()) command.addOption(option);
  return command
    .addOption(
      new Option('--open <when>', 'open it in a browser; default: yes, at a terminal').choices([
        'yes',
        'no',
      ]),
    )
    .option('--verify', 'the page recomputes the log in the browser as soon as it is opened')
    .addOption(
      new Option(
        '--export [file]',
        'write the page and all that it shows as one new .html file, which needs no server; ' +
          'default: run.html in the folder of a kept run',
      ).conflicts(['port', 'host', 'open', 'verify']),
    )
    .option('--json', 'print {event, …} when it listens, or when the file is there')
    .addHelpText(
      'after',
      `
Nothing in the folder is changed but view/ and history/, where what the page is shown is kept and
which may be deleted; files there that this installation did not write are made again. Requests
that would write are refused (READ_ONLY). What another process adds to the folder appears as it is
committed; when the folder is deleted meanwhile, what was read is still shown. A damaged folder is
refused, with exit code 13 and the reason. SIGTERM and SIGINT end it.

With --export the log is recomputed first, and a folder that differs is refused. The file opens in a
browser without a network, at any entry: run.html?at=1200. It has what the page shows, memes up to
256 KiB and proposals up to 1 MB; what only the log has, signatures and the requests themselves, is
not in it. A run of 100,000 events takes about half a megabyte; 2,000,000 are the most. Beside the
report of a run as run.html, the report leads into it.

Of a load run that load --out kept, its result is shown: verdict, rates and times over time, errors.

Examples:
  $ folkmoot sim healthy-town --out runs/town && folkmoot explore runs/town
  $ folkmoot explore folkmoot-data --port 8081 --open no      beside the server that writes it
  $ folkmoot explore runs/town --verify                       its log, recomputed in the browser
  $ folkmoot explore runs/town --export                       runs/town/run.html, to pass on
  $ folkmoot explore folkmoot-data --export today.html
  $ folkmoot explore runs/town --json                         for a program that starts it
  $ folkmoot explore runs/votes                               what a load run measured`,
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

/** Opens one thing after the other; nothing more once it is asked to stop. */
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
    writeStdout(`${page} shows ${folder}: ${network_id}, entries 0 to ${seq}; Ctrl+C to stop`);
  }
  openIfWanted(page, flags);
}

/** The view that recomputes, told to begin. */
function verifying(page: string): string {
  const { hash } = new URL(page);
  return `${new URL('explore?verify=1', page).href}${hash}`;
}

interface ExploreFlags extends UiServerFlags {
  /** A file, or where it stands by default. */
  export?: true | string;
  open?: 'yes' | 'no';
  verify?: boolean;
  json?: boolean;
}

/** Opens it where that was asked for, or nobody said anything at a terminal. */
function openIfWanted(url: string, { open }: ExploreFlags): void {
  if (open === 'yes' || (open === undefined && io().stdout.isTTY)) openBrowser(url);
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Waits for nothing: whoever has no browser here reads the address that was printed. */
function openBrowser(url: string): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => writeStderr('folkmoot: no browser was found to open the page with'));
  child.unref();
}

/** How often it is looked whether the run that another process makes is over. */
const LOOK_MS = 1_000;

class FolderControl implements Control {
  readonly kind = 'folder';
  readonly can = [] as const;
  readonly #network: KeptNetwork;
  /** What a run leaves last. */
  readonly #result: string;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners = new Set<() => void>();
  #over = false;

  /** It never holds the process. */
  constructor(network: KeptNetwork, folder: string) {
    this.#network = network;
    this.#result = join(folder, 'summary.json');
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
    this.#look();
  }

  clock(): ClockShown {
    const at = new Date(this.#network.time).toISOString();
    return { holds: 'nothing', paused: false, speed: null, until: null, at, over: this.#over };
  }

  get lost(): string | null {
    return this.#network.lost;
  }

  /** To be called when the folder is lost: whoever looks on is told. */
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

  /** Looks no more. */
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

/** Whether it is of `load --out`: the only one whose folder has a result. */
const isLoadRun = (folder: string): boolean => existsSync(join(folder, 'result.json'));

/** @throws {StoreError} when its result cannot be used. */
async function exploreLoad(
  folder: string,
  flags: ExploreFlags,
  stopping: StopSignal,
): Promise<void> {
  const is = `${folder} is of a load run`;
  if (flags.verify) throw new UsageError(`--verify recomputes a log, and ${is}, which has none`);
  if (flags.export) {
    throw new UsageError(`--export writes a network, and ${is}: its report.html is one file`);
  }
  const { readLoad } = await import('../../bench/load/files.js');
  const { toLoadState } = await import('../../bench/load/page-data.js');
  const { Board, loadControl, startLoadServer } = await import('../../api/load-server.js');
  const result = readLoad(folder);
  const board = new Board(toLoadState(result));
  const control = loadControl(
    () => 'over',
    () => {},
  );
  const { host, port } = resolveAddress(flags);
  const onFault = (error: unknown) =>
    writeStderr(`folkmoot: a request failed: ${(error as Error).message}`);
  const { url, page, close } = await startLoadServer({ board, control, host, port, onFault }).catch(
    ({ message }: Error) => {
      throw new ListenError(message);
    },
  );
  stopping.opened(close);
  if (await stopping.isAsked()) return;
  const { verdict } = result;
  if (flags.json) printJson({ event: 'listening', url, page, folder, verdict });
  else writeStdout(`${page} shows ${folder}: a load run, ${verdict}; Ctrl+C to stop`);
  openIfWanted(page, flags);
}

/** Of a run that `sim --out` kept; what is said of it beside its log may be missing, or damaged. */
async function keptScenario(
  folder: string,
  network: KeptNetwork,
): Promise<Pick<ServerOptions, 'scenario' | 'run'>> {
  const { openKeptRun, describeScenario } = await import('../../sim/run-view.js');
  const { readKeptResult } = await import('../../sim/fork/kept-run.js');
  const { START_MS } = await import('../../sim/run/options.js');
  try {
    const result = readKeptResult(folder);
    if (!result) return {};
    const scenario = describeScenario(result.scenario, result.seed, START_MS);
    return { ...(scenario ? { scenario } : {}), run: openKeptRun(folder, result, network) };
  } catch (error) {
    writeStderr(`folkmoot: its scenario is not shown: ${(error as Error).message}`);
    return {};
  }
}

/** Beside the report of a run, which leads into it. */
const BESIDE_REPORT = 'run.html';
/** Entries between two turns of the event loop, and looks at the progress. */
const TURN = 256;

/** @param file null: the one beside the report of a kept run. */
async function writeExport(
  folder: string,
  file: string | null,
  { json }: { json?: boolean },
): Promise<void> {
  const path = file ?? besideReport(folder);
  if (!/\.html?$/i.test(path)) {
    throw new UsageError(`--export ${path}: expected the name of an .html file`);
  }
  if (existsSync(path)) {
    throw new UsageError(`${path} is there already; expected the name of a new file`);
  }
  if (!existsSync(dirname(path))) {
    throw new UsageError(`${dirname(path)} is not there; expected a folder for ${basename(path)}`);
  }
  const { signal, end } = interruption();
  try {
    const { entries, events, html } = await makeExport(folder, signal);
    const { writeWhole } = await import('../../report/folder.js');
    // What kept the thread busy kept signals waiting.
    await nextTurn();
    signal.throwIfAborted();
    writeWhole(dirname(path), basename(path), html);
    await renewReport(folder, path);
    const bytes = Buffer.byteLength(html);
    if (json) printJson({ event: 'exported', file: path, folder, entries, events, bytes });
    else
      writeStdout(
        `${path}: ${events} events in ${Math.ceil(bytes / 1_000)} kB; open it in a browser`,
      );
  } catch (error) {
    if (signal.aborted) return end();
    throw error;
  }
}

function besideReport(folder: string): string {
  if (existsSync(join(folder, 'summary.json'))) return join(folder, BESIDE_REPORT);
  throw new UsageError(`${folder} is no kept run; expected --export FILE, a new .html file`);
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
    return await exportRun(network, { ...about, signal, groups: scenario?.groups });
  } finally {
    await network.close();
  }
}

/** A file that is passed on cannot be recomputed where it is opened: so all of it is before. */
async function recompute(folder: string, signal: AbortSignal) {
  const { replay } = await import('../../engine/replay/replay.js');
  const { StoreError } = await import('../../engine/store/store.js');
  const { storedLines } = await import('../../engine/replay/lines.js');
  const { openForReading } = await import('../options/folder.js');
  const stored = openForReading(folder, true);
  let result: ReplayResult;
  try {
    const last = stored.meta();
    if (!last) throw new StoreError('NO_NETWORK', { path: folder });
    await assertSize(folder, last.event_seq);
    const progress = last.seq < MANY_ENTRIES ? null : showCount(last.seq + 1, 'entries recomputed');
    const lines = inTurns(storedLines(stored, 0, last.seq), signal, (done) =>
      progress?.update(done),
    );
    result = await replay({ lines, stored, end: last }).finally(() => progress?.stop());
  } finally {
    await stored.close();
  }
  const { first_divergence: divergence, entries, digest } = result;
  if (divergence) {
    const reason = `${divergence.what} of entry ${divergence.seq} does not follow from the log`;
    throw new StoreError('DATA_DAMAGED', { path: folder, reason });
  }
  return { entries, digest };
}

/** Fewer are recomputed before anybody looks. */
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

/** Before anything is recomputed. */
async function assertSize(folder: string, events: number): Promise<void> {
  const { MAX_EXPORTED_EVENTS } = await import('../../api/run-export.js');
  if (events <= MAX_EXPORTED_EVENTS) return;
  const most = `one file holds ${MAX_EXPORTED_EVENTS} at the most`;
  throw new UsageError(`${folder} has ${events} events; ${most}: folkmoot explore shows them all`);
}

/** The report of the run finds the file, and leads into it. */
async function renewReport(folder: string, path: string): Promise<void> {
  const there = resolve(path) === resolve(folder, BESIDE_REPORT);
  if (!there || !existsSync(join(folder, 'report.html'))) return;
  const { writeRunReport } = await import('../../sim/report/index.js');
  await writeRunReport(folder);
}
