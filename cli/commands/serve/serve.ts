/**
 * `folkmoot serve`: a live network over HTTP and WebSocket, with its options and its log. Each
 * option is also a variable of the environment, FOLKMOOT_ and its name.
 */

import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import type { Exchange, LimitName, Profile, Server, ServerOptions } from '../../../api/index.js';
import type { Verifier } from '../../../engine/crypto/verifier.js';
import type { ArchiveOptions } from '../../../engine/node/archiver.js';
import type { Network } from '../../../engine/node/network.js';
import type { GenesisOptions } from '../../../engine/node/open-store.js';
import {
  type Policy,
  policies,
  type Weights,
  weightings,
} from '../../../engine/protocol/schema/genesis.js';
import { exitProcess } from '../../../engine/store/process-end.js';
import { readKeys } from '../../options/client.js';
import { integer } from '../../options/options.js';
import { exitCodes, ListenError, report, StopSignal, UsageError } from '../../output/exit.js';
import { escapeControls, printJson, writeStderr } from '../../output/output.js';
import { packageVersion } from '../../output/provenance.js';
import { addNodeOptions, checkNodeOptions, type NodeFlags, nodeHelp, openNode } from './cluster.js';
import type { LiveControl } from './control.js';
import {
  addScenarioOptions,
  resolveGenesis,
  resolveScenario,
  type ServeScenarioFlags,
  scenarioHelp,
  startScenario,
} from './scenario.js';

export function serveCommand(): Command {
  const command = new Command('serve').description('serve a live network over HTTP and WebSocket');
  return addScenarioOptions(addNodeOptions(addServeOptions(command)))
    .addHelpText(
      'after',
      `
The first line on standard output is JSON, once connections are accepted:
  {"event":"listening","url":...,"ws_url":...,"network_id":...,"page_url":...}
Logs go to standard error. SIGTERM and SIGINT stop it: what is in flight is answered, and all is
committed.
${scenarioHelp}

With --control, page_url ends in #token=...: who has that token may hold the agents of a --scenario,
and change their speed; deadlines go on. --clock held is that, and holds the network as well: its
time stands still, and what would change something is answered 503 PAUSED.
${nodeHelp}

Examples:
  $ folkmoot serve --port 0 --data ./moot
  $ folkmoot serve --scenario healthy-town --speed 2
  $ folkmoot serve --scenario healthy-town --clock held
  $ folkmoot serve --limits bench            several agents on one machine share an address
  $ folkmoot serve --cluster etcd://10.0.0.1,10.0.0.2,10.0.0.3 --node n1 --network-id town \\
      --peer-listen 10.0.0.1:7070 --peer-secret peer.secret`,
    )
    .action((flags: ServeFlags) => run(flags, new StopSignal()));
}

const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

/** Serves until it is asked to stop, which may be while it starts. */
async function run(flags: ServeFlags, stopping: StopSignal): Promise<void> {
  checkNodeOptions(flags);
  await checkDoor(flags);
  const log = await openLog(flags.logLevel);
  stopping.requested.then((signal) => log.info({ signal }, 'stopping'));
  await start(flags, stopping, log).catch(async (error) => {
    // Threads and files that are open while the process exits may end it by a signal.
    await stopping.closeAll();
    throw error;
  });
  await stopping.requested;
  try {
    await stopping.closeAll();
  } catch (error) {
    log.fatal(error, 'could not stop in good order');
    return exitProcess(exitCodes.crash);
  }
  exitProcess(exitCodes.done);
}

/** Opens one thing after the other; nothing more once it is asked to stop. */
async function start(flags: ServeFlags, stopping: StopSignal, log: Logger): Promise<void> {
  const { createVerifier } = await import('../../../engine/crypto/create-verifier.js');
  const wanted = await resolveScenario(flags);
  const genesis = await resolveGenesis(flags.data, genesisOf(flags), wanted);
  if (await stopping.isAsked()) return;
  const verifier = createVerifier('pool', { warn: (line) => log.warn(line) });
  stopping.opened(() => verifier.close());
  const opened = await openNetwork(flags, genesis, verifier, log, stopping.signal);
  if (opened === null) return;
  const { network, served, close, listening } = opened;
  stopping.opened(close);
  if (await stopping.isAsked()) return;
  const control = await controlOf(flags, network, wanted !== null);
  const server = await listen(flags, served, control, log);
  stopping.opened(() => server.close());
  listening?.(server.url);
  if (await stopping.isAsked()) return;
  announce(flags, network, server, log);
  logBlocks(log, network).catch((error) => log.error(error, 'blocks are not logged any more'));
  if (wanted === null) return;
  const agents = startScenario(network, wanted, flags, log);
  agents
    .then((population) => control?.use(population))
    .catch((error) => exitProcess(report(error)));
  stopping.opened(async () => (await agents).stop());
}

