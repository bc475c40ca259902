/** Verdicts in words: of a run, of what ended it, and of a load run. */

export const runVerdicts = {
  pass: 'The network decided blocks, and none of its rules was broken.',
  no_progress: 'The network stopped deciding blocks; none of its rules was broken.',
  safety: 'The network broke one of its own rules. The run ended there.',
} as const;

/** Counts of blocks by their end; null where a measure has no value. */
type Ends = Record<'finalized' | 'rejected' | 'expired' | 'orphaned', number | null>;

/** Counts the blocks that were decided, and says what the verdict makes of the others. */
export function decidedText(verdict: keyof typeof runVerdicts, ends: Ends): string {
  const { finalized, rejected, expired, orphaned } = ends;
  const decided = (finalized ?? 0) + (rejected ?? 0);
  const open = [`${expired ?? 0} expired`, `${orphaned ?? 0} orphaned`];
  const closed = decided + (expired ?? 0) + (orphaned ?? 0);
  const counted = `${decided} of ${closed} closed blocks were finalized or rejected`;
  if (decided === closed) return `${counted}.`;
  const allowed = verdict === 'pass' ? '; pass allows this while the network makes progress' : '';
  return `${counted}, ${open.filter((text) => !text.startsWith('0 ')).join(', ')}${allowed}.`;
}

const endings: Readonly<Record<string, string>> = {
  blocks: 'as many blocks as asked for had closed',
  virtual_ms: 'its time was over',
  stalled: 'no block was decided for longer than the scenario has patience',
  nothing_due: 'nothing was left to happen',
  safety: 'a rule was broken',
};

/** @param endedBy a rule, or `until` with the condition. */
export function endingText(endedBy: string): string {
  const [rule = ''] = endedBy.split(' ', 1);
  const known = Object.hasOwn(endings, rule) ? endings[rule] : undefined;
  return known ?? 'a condition of the scenario was met';
}

const loadVerdicts = {
  VALID: 'The server got the load that was asked for, and the figures are its own.',
  UNSTABLE: 'The two halves of the run differ: the figures are an average of no steady state.',
  CLIENT_BOUND:
    'The load tester could not keep its own schedule: the figures are its own, not the server’s.',
  WORKLOAD_BOUND:
    'The workload had too few requests to send, so the server never got the rate. ' +
    'The reason names the option to raise.',
  INVALID: 'The figures are not of the load that was asked for.',
} as const;

/** Of a search UNSTABLE is about the machine, not about the two halves of a run. */
const SEARCHED = 'The speed of the machine moved while the rate that holds was sought.';

/** @param isSearch whether the rate that holds was sought. */
export const loadVerdictText = (verdict: keyof typeof loadVerdicts, isSearch: boolean): string =>
  verdict === 'UNSTABLE' && isSearch ? SEARCHED : loadVerdicts[verdict];
