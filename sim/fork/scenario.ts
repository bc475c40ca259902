/** Fork scenarios: the run's scenario with more interventions, checked against the run. */
import { isMap, parseDocument } from 'yaml';
import { completeScenario } from '../scenario/complete.js';
import { ScenarioError, scenarioError } from '../scenario/problem.js';
import type { Intervention, Named } from '../scenario/schema/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { type KeptRun, readNumbers } from './kept-run.js';

/**
 * Parses interventions, each given as a YAML mapping.
 * @throws {ScenarioError} if the list is empty or an item is not a mapping.
 */
export function readInterventions(texts: readonly string[], option: string): Raw[] {
  const expected = "a mapping such as '{ kind: mute, meme: 17, at_ms: 0 }'";
  if (texts.length === 0) throw scenarioError('INTERVENTION_MISSING', { option, expected });
  return texts.map((text, index) => {
    const document = parseDocument(text);
    if (document.errors.length > 0 || !isMap(document.contents)) {
      throw scenarioError('INVALID_INTERVENTION', { option, number: index + 1, expected });
    }
    return document.toJS({ maxAliasCount: 0 }) as Raw;
  });
}

/**
 * Adds interventions to the run's scenario and validates the result.
 * @param labels names for the added interventions in messages. Default: their paths.
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
    const { problem = null } = error;
    const [section, place] = problem?.path ?? [];
    const added = section === 'interventions' ? Number(place) - before.length : -1;
    const label = labels[added];
    if (!problem || label === undefined) throw error;
    const inside = [problem.path.slice(2).join('.'), problem.text].join(' ').trim();
    throw scenarioError('INVALID_AT', { problem: `${label}: ${inside}` }, { problem });
  }
}

/** Checks that the run has these entries, heights, times and objects. @throws {ScenarioError} */
export async function assertInRun(
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
    const folder = run.folder;
    const wrong = (what: string, expected: string) =>
      scenarioError('NOT_IN_RUN', { label: labels[index]!, what, folder, expected });
    const { at_ms = 0, at_entry = 0, at_height = 0 } = one;
    if (at_ms > virtual_ms) throw wrong(`${at_ms} ms`, `at most ${virtual_ms} ms`);
    if (at_entry >= entries) throw wrong(`entry ${at_entry}`, `at most ${entries - 1}`);
    if (at_height > numbers.height) throw wrong(`height ${at_height}`, `at most ${numbers.height}`);
    for (const [what, named] of namedIn(one)) {
      const { list, find } = there[what];
      if (find(named) !== undefined) continue;
      const expected =
        list === 0 ? `a different run: this one has no ${what}` : `0 to ${list - 1}, or an id`;
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
