/** `folkmoot serve`: a live network over HTTP and WebSocket. */
import { Command } from 'commander';
import type { Logger } from 'pino';
import type { Server, ServerOptions } from '../../../api/index.js';
import type {
  ArchiveOptions,
  GenesisOptions,
  Network,
  Verifier,
} from '../../../engine/internal.js';
import { keysOf } from '../../options/client.js';
import { limitsFile } from '../../options/limits-file.js';
import { exitCodes, exitProcess, fail, ListenError, UsageError } from '../../output/exit.js';
import { printJson } from '../../output/output.js';
import { packageVersion } from '../../output/version.js';
import { addNodeOptions, checkNodeOptions, nodeHelp, openNode } from './cluster.js';
import type { LiveControl } from './control.js';
import { exchangeLog, logBlocks, openLog, tellListening } from './log.js';
import { addServeOptions, type ServeFlags } from './options.js';
import {
  addScenarioOptions,
  scenarioHelp,
  servedGenesis,
  servedScenario,
  startScenario,
} from './scenario.js';
import { Stopping } from './stopping.js';

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
    .action((flags: ServeFlags) => run(flags, new Stopping()));
}

const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

/** Serves until it is asked to stop, which may be while it starts. */
async function run(flags: ServeFlags, stopping: Stopping): Promise<void> {
  checkNodeOptions(flags);
  await checkDoor(flags);
  const log = await openLog(flags.logLevel);
  stopping.asked.then((signal) => log.info({ signal }, 'stopping'));
  await start(flags, stopping, log).catch(async (error) => {
    // Threads and files that are open while the process exits may end it by a signal.
    await stopping.closeAll();
    throw error;
  });
  await stopping.asked;
  try {
    await stopping.closeAll();
  } catch (error) {
    log.fatal(error, 'could not stop in good order');
    return exitProcess(exitCodes.crash);
  }
  exitProcess(exitCodes.done);
}

/** Opens one thing after the other; nothing more once it is asked to stop. */
async function start(flags: ServeFlags, stopping: Stopping, log: Logger): Promise<void> {
  const engine = await import('../../../engine/internal.js');
  const wanted = await servedScenario(flags);
  const genesis = await servedGenesis(flags.data, genesisOf(flags), wanted);
  if (await stopping.isAsked()) return;
  const verifier = engine.createVerifier('pool', { warn: (line) => log.warn(line) });
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
  agents.then((population) => control?.use(population)).catch(fail);
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
    const { Network } = await import('../../../engine/internal.js');
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
  const { keyPairFromSeed } = await import('../../../engine/internal.js');
  const { privateKey } = await keysOf(file, '--response-key');
  return { responseKeys: keyPairFromSeed(Buffer.from(privateKey, 'hex')) };
}
