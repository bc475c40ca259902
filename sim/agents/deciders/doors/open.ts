/** Opens the way to a decider: what its strategy says, with what the environment gives. */
import { ScenarioError } from '../../../scenario/problem.js';
import type { External, StrategyOf } from '../../../scenario/schema/strategies.js';
import type { Door } from './door.js';
import { execDoor } from './exec.js';
import type { Place } from './mcp/ways.js';
import { chatDialect } from './openai.js';
import { plainDialect } from './plain.js';

export interface Opened {
  door: Door;
  /** Values that must not be written down. */
  secrets: string[];
}

export interface OpenOptions {
  group: string;
  folder: string | undefined;
  prompts: ReadonlyMap<string, string>;
}

/** What a program needs to be found and to run; nothing else of the environment is given on. */
const harmless = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TEMP', 'TMP'],
  ...['SystemRoot', 'ComSpec', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
];

/** @throws {ScenarioError} when a variable that it needs is not set, or the SDK not installed. */
export async function checkAskable(group: string, strategy: External): Promise<void> {
  const keys = 'key_env' in strategy ? [strategy.key_env ?? []].flat() : [];
  const names = 'env' in strategy ? strategy.env : [];
  for (const name of [...keys, ...names]) variable(name, group);
  if (strategy.kind !== 'mcp') return;
  const { loadSdk } = await import('./mcp/sdk.js');
  await loadSdk(group);
}

/** @throws {ScenarioError} when a variable is not set, or the folder is not known. */
export async function openDoor(strategy: External, options: OpenOptions): Promise<Opened> {
  if (strategy.kind === 'http') return openHttp(strategy, options);
  return strategy.kind === 'mcp' ? openMcp(strategy, options) : openExec(strategy, options);
}

async function openHttp(strategy: StrategyOf<'http'>, options: OpenOptions): Promise<Opened> {
  const { url, dialect, key_env, model, request, most_at_once: atOnce } = strategy;
  const key = key_env === undefined ? undefined : variable(key_env, options.group);
  const chat = { model: model ?? '', prompts: options.prompts, request };
  // Its client is loaded where somebody is asked.
  const { httpDoor } = await import('./http.js');
  const spoken = dialect === 'openai' ? chatDialect(chat) : plainDialect;
  const door = httpDoor({ url, key, atOnce, dialect: spoken });
  return { door, secrets: key === undefined ? [] : [key] };
}

function openExec(strategy: StrategyOf<'exec'>, options: OpenOptions): Opened {
  const { processes, most_at_once: atOnce } = strategy;
  const { program, secrets } = programOf(strategy, options);
  return { door: execDoor({ ...program, processes, atOnce }), secrets };
}

async function openMcp(strategy: StrategyOf<'mcp'>, options: OpenOptions): Promise<Opened> {
  const { command, url, tool, env, key_env, most_at_once: sessions } = strategy;
  // They are loaded where somebody is asked.
  const { loadSdk } = await import('./mcp/sdk.js');
  const { mcpDoor } = await import('./mcp/mcp.js');
  const door = (place: Place) =>
    loadSdk(options.group).then((sdk) => {
      return mcpDoor({ sdk, place, tool, sessions });
    });
  if (url === undefined) {
    const { program, secrets } = programOf({ command: command!, env }, options);
    return { door: await door(program), secrets };
  }
  const key = key_env === undefined ? undefined : variable(key_env, options.group);
  return { door: await door({ url, key }), secrets: key === undefined ? [] : [key] };
}

type Started = Pick<StrategyOf<'exec'>, 'command' | 'env'>;

function programOf({ command, env: names }: Started, { group, folder }: OpenOptions) {
  if (folder === undefined) {
    throw new ScenarioError(`decider ${command[0]}: the scenario's folder is not known`);
  }
  const own = names.map((name) => [name, variable(name, group)] as const);
  const kept = harmless.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const env: Record<string, string> = Object.fromEntries([...kept, ...own]);
  return { program: { command, folder, env }, secrets: own.map(([, value]) => value) };
}

function variable(name: string, group: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  const what = `the decider of group ${group} needs the environment variable ${name}`;
  throw new ScenarioError(`${what}, which is not set`);
}