interface Opened {
  /** As it is here. */
  network: Network;
  /** The same, or what makes it one of several, with all nodes. */
  served: Pick<ServerOptions, 'network' | 'cluster'>;
  close(): Promise<void>;
  /** Tells other nodes where this one's clients find it. */
  listening?(url: string): void;
}

/** Null where it was asked to stop while it waited for other nodes. */
async function openNetwork(
  flags: ServeFlags,
  genesis: GenesisOptions,
  verifier: Verifier,
  log: Logger,
  stopped: AbortSignal,
): Promise<Opened | null> {
  const options = {
    path: flags.data,
    genesis,
    verifier,
    ...archiveOptions(flags, log),
    onFatal(error: Error) {
      log.fatal(error, 'the network stopped; restart to recover');
      exitProcess(exitCodes.crash);
    },
  };
  if (flags.cluster === undefined) {
    const { Network } = await import('../../../engine/node/network.js');
    const network = await Network.open(options);
    return { network, served: { network }, close: () => network.close() };
  }
  const opened = await openNode(flags, options, log, stopped);
  if (opened === null) return null;
  const { network, close } = opened;
  const served = { network, cluster: network.status };
  return { network: network.inner, served, close, listening: (url) => network.listensAt(url) };
}

/** The line on standard output, and what a person at a terminal reads. */
function announce(
  flags: ServeFlags,
  network: Network,
  { url, page, transport, fallback }: Server,
  log: Logger,
): void {
  if (!loopback.has(flags.host)) {
    log.warn({ host: flags.host }, 'listening beyond loopback: TLS belongs in front');
  }
  if (fallback !== undefined) log.info(`node:http serves: ${fallback}`);
  const { network_id } = network.genesis;
  const ws_url = `${url.replace('http', 'ws')}/ws/v1`;
  const line = { event: 'listening', url, ws_url, network_id };
  // The token in it is for whoever started the server, and for no log.
  printJson({ ...line, ...(page === null ? {} : { page_url: page }) });
  tellListening(log, page, { ...line, transport, folder: flags.data, limits: flags.limits });
}

function archiveOptions({ archiveAfter }: ServeFlags, log: Logger): ArchiveOptions {
  return {
    ...(archiveAfter === undefined ? {} : { archiveAfter }),
    onArchived: (moved) => log.info(moved, 'archived'),
    onArchiveFault: (error) => log.error(`archive: ${error.message}; serving goes on`),
  };
}

/** What is no name or no origin is refused before anything is opened. */
async function checkDoor({ hosts, cors }: ServeFlags): Promise<void> {
  const { browserOrigin, servedName } = await import('../../../api/index.js');
  for (const [option, values, check] of [
    ['--hosts', hosts, servedName],
    ['--cors', cors, browserOrigin],
  ] as const) {
    for (const value of values) {
      try {
        check(value);
      } catch (error) {
        throw new UsageError(`${option}: ${(error as Error).message}`);
      }
    }
  }
}

function genesisOf({ networkId, policy, weights, votingPeriodMs, minValidators }: ServeFlags) {
  return {
    ...(networkId === undefined ? {} : { network_id: networkId }),
    ...(policy === undefined ? {} : { policy }),
    ...(weights === undefined ? {} : { weights }),
    ...(votingPeriodMs === undefined ? {} : { voting_period_ms: votingPeriodMs }),
    ...(minValidators === undefined ? {} : { min_validators: minValidators }),
  };
}

/** Who started the server may hold its clock where that was asked for. */
async function controlOf(
  flags: ServeFlags,
  network: Network,
  populated: boolean,
): Promise<LiveControl | null> {
  const holdsNetwork = flags.clock === 'held';
  if (!flags.control && !holdsNetwork) return null;
  const { LiveControl } = await import('./control.js');
  return new LiveControl({ network, holdsNetwork, speed: populated ? (flags.speed ?? 1) : null });
}

async function listen(
  flags: ServeFlags,
  served: Opened['served'],
  control: LiveControl | null,
  log: Logger,
): Promise<Server> {
  const { startServer } = await import('../../../api/index.js');
  const options: ServerOptions = {
    ...served,
    host: flags.host,
    port: flags.port,
    limits: flags.limits,
    ...(flags.limitsFile === undefined ? {} : { figures: await limitsFile(flags.limitsFile) }),
    trustedProxies: flags.trustedProxies,
    version: packageVersion(),
    ui: flags.ui,
    watch: flags.watch,
    onFault: (error, requestId) => log.error({ err: error, requestId }, 'a request failed'),
    onThreadEnded: (error) => log.error(error.message),
    ...(flags.transport === undefined ? {} : { transport: flags.transport }),
    threads: flags.threads,
    cors: flags.cors,
    hosts: flags.hosts,
    ...(control === null ? {} : { control }),
    ...exchangeLog(log),
    ...(await responseKeys(flags)),
  };
  try {
    return await startServer(options);
  } catch (error) {
    throw new ListenError((error as Error).message);
  }
}

