/** The options of `serve`: each is also a variable of the environment, FOLKMOOT_ and its name. */
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Profile } from '../../../api/index.js';
import {
  type Policy,
  policies,
  type Weights,
  weightings,
} from '../../../engine/protocol/schema/genesis.js';
import { integer } from '../../options/options.js';
import type { NodeFlags } from './cluster.js';
import type { ServeScenarioFlags } from './scenario.js';

/** What `serve` was asked for. */
export interface ServeFlags extends ServeScenarioFlags, NodeFlags {
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

/** Adds them to the command. */
export function addServeOptions(command: Command): Command {
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
  return command;
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
