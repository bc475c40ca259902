import { execFile } from 'node:child_process';
import { Option } from 'commander';
import type { Logger } from 'pino';
import type { Profile, Server, ServerOptions } from '../../../api/index.js';
import type { GenesisOptions } from '../../../engine/admit/genesis.js';
import type { Verifier } from '../../../engine/crypto/verifier.js';
import type { ArchiveOptions } from '../../../engine/node/archiver.js';
import type { Network } from '../../../engine/node/network.js';
import { type Policy, type Weights, weightings } from '../../../engine/protocol/schema/genesis.js';
import { policies } from '../../../engine/rules/bundled/policies.js';
import { exitProcess } from '../../../engine/store/process-end.js';
import type { GivenParameters } from '../../../sim/rules/chosen-rule.js';
import { omitAbsent, parseSecret, readKeys } from '../../options/client.js';
import {
  configurable,
  SecretOption,
  type SecretSource,
  type Settings,
} from '../../options/config.js';
import { CliCommand, commaList, integer, shortName, threadsOption } from '../../options/options.js';
import { parameterOption } from '../../options/rule.js';
import { startTraces, tracesOption } from '../../options/traces.js';
import { loopback } from '../../options/ui-server.js';
import { exitCodes, listenError, report, StopSignal, UsageError } from '../../output/exit.js';
import { escapeControls, printJson, writeStderr } from '../../output/output.js';
import { packageVersion } from '../../output/provenance.js';
import { assertNodeOptions, type NodeFlags, nodeHelp, nodeOptions, openNode } from './cluster.js';
import type { LiveControl } from './control.js';
import { exchangeLog, readLimits, startLiveSettings } from './live-settings.js';
import {
  assertScenarioOptions,
  resolveGenesis,
  resolveScenario,
  type ServeScenarioFlags,
  scenarioHelp,
  scenarioOptions,
  startScenario,
} from './scenario.js';

export function serveCommand(): CliCommand {
  const command = addServeOptions(new CliCommand('serve'));
  command.description('serve a live network over HTTP and WebSocket');
  return configurable<ServeFlags>(command, { name: 'serve', check: assertFlags, run })
    .notes(`
Once the server accepts connections, it prints one line of JSON:
  {"event":"listening","url":...,"ws_url":...,"network_id":...,"page_url":...}
Logs go to standard error. SIGTERM and SIGINT stop the server after all pending
requests have been answered and committed. Several agents on one machine share
an address and its limits: use --limits bench.
${scenarioHelp}

--rule makes a JavaScript file the decision rule of a new network. The rule runs
in a sandbox. Its text is part of genesis, so --rule with the same text is also
necessary to serve the network again. --parameter sets a parameter of the rule
of a new network, also of a named --policy. A restart keeps all parameters. All
nodes of a cluster need the same --rule and --parameter options.

--control adds a token to page_url. The token allows pausing the agents and
changing their speed. Deadlines continue. --clock held also pauses the network:
its time stops, and writes get 503 PAUSED.
${nodeHelp}`)
    .examples(
      'serve',
      'serve --rule sixty.js --parameter for_bps=7500',
      'serve --scenario healthy-town --speed 2',
      'serve --scenario healthy-town --clock held',
      `serve --cluster etcd://10.0.0.1,10.0.0.2 --network-id town \\
      --node n1 --peer-listen 10.0.0.1:7070 --peer-secret peer.secret`,
    );
}

/** @throws {UsageError} for flags that contradict each other. Opens nothing. */
async function assertFlags(flags: ServeFlags): Promise<void> {
  assertNodeOptions(flags);
  assertScenarioOptions(flags);
  assertControl(flags);
  await assertDoor(flags);
  if (flags.limitsFile !== undefined) await readLimits(flags.limitsFile);
}

/** Serves until a signal arrives, possibly during the start. */
async function run(flags: ServeFlags, settings: Settings): Promise<void> {
  const stopping = new StopSignal();
  await settings.check();
  const log = await openLog(flags.logLevel);
  stopping.requested.then((signal) => log.info({ signal }, 'stopping'));
  await start({ flags, settings }, stopping, log).catch(async (error) => {
    // Exiting with open threads and files can cause a crash.
    await stopping.closeAll();
    throw error;
  });
  await stopping.requested;
  try {
    await stopping.closeAll();
  } catch (error) {
    log.fatal(error, 'shutdown failed');
    return exitProcess(exitCodes.crash);
  }
  exitProcess(exitCodes.done);
}