/** Keys as `folkmoot keygen --out` writes them. */
async function responseKeys({ responseKey: file }: ServeFlags) {
  if (file === undefined) return {};
  const { keyPairFromSeed } = await import('../../../engine/crypto/keys.js');
  const { privateKey } = await readKeys(file, '--response-key');
  return { responseKeys: keyPairFromSeed(Buffer.from(privateKey, 'hex')) };
}

/** What `serve` was asked for. */
interface ServeFlags extends ServeScenarioFlags, NodeFlags {
  host: string;
  port: number;
  data: string;
  networkId?: string;
  policy?: Policy;
  weights?: Weights;
  votingPeriodMs?: number;
  minValidators?: number;
  limits: Profile;
  limitsFile?: string;
  clock: 'wall' | 'held';
  control?: boolean;
  ui: boolean;
  watch: boolean;
  transport?: 'uws' | 'node';
  threads: number;
  cors: string[];
  hosts: string[];
  responseKey?: string;
  trustedProxies: string[];
  logLevel: string;
  archiveAfter?: number;
}

const option = (flags: string, name: string, text: string) =>
  new Option(flags, text).env(`FOLKMOOT_${name}`);

/** Values with commas between; the option may also be given several times. */
function list(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), ...text.split(',').map((value) => value.trim())];
}

function addServeOptions(command: Command): Command {
  addNetworkOptions(command);
  addServiceOptions(command);
  return addAccessOptions(command);
}

function addNetworkOptions(command: Command): void {
  const periods = { least: 1, most: 86_400_000 };
  command
    .addOption(option('--host <address>', 'HOST', 'where to listen').default('127.0.0.1'))
    .addOption(
      option('--port <n>', 'PORT', 'port; 0 picks a free one')
        .argParser(integer({ least: 0, most: 65_535 }))
        .default(8080),
    )
    .addOption(option('--data <dir>', 'DATA', 'where the network is kept').default('folkmoot-data'))
    .addOption(
      option(
        '--network-id <id>',
        'NETWORK_ID',
        'name of the network; a new one is drawn by chance, a folder keeps its own',
      ).argParser(networkId),
    )
    .addOption(
      option('--policy <name>', 'POLICY', 'how votes decide; fixed at the start').choices(policies),
    )
    .addOption(option('--weights <name>', 'WEIGHTS', 'what a vote weighs').choices(weightings))
    .addOption(
      option(
        '--voting-period-ms <ms>',
        'VOTING_PERIOD_MS',
        'how long a block is in voting',
      ).argParser(integer(periods)),
    )
    .addOption(
      option('--min-validators <n>', 'MIN_VALIDATORS', 'electors that a block needs').argParser(
        integer({ least: 1, most: 1_000_000 }),
      ),
    );
}

function addServiceOptions(command: Command): void {
  command
    .addOption(
      option('--limits <profile>', 'LIMITS', 'rate limits; bench is 10,000 times spec')
        .choices(['spec', 'bench', 'off'])
        .default('spec'),
    )
    .addOption(
      option('--limits-file <file>', 'LIMITS_FILE', 'JSON with your own figures for some limits'),
    )
    .addOption(
      option(
        '--clock <name>',
        'CLOCK',
        'held: the network itself can be held, by who has the token',
      )
        .choices(['wall', 'held'])
        .default('wall'),
    )
    .addOption(
      option('--control', 'CONTROL', 'let who has the token of the printed address hold agents'),
    )
    .addOption(option('--no-watch', 'NO_WATCH', 'let nobody look on live without a key'))
    .addOption(option('--no-ui', 'NO_UI', 'serve no page that shows the network'))
    .addOption(
      option(
        '--transport <name>',
        'TRANSPORT',
        'default: uws where it is installed and loads, else node',
      ).choices(['uws', 'node']),
    )
    .addOption(
      option(
        '--threads <n>',
        'THREADS',
        'processes that read and write connections beside the one that decides; auto: by the cores',
      )
        .argParser(threads)
        .default(0),
    );
}

