/** Texts for verdicts and for the conditions that end a run. */

export const runVerdicts = {
  pass: 'The network decided blocks and kept every safety rule.',
  no_progress: 'The network stopped deciding blocks. It kept every safety rule.',
  conflict:
    'Honest agents decided differently for one slot of their protocol, or one changed its ' +
    'decision. The network kept every safety rule.',
  safety: 'The network violated a safety rule, which ended the run.',
} as const;

/** Number of blocks by outcome; null if the measure has no value. */
type Ends = Record<'finalized' | 'rejected' | 'expired' | 'orphaned', number | null>;

/** Describes the number of decided blocks in one sentence. */
export function decidedText(verdict: keyof typeof runVerdicts, ends: Ends): string {
  const { finalized, rejected, expired, orphaned } = ends;
  const decided = (finalized ?? 0) + (rejected ?? 0);
  const open = [`${expired ?? 0} expired`, `${orphaned ?? 0} orphaned`];
  const closed = decided + (expired ?? 0) + (orphaned ?? 0);
  const counted = `${decided} of ${closed} closed blocks were finalized or rejected`;
  if (decided === closed) return `${counted}.`;
  const allowed =
    verdict === 'pass' ? '; a passing run may have these while the network makes progress' : '';
  return `${counted}, ${open.filter((text) => !text.startsWith('0 ')).join(', ')}${allowed}.`;
}

const endings: Readonly<Record<string, string>> = {
  blocks: 'the requested number of blocks had closed',
  virtual_ms: 'the time limit was reached',
  stalled: 'no block was decided within the patience of the scenario',
  nothing_due: 'no event was left',
  safety: 'a safety rule was violated',
};

/** @param endedBy key of a rule, or `until` with its condition. */
export function endingText(endedBy: string): string {
  const [rule = ''] = endedBy.split(' ', 1);
  const known = Object.hasOwn(endings, rule) ? endings[rule] : undefined;
  return known ?? 'a stop condition of the scenario was met';
}

const loadVerdicts = {
  VALID: 'The server accepted the requested load.',
  UNSTABLE: 'The two halves of the run differ, so the figures do not describe a steady state.',
  CLIENT_BOUND:
    'The load generator could not keep its schedule. The figures measure it, not the server.',
  WORKLOAD_BOUND:
    'The workload ran out of requests, so the server did not receive the requested rate. ' +
    'The reason names the option to raise.',
  INVALID: 'The server did not receive the requested load.',
  INCOMPLETE: 'The run was interrupted. The figures cover the time before.',
} as const;

/** Text for a search, in which UNSTABLE means that the machine's speed changed. */
const SEARCHED = 'The speed of the machine changed during the search for the sustainable rate.';

/** @param isSearch true for a run that searches for the sustainable rate. */
export const loadVerdictText = (verdict: keyof typeof loadVerdicts, isSearch: boolean): string =>
  verdict === 'UNSTABLE' && isSearch ? SEARCHED : loadVerdicts[verdict];
