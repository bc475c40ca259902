/** `folkmoot serve`: a live network over HTTP and WebSocket. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import type { Profile, Server, ServerOptions } from '../../../api/index.js';
import type { ArchiveOptions, Network } from '../../../engine/internal.js';
import {
  type Policy,
  policies,
  type Weights,
  weightings,
} from '../../../engine/protocol/schema/genesis.js';
import { keysOf } from '../../options/client.js';
import { limitsFile } from '../../options/limits-file.js';
import { integer } from '../../options/options.js';
import { fail, ListenError, UsageError } from '../../output/exit.js';
import { printJson } from '../../output/output.js';
import { packageVersion } from '../../output/version.js';
import { exchangeLog, logBlocks, openLog, tellListening } from './log.js';
import {
  addScenarioOptions,
  type ServeScenarioFlags,
  scenarioHelp,
  servedGenesis,
  servedScenario,
  startScenario,
} from './scenario.js';
import { Stopping } from './stopping.js';

interface Flags extends ServeScenarioFlags {
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
  transport?: 'uws' | 'node';
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

export function serveCommand(): Command {
  const periods = { least: 1, most: 86_400_000 };
  const command = new Command('serve')
    .description('serve a live network over HTTP and WebSocket')
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
    )
    .addOption(
      option('--limits <profile>', 'LIMITS', 'rate limits; bench is 10,000 times spec')
        .choices(['spec', 'bench', 'off'])
        .default('spec'),
    )
    .addOption(
      option('--limits-file <file>', 'LIMITS_FILE', 'JSON with your own figures for some limits'),
    )
    .addOption(
      option('--transport <name>', 'TRANSPORT', 'default: uws where it loads, else node').choices([
        'uws',
        'node',
      ]),
    )
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
  return addScenarioOptions(command)
    .addHelpText(
      'after',
      `
The first line on standard output is JSON, once connections are accepted:
  {"event":"listening","url":...,"ws_url":...,"network_id":...}
Logs go to standard error. SIGTERM and SIGINT stop it: what is in flight is answered, and all is
committed.
${scenarioHelp}

Examples:
  $ folkmoot serve --port 0 --data ./moot
  $ folkmoot serve --scenario town.yaml --speed 2
  $ folkmoot serve --limits bench            several agents on one machine share an address`,
    )
    .action((flags: Flags) => run(flags, new Stopping()));
}

const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

/** Serves until it is asked to stop, which may be while it starts. */
async function run(flags: Flags, stopping: Stopping): Promise<void> {
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
    process.exit(13);
  }
  process.exit(0);
}

/** Opens one thing after the other; nothing more once it is asked to stop. */
async function start(flags: Flags, stopping: Stopping, log: Logger): Promise<void> {
  const engine = await import('../../../engine/internal.js');
  const wanted = await servedScenario(flags);
  const genesis = await servedGenesis(flags.data, genesisOf(flags), wanted);
  if (await stopping.isAsked()) return;
  const verifier = engine.createVerifier('pool', { warn: (line) => log.warn(line) });
  stopping.opened(() => verifier.close());
  const network = await engine.Network.open({
    path: flags.data,
    genesis,
    verifier,
    ...archiveOptions(flags, log),
    onFatal(error) {
      log.fatal(error, 'the network stopped; restart to recover');
      process.exit(13);
    },
  });
  stopping.opened(() => network.close());
  if (await stopping.isAsked()) return;
  const server = await listen(flags, network, log);
  stopping.opened(() => server.close());
  if (await stopping.isAsked()) return;
  tell(flags, network, server, log);
  logBlocks(log, network).catch((error) => log.error(error, 'blocks are not logged any more'));
  if (wanted === null) return;
  const agents = startScenario(network, wanted, flags, log);
  agents.catch(fail);
  stopping.opened(async () => (await agents).stop());
}

/** The line on standard output, and what a person at a terminal reads. */
function tell(flags: Flags, network: Network, { url, transport }: Server, log: Logger): void {
  if (!loopback.has(flags.host)) {
    log.warn({ host: flags.host }, 'listening beyond loopback: TLS belongs in front');
  }
  if (transport === 'node' && flags.transport !== 'node') {
    log.info('uWebSockets.js does not load here: node:http serves');
  }
  const { network_id } = network.genesis;
  const ws_url = `${url.replace('http', 'ws')}/ws/v1`;
  const line = { event: 'listening', url, ws_url, network_id };
  printJson(line);
  tellListening(log, { ...line, transport, folder: flags.data, limits: flags.limits });
}

function archiveOptions({ archiveAfter }: Flags, log: Logger): ArchiveOptions {
  return {
    ...(archiveAfter === undefined ? {} : { archiveAfter }),
    onArchived: (moved) => log.info(moved, 'archived'),
    onArchiveFault: (error) => log.error(`archive: ${error.message}; serving goes on`),
  };
}

/** What is no name or no origin is refused before anything is opened. */
async function checkDoor({ hosts, cors }: Flags): Promise<void> {
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

function networkId(text: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('expected 1 to 64 letters, digits, ., _ or -');
}

function genesisOf({ networkId, policy, weights, votingPeriodMs, minValidators }: Flags) {
  return {
    ...(networkId === undefined ? {} : { network_id: networkId }),
    ...(policy === undefined ? {} : { policy }),
    ...(weights === undefined ? {} : { weights }),
    ...(votingPeriodMs === undefined ? {} : { voting_period_ms: votingPeriodMs }),
    ...(minValidators === undefined ? {} : { min_validators: minValidators }),
  };
}

async function listen(flags: Flags, network: Network, log: Logger): Promise<Server> {
  const { startServer } = await import('../../../api/index.js');
  const options: ServerOptions = {
    network,
    host: flags.host,
    port: flags.port,
    limits: flags.limits,
    ...(flags.limitsFile === undefined ? {} : { figures: await limitsFile(flags.limitsFile) }),
    trustedProxies: flags.trustedProxies,
    version: packageVersion(),
    onFault: (error, requestId) => log.error({ err: error, requestId }, 'a request failed'),
    ...(flags.transport === undefined ? {} : { transport: flags.transport }),
    cors: flags.cors,
    hosts: flags.hosts,
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
async function responseKeys({ responseKey: file }: Flags) {
  if (file === undefined) return {};
  const { keyPairFromSeed } = await import('../../../engine/internal.js');
  const { privateKey } = await keysOf(file, '--response-key');
  return { responseKeys: keyPairFromSeed(Buffer.from(privateKey, 'hex')) };
}