/** Starts the server, unless a signal arrives first. */
async function start(
  { flags, settings }: { flags: ServeFlags; settings: Settings },
  stopping: StopSignal,
  log: Logger,
): Promise<void> {
  const { createVerifier } = await import('../../../engine/crypto/pool.js');
  const wanted = await resolveScenario(flags);
  if (flags.traces !== undefined) {
    const traces = await startTraces(flags.traces);
    stopping.opened(() => traces.end());
  }
  const genesis = await resolveGenesis(flags, genesisOf(flags), wanted);
  if (await stopping.isAsked()) return;
  const { verifyThreads: threads } = flags;
  const warn = (line: string) => log.warn(line);
  const verifier = createVerifier('pool', { ...omitAbsent({ threads }), warn });
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
  // A manager may send SIGHUP as soon as the server has announced itself.
  await startLiveSettings({ settings, server, network, log });
  announce(flags, network, server, log);
  await notifyUnit(server.url, stopping, log);
  if (wanted === null) return;
  const agents = startScenario(network, wanted, flags, log);
  agents
    .then((population) => control?.use(population))
    .catch((error) => exitProcess(report(error)));
  stopping.opened(async () => (await agents).stop());
}

interface Opened {
  network: Network;
  /** The network itself or, with --cluster, the node with its cluster status. */
  served: Pick<ServerOptions, 'network' | 'cluster'>;
  close(): Promise<void>;
  /** Publishes the address of this node to the other nodes. */
  listening?(url: string): void;
}

/** Returns null if a signal arrives while waiting for other nodes. */
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

/** Notifies systemd, if it started this server and waits for notifications. */
async function notifyUnit(url: string, stopping: StopSignal, log: Logger): Promise<void> {
  const { env, pid } = process;
  if (!env.NOTIFY_SOCKET) return;
  const unit = new UnitNotifier({ env, pid, warn: (line) => log.warn(line) });
  stopping.opened(() => unit.stopping());
  await unit.ready(url);
}

/** Prints one line of JSON and, at a terminal, a text. */
function announce(
  flags: ServeFlags,
  network: Network,
  { url, page, transport, fallback }: Server,
  log: Logger,
): void {
  if (!loopback.has(flags.host)) {
    log.warn({ host: flags.host }, 'reachable from other machines; put TLS in front');
  }
  if (fallback !== undefined) log.info(`serving with node:http: ${fallback}`);
  const { network_id } = network.genesis;
  const ws_url = `${url.replace('http', 'ws')}/ws/v1`;
  const line = { event: 'listening', url, ws_url, network_id };
  // The token in page_url is for the operator only and must not be logged.
  printJson({ ...line, ...(page === null ? {} : { page_url: page }) });
  logListening(log, page, { ...line, transport, folder: flags.data, limits: flags.limits });
}

function archiveOptions({ archiveAfter }: ServeFlags, log: Logger): ArchiveOptions {
  return {
    ...omitAbsent({ archiveAfter }),
    onArchived: (moved) => log.info(moved, 'archived'),
    onArchiveFault: (error) => log.error(`archive failed: ${error.message}; the server continues`),
  };
}

/** Checks host names and origins before anything is opened. @throws {UsageError} */
async function assertDoor({ hosts, cors }: ServeFlags): Promise<void> {
  const { browserOrigin, servedName } = await import('../../../api/index.js');
  for (const [option, values, check] of [
    ['--hosts', hosts, servedName],
    ['--cors', cors, browserOrigin],
  ] as const) {
    for (const value of values) {
      try {
        check(value);
      } catch (error) {
        const problem = (error as Error).message;
        throw new UsageError('INVALID_ARGUMENT', { option, value, problem });
      }
    }
  }
}

function genesisOf({ networkId, policy, weights, votingPeriodMs, minValidators }: ServeFlags) {
  return omitAbsent({
    network_id: networkId,
    ...{ policy, weights, voting_period_ms: votingPeriodMs, min_validators: minValidators },
  });
}