function addAccessOptions(command: Command): Command {
  return command
    .addOption(
      option('--response-key <file>', 'RESPONSE_KEY', 'sign answers with the key in this file'),
    )
    .addOption(
      option('--cors <origins>', 'CORS', 'let pages of these origins in, with commas between')
        .argParser(list)
        .default([], 'none'),
    )
    .addOption(
      option('--hosts <names>', 'HOSTS', 'names it is served under, with commas between')
        .argParser(list)
        .default([], 'localhost, this machine, any address'),
    )
    .addOption(
      option(
        '--trusted-proxies <list>',
        'TRUSTED_PROXIES',
        'addresses whose X-Forwarded-For counts',
      )
        .argParser((text) => text.split(',').map((address) => address.trim()))
        .default([], 'none'),
    )
    .addOption(
      option(
        '--archive-after <n>',
        'ARCHIVE_AFTER',
        'move all but about the last n entries into compressed files; default: keep all',
      ).argParser(integer({ least: 1_000, most: 2 ** 53 - 1 })),
    )
    .addOption(
      option(
        '--log-level <level>',
        'LOG_LEVEL',
        'how much is logged; debug: requests, refusals, blocks; trace: their times too',
      )
        .choices(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
        .default('info'),
    );
}

/** Beside the engine's and those that verify, which a machine with few cores has no others for. */
const RESERVED_CORES = 3;
const MOST_THREADS = 64;

function threads(text: string): number {
  if (text !== 'auto') return integer({ least: 0, most: MOST_THREADS })(text);
  return Math.max(0, Math.min(4, availableParallelism() - RESERVED_CORES));
}

function networkId(text: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('expected 1 to 64 letters, digits, ., _ or -');
}

async function openLog(level: string): Promise<Logger> {
  const { pino } = await import('pino');
  const output = pino.destination({ dest: 2, sync: true });
  return pino({ level }, { write: (text) => output.write(`${escapeControls(text.trimEnd())}\n`) });
}

/** Each request at `debug`, with its time at `trace`; otherwise nothing is listened to. */
function exchangeLog(log: Logger): Pick<ServerOptions, 'onExchange'> {
  if (!log.isLevelEnabled('debug')) return {};
  const timed = log.isLevelEnabled('trace');
  return {
    onExchange({ ms, code, reason, message, ...exchange }: Exchange) {
      const time = timed ? { ms } : {};
      if (exchange.status < 400) log.debug({ ...exchange, ...time }, 'request');
      else log.debug({ ...exchange, ...time, code, reason, why: message }, 'refused');
    },
  };
}

/** Each block, when it opens and when it is decided, at `debug`. */
async function logBlocks(log: Logger, network: Network): Promise<void> {
  if (!log.isLevelEnabled('debug')) return;
  for await (const { type, data, seq } of network.follow()) {
    if (type === 'block_proposal') {
      const { block_hash, height, producer } = data;
      log.debug({ seq, block_hash, height, producer: producer.id }, 'block proposed');
    } else if (type === 'block_status') {
      const { block_hash, height, status } = data;
      log.debug({ seq, block_hash, height, status }, `block ${status}`);
    }
  }
}

interface Listening {
  url: string;
  ws_url: string;
  network_id: string;
  folder: string;
  transport: string;
  limits: string;
}

/** On a terminal, in words: who starts a server by hand wants to know where and what it is. */
function tellListening(
  log: Logger,
  page: string | null,
  { url, network_id, ...more }: Listening,
): void {
  if (!process.stderr.isTTY || !log.isLevelEnabled('info')) {
    log.info({ url, network_id, ...more }, 'listening');
    return;
  }
  const { folder, transport, limits } = more;
  const look = page === null ? '' : `${page} to look at it, `;
  writeStderr(
    `folkmoot: ${url} serves ${network_id}, kept in ${folder} (transport ${transport}, limits ` +
      `${limits}); ${look}${url}/docs to read, Ctrl+C to stop`,
  );
}

type OwnLimits = Partial<Record<LimitName, number>>;

const MOST_LIMIT = Number.MAX_SAFE_INTEGER;

/** @throws {UsageError} that names the file and what in it is not a limit. */
async function limitsFile(path: string): Promise<OwnLimits> {
  const { limitNames } = await import('../../../api/index.js');
  const { fileBounds, readBounded } = await import('../../../engine/store/folder.js');
  const bad = (why: string) => new UsageError(`--limits-file ${path}: ${why}`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readBounded(path, fileBounds.text).toString());
  } catch (error) {
    throw bad((error as Error).message);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw bad('expected an object such as {"vote": 20}');
  }
  for (const [name, figure] of Object.entries(parsed)) {
    if (!(limitNames as readonly string[]).includes(name)) {
      throw bad(`${name} is no limit; there are ${limitNames.join(', ')}`);
    }
    if (!Number.isInteger(figure) || figure < 1 || figure > MOST_LIMIT) {
      throw bad(`${name} is not a whole number from 1 to ${MOST_LIMIT}`);
    }
  }
  return parsed as OwnLimits;
}
