/** What the end of a run cut short, in sentences: whoever reads its measures must know it. */
import type { Measures } from '../../measure/dictionary.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import { joinedByMs, leftByMs } from '../../scenario/staying.js';
import { type Acted, type EndedBy, NEVER } from '../result.js';

export interface Ended {
  scenario: Scenario;
  ended_by: EndedBy;
  acted: readonly Pick<Acted, 'what' | 'when' | 'at_ms'>[] | null;
  finished: { measures: Measures; measuredFromMs: number | null };
  startMs: number;
  endMs: number;
}

export function censored(ended: Ended): string[] {
  const { measures, measuredFromMs } = ended.finished;
  const lasted = ended.endMs - ended.startMs;
  return [
    ...byEnding(ended),
    ...(measuredFromMs === null
      ? ['the warm-up did not end before the run did: nothing was measured']
      : []),
    ...counted(measures.never_joined, (agents) => `${agents} never got registered`, 'agent'),
    ...counted(
      measures.open_at_end,
      (blocks) => `${blocks} still in voting at the end: in no share or mean of closed blocks`,
      'block',
    ),
    ...counted(
      measures.alliances_at_end,
      (alliances) => `${alliances} still active at the end: their lifetime is counted up to there`,
      'alliance',
    ),
    ...comersBeyond(ended.scenario, lasted),
    ...faultsBeyond(ended.scenario, lasted),
    ...neverActed(ended.acted ?? []),
  ];
}

function byEnding({ ended_by, scenario }: Ended): string[] {
  if (ended_by === 'stalled') {
    const periods = `${scenario.patience_periods} voting periods`;
    const what =
      'the length of the scenario was not reached: counts and means are of a shorter run';
    return [`cut by patience: no block was decided for ${periods}, and ${what}`];
  }
  if (ended_by === 'nothing_due') {
    return ['nothing was due any more before the length of the scenario was reached'];
  }
  return ended_by === 'safety' ? ['ended where the network broke a rule'] : [];
}

function counted(count: number | null, text: (what: string) => string, one: string): string[] {
  if (count === null || count === 0) return [];
  return [text(`${count} ${one}${count === 1 ? '' : 's'}`)];
}

function comersBeyond({ agents }: Scenario, lastedMs: number): string[] {
  return agents.flatMap((group) => {
    const { join, leave } = group;
    return [
      ...beyond(`${group.group} was to join`, join?.start_ms, joinedByMs(group), lastedMs),
      ...beyond(`${group.group} was to leave`, leave?.at_ms, leftByMs(group) ?? 0, lastedMs),
    ];
  });
}

/** What begins at an instant and is over at another, where the end came before. */
function beyond(what: string, start: number | undefined, over: number, lastedMs: number): string[] {
  if (start === undefined || over <= lastedMs) return [];
  return [start >= lastedMs ? `${what} after the end` : `${what} in part after the end`];
}

function neverActed(acted: NonNullable<Ended['acted']>): string[] {
  return acted.flatMap(({ what, when, at_ms }, index) =>
    at_ms === null && when !== NEVER
      ? [`interventions.${index} (${what}) never acted: ${when}`]
      : [],
  );
}

/** Times of faults are counted from the start of the run. */
function faultsBeyond({ faults }: Scenario, lastedMs: number): string[] {
  return faults.flatMap(({ kind, start_ms, length_ms }, index) => {
    const fault = `faults.${index} (${kind})`;
    if (start_ms >= lastedMs) return [`${fault} was to begin after the end`];
    return start_ms + length_ms > lastedMs ? [`${fault} lasted beyond the end`] : [];
  });
}
