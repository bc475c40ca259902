/** Verdicts in words: of a run, of what ended it, and of a load run. */

export const runVerdicts = {
  pass: 'The network decided blocks, and none of its rules was broken.',
  no_progress: 'The network stopped deciding blocks; none of its rules was broken.',
  safety: 'The network broke one of its own rules. The run ended there.',
} as const;

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

export const loadVerdicts = {
  VALID: 'The server got the load that was asked for, and the figures are its own.',
  UNSTABLE: 'The two halves of the run differ: the figures are an average of no steady state.',
  CLIENT_BOUND:
    'The load tester could not keep its own schedule: the figures are its own, not the server’s.',
  WORKLOAD_BOUND:
    'The workload had too few requests to send, so the server never got the rate. ' +
    'The reason names the option to raise.',
  INVALID: 'The figures are not of the load that was asked for.',
} as const;
