/**
 * Whether what was found is what was expected. Of what comes with every vote, each member is
 * compared by its name: to walk through whatever members there are takes several times as long.
 */
import type { AnswerOf, Event, EventData } from '../../engine/internal.js';

export function isSameEvent(expected: Event, found: Event): boolean {
  if (expected.seq !== found.seq || expected.type !== found.type) return false;
  if (countOf(found) !== 3) return false;
  if (expected.type === 'block_validation') {
    return isSameVote(expected.data, found.data as EventData['block_validation']);
  }
  if (expected.type === 'reputation_update') {
    return isSameScore(expected.data, found.data as EventData['reputation_update']);
  }
  return isSame(expected.data, found.data);
}

function isSameVote(
  expected: EventData['block_validation'],
  found: EventData['block_validation'],
): boolean {
  return (
    expected.block_hash === found.block_hash &&
    expected.validator.id === found.validator.id &&
    expected.validator.personality === found.validator.personality &&
    expected.decision === found.decision &&
    expected.reason === found.reason &&
    expected.timestamp === found.timestamp &&
    countOf(found) === 5 &&
    countOf(found.validator) === 2
  );
}

function isSameScore(
  expected: EventData['reputation_update'],
  found: EventData['reputation_update'],
): boolean {
  return (
    expected.agent_id === found.agent_id &&
    expected.old_score === found.old_score &&
    expected.new_score === found.new_score &&
    expected.reason === found.reason &&
    expected.timestamp === found.timestamp &&
    countOf(found) === 5
  );
}

export function isSameVoteAnswer(expected: AnswerOf['vote'], found: AnswerOf['vote']): boolean {
  const { tally } = expected;
  return (
    expected.block_hash === found.block_hash &&
    expected.agent_id === found.agent_id &&
    expected.decision === found.decision &&
    expected.block_status === found.block_status &&
    tally.approve === found.tally.approve &&
    tally.reject === found.tally.reject &&
    tally.electorate === found.tally.electorate &&
    tally.needed === found.tally.needed &&
    expected.timestamp === found.timestamp &&
    countOf(found) === 6 &&
    countOf(found.tally) === 4
  );
}

/** Of any two JSON values; it allocates nothing. */
export function isSame(expected: unknown, found: unknown): boolean {
  if (Object.is(expected, found)) return true;
  if (!isObject(expected) || !isObject(found)) return false;
  if (Array.isArray(expected) !== Array.isArray(found)) return false;
  let members = 0;
  for (const name in expected) {
    members += 1;
    const one = expected[name];
    const other = found[name];
    if (one !== other && !isSame(one, other)) return false;
  }
  return countOf(found) === members;
}

/** How many members it has. */
function countOf(value: object): number {
  let members = 0;
  for (const _ in value) members += 1;
  return members;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