/** @throws {UsageError} for a token that the server would not use. */
function assertControl({ controlToken: token, control, clock }: ServeFlags): void {
  if (token === undefined || control || clock === 'held') return;
  const required = '--control or --clock held';
  throw new UsageError('OPTION_REQUIRES', { option: '--control-token', required });
}

/** Returns null without --control or --clock held. */
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
  const onExchange = exchangeLog(log);
  const options: ServerOptions = {
    ...served,
    host: flags.host,
    port: flags.port,
    limits: flags.limits,
    ...(flags.limitsFile === undefined ? {} : { figures: await readLimits(flags.limitsFile) }),
    trustedProxies: flags.trustedProxies,
    version: packageVersion(),
    ui: flags.ui,
    watch: flags.watch,
    onFault: (error, requestId) => log.error({ err: error, requestId }, 'request failed'),
    ...(flags.transport === undefined ? {} : { transport: flags.transport }),
    traces: flags.traces !== undefined,
    cors: flags.cors,
    hosts: flags.hosts,
    ...(control === null ? {} : { control }),
    ...(onExchange === null ? {} : { onExchange }),
    ...(await responseKeys(flags)),
    ...controlToken(flags),
  };
  try {
    return await startServer(options);
  } catch (error) {
    throw listenError('CANNOT_SERVE', { reason: (error as Error).message });
  }
}

async function responseKeys({ responseKey: source }: ServeFlags) {
  if (source === undefined) return {};
  const { keyPairFromSeed } = await import('../../../engine/crypto/keys.js');
  const { privateKey } = await readKeys(source, '--response-key');
  return { responseKeys: keyPairFromSeed(Buffer.from(privateKey, 'hex')) };
}

/** Returns the token that the operator chose, if any. The server draws a token otherwise. */
function controlToken({ controlToken: source }: ServeFlags): Pick<ServerOptions, 'controlToken'> {
  if (source === undefined) return {};
  const parse = (text: string) => {
    const token = text.trim();
    if (/^[A-Za-z0-9_-]{32,256}$/.test(token)) return token;
    throw new Error('expected 32 to 256 letters, digits, _ or -');
  };
  return { controlToken: parseSecret(source, '--control-token', parse) };
}

interface ServeFlags extends ServeScenarioFlags, NodeFlags {
  host: string;
  port: number;
  data: string;
  networkId?: string;
  policy?: Policy;
  rule?: string;
  parameter?: GivenParameters;
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
  cors: string[];
  hosts: string[];
  responseKey?: SecretSource;
  controlToken?: SecretSource;
  trustedProxies: string[];
  logLevel: string;
  traces?: string;
  archiveAfter?: number;
  verifyThreads?: number;
}

const commaOption = (flags: string, text: string, initial: string) =>
  new Option(flags, `comma-separated list of ${text}`).argParser(commaList).default([], initial);

function addServeOptions(command: CliCommand): CliCommand {
  return command
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on, 0 for a free port', integer(0, 65_535), 8080)
    .option('--data <dir>', 'data folder', 'folkmoot-data')
    .option('--network-id <id>', 'name of a new network (default: random)', shortName)
    .choice('--policy <name>', 'decision policy of a new network', policies)
    .addOption(
      new Option('--rule <file>', 'JavaScript file with the decision rule').conflicts('policy'),
    )
    .addOption(parameterOption())
    .choice('--weights <name>', 'vote weights of a new network', weightings)
    .option('--voting-period-ms <ms>', 'voting period of a new network', integer(1, 86_400_000))
    .option('--min-validators <n>', 'minimum electorate of a block', integer(1, 1_000_000))
    .choice('--limits <profile>', 'rate limits (bench: 10,000 times spec)', profiles, 'spec')
    .option('--limits-file <file>', 'JSON file with limits to override')
    .choice(
      '--clock <name>',
      'network clock (held: can be paused with the token)',
      ['wall', 'held'],
      'wall',
    )
    .option('--control', 'allow pausing agents with the control token')
    .addOption(
      new SecretOption('--control-token <file>', 'file with the control token (default: random)'),
    )
    .option('--no-watch', 'disable anonymous WebSocket watching')
    .option('--no-ui', 'disable the page')
    .choice('--transport <name>', 'HTTP server (default: uws if installed, else node)', transports)
    .addOption(new SecretOption('--response-key <file>', 'key for signing responses'))
    .addOption(commaOption('--cors <origins>', 'allowed origins', 'none'))
    .addOption(commaOption('--hosts <names>', 'allowed Host headers', anyHost))
    .addOption(commaOption('--trusted-proxies <list>', 'trusted proxy addresses', 'none'))
    .addOption(tracesOption())
    .option(
      '--archive-after <n>',
      'recent entries to keep uncompressed (default: all)',
      integer(1_000, 2 ** 53 - 1),
    )
    .addOption(threadsOption('verifying'))
    .choice(
      '--log-level <level>',
      'log level (debug: requests, trace: request times)',
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'info',
    )
    .addOptions([...nodeOptions(), ...scenarioOptions()]);
}

