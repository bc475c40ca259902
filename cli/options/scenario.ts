/**
 * Options of the commands that run a scenario: which one, what is changed in it, and which external
 * deciders take part.
 */
import { Option } from 'commander';
import type { Change, Scenario } from '../../sim/index.js';
import { UsageError } from '../output/exit.js';
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
  /** Where script modules are found; the default scenario has none. */
  folder?: string;
}

export function scenarioOptions(): Option[] {
  return [
    new Option('--seed <text>', "whatever is drawn by chance follows from it; else the file's"),
    new Option('--set <path=value>', 'change a value of the scenario; again for more').argParser(
      change,
    ),
  ];
}

/** Of the commands that run scripts. */
export const scriptSeconds = (): Option =>
  new Option(
    '--script-seconds <n>',
    'ends a call of a script that takes longer; default: 10',
  ).argParser(integer({ least: 1, most: 86_400 }));

/** `agents.town.share=0.4`; what is no JSON is a text. */
function change(text: string, before: Change[] | undefined): Change[] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set ${text}: expected PATH=VALUE`);
  return [...(before ?? []), [text.slice(0, at), parsed(text.slice(at + 1))]];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @throws {ScenarioError} what is wrong with the file, or with a change. */
export async function wantedScenario(
  file: string | undefined,
  flags: ScenarioFlags,
): Promise<WantedScenario> {
  if (flags.seed === '') throw new UsageError('--seed is empty; expected a text, such as 7');
  const { seed, set = [], policy, weights, blocks, agents, unsigned } = flags;
  const changes: Change[] = [
    ...wish('seed', seed),
    ...wish('consensus.policy', policy),
    ...wish('consensus.weights', weights),
    ...wish('length.blocks', blocks),
    ...wish('signatures', unsigned ? 'none' : undefined),
    ...set,
  ];
  if (file !== undefined) {
    if (agents !== undefined) changes.unshift(['population', agents]);
    const { loadScenario } = await import('../../sim/scenario/load.js');
    return loadScenario(file, changes);
  }
  const { completeScenario, defaultRaw, defaultSize } = await import(
    '../../sim/scenario/complete.js'
  );
  const { withValues } = await import('../../sim/scenario/problem.js');
  const raw = defaultRaw(agents ?? defaultSize.agents);
  return { scenario: completeScenario(withValues(raw, changes)) };
}

function wish(path: string, value: unknown): Change[] {
  return value === undefined ? [] : [[path, value]];
}

export interface DeciderFlags {
  record?: boolean;
  cassette?: string;
  mostCalls?: number;
}

export function deciderOptions(): Option[] {
  return [
    new Option('--record', 'ask external deciders, and keep what they answer'),
    new Option('--cassette <dir>', 'take their answers from this run, or this cassette'),
    mostCallsOption(),
  ];
}

export const mostCallsOption = (): Option =>
  new Option(
    '--most-calls <n>',
    'with --record: stop each run after n calls; repeat to continue',
  ).argParser(integer({ least: 0, most: 1_000_000_000 }));

/** @throws {UsageError} for a budget of nothing. */
export function readDeciderFlags({ record, cassette, mostCalls }: DeciderFlags) {
  if (mostCalls !== undefined && !record) {
    throw new UsageError('--most-calls is for --record: without it nobody is asked');
  }
  return {
    ...(record === undefined ? {} : { record }),
    ...(cassette === undefined ? {} : { cassette }),
    ...(mostCalls === undefined ? {} : { mostCalls }),
  };
}
