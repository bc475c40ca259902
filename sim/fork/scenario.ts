/**
 * The scenario of a fork: that of the run with more interventions. Each must be possible in that
 * run.
 */

import { isMap, parseDocument } from 'yaml';
import { completeScenario } from '../scenario/complete.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Intervention, Named } from '../scenario/schema/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { type KeptRun, readNumbers } from './kept-run.js';

/**
 * Reads interventions as a scenario file has them, each one YAML mapping.
 * @throws {ScenarioError} when there is none, or one is no mapping.
 */
export function readInterventions(texts: readonly string[], option: string): Raw[] {
  const expected = "expected a mapping such as '{ kind: mute, meme: 17, at_ms: 0 }'";
  if (texts.length === 0) throw new ScenarioError(`${option} is missing; ${expected}`);
  return texts.map((text, index) => {
    const document = parseDocument(text);
    if (document.errors.length > 0 || !isMap(document.contents)) {
      throw new ScenarioError(`${option} ${index + 1}: ${expected}`);
    }
    return document.toJS({ maxAliasCount: 0 }) as Raw;
  });
}

/**
 * The run's scenario and seed with more interventions, checked as any scenario is.
 * @param labels what each is called in messages; left out, its place in the scenario.
 * @throws {ScenarioError}
 */
export function forkScenario(
  { result, source }: Pick<KeptRun, 'result' | 'source'>,
  added: readonly Readonly<Record<string, unknown>>[],
  labels: readonly string[] = [],
): Scenario {
  const { scenario, seed } = result;
  const { sweep: _, ...rest } = scenario;
  const before = scenario.interventions ?? [];
  try {
    return completeScenario({ ...rest, seed, interventions: [...before, ...added] }, source);
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const [, place] = /^interventions\.(\d+)/.exec(error.message) ?? [];
    const label = place === undefined ? undefined : labels[Number(place) - before.length];
    if (label === undefined) throw error;
    throw new ScenarioError(`${label}: ${error.message.replace(/^interventions\.\d+\.? ?/, '')}`);
  }
}

/**
 * Refuses what is not in the run: an entry, height, time, block, meme or alliance.
 * @throws {ScenarioError}
 */
export async function checkInRun(
  run: KeptRun,
  scenario: Scenario,
  labels: readonly string[] = [],
): Promise<void> {
  const { entries, virtual_ms } = run.result;
  const numbers = await readNumbers(run);
  const before = scenario.interventions.length - labels.length;
  const there = {
    block: { list: numbers.blocks.length, find: numbers.block },
    meme: { list: numbers.memes.length, find: (named: Named) => numbers.meme(named) },
    alliance: { list: numbers.alliances.length, find: numbers.alliance },
  };
  for (const [index, one] of scenario.interventions.slice(before).entries()) {
    const wrong = (what: string, expected: string) =>
      new ScenarioError(`${labels[index]}: ${what} is not in ${run.folder}; expected ${expected}`);
    const { at_ms = 0, at_entry = 0, at_height = 0 } = one;
    if (at_ms > virtual_ms) throw wrong(`${at_ms} ms`, `at most ${virtual_ms} ms, when it ended`);
    if (at_entry >= entries) throw wrong(`entry ${at_entry}`, `at most ${entries - 1}`);
    if (at_height > numbers.height) throw wrong(`height ${at_height}`, `at most ${numbers.height}`);
    for (const [what, named] of namedIn(one)) {
      const { list, find } = there[what];
      if (find(named) !== undefined) continue;
      const expected = list === 0 ? `none: it has no ${what}` : `0 to ${list - 1}, or an id of it`;
      throw wrong(`${what} ${named}`, expected);
    }
  }
}

type Kind = 'block' | 'meme' | 'alliance';

function namedIn(one: Intervention): [Kind, Named][] {
  const members = one as { block?: Named; meme?: Named; alliance?: Named; whom?: Raw[] };
  const { block, meme, alliance, whom = [] } = members;
  const own = Object.entries({ block, meme, alliance }).filter(([, named]) => named !== undefined);
  const allied = whom.flatMap((selector) =>
    selector.alliance === undefined ? [] : [['alliance', selector.alliance]],
  );
  return [...own, ...allied] as [Kind, Named][];
}

type Raw = Record<string, unknown>;