const profiles = ['spec', 'bench', 'off'];
const transports = ['uws', 'node'];
const anyHost = 'localhost, this machine, any address';

async function openLog(level: string): Promise<Logger> {
  const { pino } = await import('pino');
  const output = pino.destination({ dest: 2, sync: true });
  return pino({ level }, { write: (text) => output.write(`${escapeControls(text.trimEnd())}\n`) });
}

interface Listening {
  url: string;
  ws_url: string;
  network_id: string;
  folder: string;
  transport: string;
  limits: string;
}

/** Prints a sentence at a terminal, or a log line elsewhere. */
function logListening(
  log: Logger,
  page: string | null,
  { url, network_id, ...more }: Listening,
): void {
  if (!process.stderr.isTTY || !log.isLevelEnabled('info')) {
    log.info({ url, network_id, ...more }, 'listening');
    return;
  }
  const { folder, transport, limits } = more;
  const pageText = page === null ? '' : `page: ${page}, `;
  writeStderr(
    `folkmoot: ${url} serves ${network_id} from ${folder} (transport ${transport}, limits ` +
      `${limits}); ${pageText}docs: ${url}/docs, stop with Ctrl+C`,
  );
}

interface Unit {
  env: NodeJS.ProcessEnv;
  pid: number;
  warn(line: string): void;
}

/** Time limit for one message. */
const SEND_MS = 5_000;

/**
 * Notifies systemd, for units with Type=notify: ready, stopping, and the watchdog. Node.js has no
 * Unix datagram sockets, so systemd's own program `systemd-notify` sends the messages. The
 * watchdog's message comes from the event loop, so systemd restarts a server whose event loop
 * hangs.
 */
class UnitNotifier {
  #watchdog: NodeJS.Timeout | undefined;
  #isWarned = false;

  constructor(private readonly unit: Unit) {}

  async ready(url: string): Promise<void> {
    await this.#send('--ready', `--status=listening at ${url}`);
    const everyMs = watchdogMs(this.unit);
    if (everyMs === null) return;
    this.#watchdog = setInterval(() => void this.#send('WATCHDOG=1'), everyMs);
    this.#watchdog.unref();
  }

  stopping(): Promise<void> {
    clearInterval(this.#watchdog);
    return this.#send('STOPPING=1');
  }

  /** Never rejects. Warns about the first failure. */
  #send(...messages: string[]): Promise<void> {
    const { env, pid, warn } = this.unit;
    return new Promise((resolve) => {
      const named = [`--pid=${pid}`, ...messages];
      execFile('systemd-notify', named, { env, timeout: SEND_MS }, (error) => {
        if (error && !this.#isWarned) warn(`systemd-notify failed: ${error.message.trim()}`);
        this.#isWarned ||= error !== null;
        resolve();
      });
    });
  }
}

/** Returns half of the watchdog's limit, or null if the unit has no watchdog for this process. */
function watchdogMs({ env, pid }: Unit): number | null {
  const limitMs = Number(env.WATCHDOG_USEC) / 1_000;
  if (!(limitMs >= 2)) return null;
  if (env.WATCHDOG_PID !== undefined && Number(env.WATCHDOG_PID) !== pid) return null;
  return limitMs / 2;
}
