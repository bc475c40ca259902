/** A load run in words: what was asked, how far it is, what its verdict means. */
import type { LoadPhase, LoadShown, LoadVerdict } from '../../../api/view/load.js';
import { shown, time } from '../../../report/shared/numbers.js';
import { loadVerdicts } from '../../../report/shared/verdicts.js';
import { plain } from '../../parts/text.js';

export const phases: Record<LoadPhase, string> = {
  waiting: 'waits to begin',
  preparing: 'preparing',
  'warm-up': 'warming up',
  measured: 'measuring',
  draining: 'waiting for the rest',
  over: 'over',
  failed: 'failed',
};

/** As it goes, from left to right. */
export const story: readonly LoadPhase[] = ['preparing', 'warm-up', 'measured', 'draining', 'over'];

export const rounded = (value: number): number =>
  value < 100 ? Math.round(value * 10) / 10 : Math.round(value);

export const perSecond = (rate: number | null): string =>
  rate === null ? '–' : `${shown(rounded(rate))}/s`;

export function percent(share: number | null): string {
  if (share === null) return '–';
  const value = 100 * share;
  const parts = value < 1 ? 1_000 : 100;
  return `${shown(Math.round(value * parts) / parts)} %`;
}

/** In whole seconds, as a clock that runs shows them. */
export const seconds = (ms: number): string => time(Math.max(0, Math.round(ms / 1_000)) * 1_000);

/** What was asked, as a title. */
export function askedFor({ asked, search }: LoadShown): string {
  const { workload, rate, concurrency } = asked;
  const name = plain(workload, 40);
  if (search) return `${name}, saturation`;
  const much =
    rate === null ? `${shown(concurrency)} at a time` : `${shown(rounded(rate))} a second`;
  return `${name}, ${much}`;
}

/** How far it is, and what is left. */
export function progressText(load: LoadShown): string {
  const { phase, passed_ms: passed, of_ms: all, search } = load;
  const sought = search ? `, bracket ${bracketOf(load)} of ${shown(search.repeat)}` : '';
  if (phase === 'waiting') return 'Nothing is sent until it is told to begin.';
  if (phase === 'preparing') return `Preparing${sought}.`;
  if (phase === 'failed') return 'It could not be done:';
  if (phase === 'over') return `Measured for ${time(passed ?? 0)} of ${time(all ?? 0)}.`;
  if (phase === 'draining') {
    const waited = seconds(passed ?? 0);
    return `All is sent; answers and finality are waited for, ${waited} so far${sought}.`;
  }
  const left = (all ?? 0) - (passed ?? 0);
  const what = phase === 'warm-up' ? 'Warming up, not counted' : 'Measuring';
  return `${what}: ${seconds(passed ?? 0)} of ${time(all ?? 0)}, ${seconds(left)} left${sought}.`;
}

const bracketOf = ({ search }: LoadShown): string => shown(search?.probes.at(-1)?.bracket ?? 1);

/** Whether the figures can be believed, as far as that is known. */
export function verdictText({ verdict, search }: LoadShown): { title: string; text: string } {
  if (!verdict) return { title: 'No verdict yet', text: '' };
  const { verdict: name, ended } = verdict;
  if (ended === null && name === 'VALID') {
    return { title: 'So far nothing speaks against it', text: '' };
  }
  if (ended === null) {
    return { title: `So far it would be ${name}`, text: loadVerdicts[name] };
  }
  const how = ended === 'complete' ? '' : `, ${ended}`;
  const text = name === 'UNSTABLE' && search ? SEARCHED : loadVerdicts[name];
  return { title: `${name}${how}`, text };
}

/** What is sought, and what it is sought with, differ in what may be unsteady. */
const SEARCHED = 'The speed of the machine moved while the rate that holds was sought.';

/** Told apart by more than their colour. */
export const tones: Record<LoadVerdict['verdict'], 'holds' | 'failed' | 'unchecked'> = {
  VALID: 'holds',
  UNSTABLE: 'unchecked',
  CLIENT_BOUND: 'failed',
  WORKLOAD_BOUND: 'failed',
  INVALID: 'failed',
};
