/** Options for commands that run a scenario: file, changes and external deciders. */
import { resolve } from 'node:path';
import { Option } from 'commander';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import type { Change, Scenario } from '../../sim/index.js';
import { UsageError } from '../output/exit.js';
import { writeStderr } from '../output/output.js';
import { omitAbsent } from './client.js';
import { integer } from './options.js';

export interface ScenarioFlags {
  seed?: string;
  set?: Change[];
  policy?: string;
  weights?: string;
  agents?: number;
  blocks?: number;
  unsigned?: boolean;
}

export interface WantedScenario {
  scenario: Scenario;
  /** Folder that contains the script modules. The default scenario has no such folder. */
  folder?: string;
}

export const setOption = (): Option =>
  new Option('--set <path=value>', 'scenario value to override, may be repeated').argParser(change);

export const scenarioOptions = (): Option[] => [
  new Option('--seed <text>', "random seed (default: the scenario's)"),
  setOption(),
];

export const scriptSeconds = (): Option =>
  new Option(
    '--script-seconds <n>',
    'time limit of a script call, in seconds (default: 10)',
  ).argParser(integer(1, 86_400));

/**
 * Parses `agents.town.share=0.4`. A value that is not JSON is a string, but one that begins like a
 * list, an object or a text in JSON must be JSON.
 */
function change(text: string, before: Change[] | undefined): Change[] {
  const at = text.indexOf('=');
  if (at < 1) {
    throw new UsageError('INVALID_VALUE', { option: '--set', value: text, expected: 'PATH=VALUE' });
  }
  const [path, value] = [text.slice(0, at), text.slice(at + 1)];
  return [...(before ?? []), [path, parsed(path, value)]];
}

function parsed(path: string, text: string): unknown {
  try {
    return parseUnique(text);
  } catch (cause) {
    if (!/^\s*[[{"]/.test(text)) return text;
    const { message } = cause as Error;
    const fault = message.startsWith('/') ? message : `not JSON from position ${faultIn(text)} on`;
    const problem = `${fault}; expected JSON, with a text in quotation marks`;
    throw new UsageError('INVALID_ARGUMENT', { option: `--set ${path}`, value: text, problem });
  }
}

/** Returns the position of the first character that no JSON can have there, from 0. */
function faultIn(text: string): number {
  let [begin, end] = [0, text.length];
  while (begin < end) {
    const middle = Math.ceil((begin + end) / 2);
    if (canGoOn(text.slice(0, middle))) begin = middle;
    else end = middle - 1;
  }
  return begin;
}

/** Returns true if the text is JSON or the beginning of JSON. */
function canGoOn(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (cause) {
    const { message } = cause as Error;
    if (/end of JSON input|Unterminated string/.test(message)) return true;
    return Number(/position (\d+)/.exec(message)?.[1] ?? 0) >= text.length;
  }
}

/** Loads a scenario and applies the changes. @throws {ScenarioError} @throws {UsageError} */
export async function wantedScenario(
  file: string | undefined,
  flags: ScenarioFlags,
): Promise<WantedScenario> {
  if (flags.seed === '') {
    throw new UsageError('INVALID_OPTION', { option: '--seed', expected: 'a string, such as 7' });
  }
  const { seed, set = [], policy, weights, blocks, agents, unsigned } = flags;
  const changes: Change[] = [
    ...wish('seed', seed, '--seed'),
    ...wish('consensus.policy', policy, '--policy'),
    ...wish('consensus.weights', weights, '--weights'),
    ...wish('length.blocks', blocks, '--blocks'),
    ...wish('signatures', unsigned ? 'none' : undefined, '--unsigned'),
    ...set,
  ];
  const { assertModule, completeScenario, defaultRaw, defaultSize } = await import(
    '../../sim/scenario/complete.js'
  );
  if (file !== undefined) {
    if (agents !== undefined) changes.unshift(['population', agents, '--agents']);
    const { loadScenario } = await import('../../sim/scenario/load.js');
    const loaded = loadScenario(file, changes);
    await assertModule(loaded.scenario);
    return loaded;
  }
  const { withValues } = await import('../../sim/scenario/problem.js');
  const raw = defaultRaw(agents ?? defaultSize.agents);
  return { scenario: completeScenario(withValues(raw, changes)) };
}

function wish(path: string, value: unknown, option: string): Change[] {
  return value === undefined ? [] : [[path, value, option]];
}

export interface DeciderFlags {
  record?: boolean;
  cassette?: string;
  mostCalls?: number;
  cache?: string;
}

export function deciderOptions(): Option[] {
  return [
    new Option('--record', 'call external deciders, and record their answers'),
    new Option('--cassette <dir>', 'replay answers from this run or cassette'),
    ...budgetOptions(),
  ];
}

export const budgetOptions = (): Option[] => [
  new Option('--most-calls <n>', 'call budget of each run with --record').argParser(
    integer(0, 1_000_000_000),
  ),
  new Option('--cache <dir>', 'share answers between runs with --record'),
];

/** Warns that the options for deciders have no effect, for a scenario without deciders. */
export async function warnUnusedDeciders({ record, cassette }: DeciderFlags): Promise<void> {
  if (!record && cassette === undefined) return;
  const { deciderOptionsUnused } = await import('../../sim/run/simulate.js');
  writeStderr(`folkmoot: note: ${deciderOptionsUnused}`);
}

/** @throws {UsageError} */
export function readDeciderFlags({ record, cassette, mostCalls, cache }: DeciderFlags) {
  for (const [option, value] of Object.entries({ '--most-calls': mostCalls, '--cache': cache })) {
    if (value === undefined || record) continue;
    throw new UsageError('OPTION_REQUIRES', { option, required: '--record' });
  }
  return omitAbsent({ record, cassette, mostCalls, cache: cache && resolve(cache) });
}
