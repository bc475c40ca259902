/**
 * State of the load run, asked for again as soon as an answer has come (the server holds one back
 * until there is news), and the same in words.
 */
import { signal } from '@preact/signals';
import type { LoadAnswer, LoadPhase, LoadState, LoadVerdict } from '../../api/view/load-state.js';
import { format, formatMs } from '../../report/shared/format.js';
import { loadVerdictText } from '../../report/shared/verdicts.js';
import { cleanText } from '../components/labels.js';
import { data } from '../components/requests.js';

/** Null until the first answer. */
export const load = signal<LoadState | null>(null);

/** How the page stands with the command. */
type Wire =
  | { is: 'following' }
  /** Nothing more comes. */
  | { is: 'over' }
  | { is: 'lost'; why: string; since: number; againAt: number };

export const connection = signal<Wire>({ is: 'following' });

const LOAD_PATH = '/api/v1/load';
const AGAIN_MS = 1_000;
const LONGEST_MS = 15_000;

export const isOver = ({ phase }: LoadState): boolean => phase === 'over' || phase === 'failed';

/** Goes on until the run is over. A command that is gone is looked for again. */
export async function followLoad(): Promise<void> {
  let version: number | null = null;
  let [since, waitMs] = [Date.now(), AGAIN_MS];
  for (;;) {
    try {
      const query: string = version === null ? '' : `?after=${version}`;
      const answer = await data<LoadAnswer>(LOAD_PATH + query);
      version = answer.version;
      [since, waitMs] = [Date.now(), AGAIN_MS];
      load.value = answer.load;
      connection.value = isOver(answer.load) ? { is: 'over' } : { is: 'following' };
      if (isOver(answer.load)) return;
    } catch (error) {
      // Another command may answer at this address later: of it nothing is known.
      version = null;
      const why = (error as Error).message;
      connection.value = { is: 'lost', why, since, againAt: Date.now() + waitMs };
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(LONGEST_MS, waitMs * 2);
    }
  }
}

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
export const phaseOrder: readonly LoadPhase[] = [
  'preparing',
  'warm-up',
  'measured',
  'draining',
  'over',
];

export const roundShown = (value: number): number =>
  value < 100 ? Math.round(value * 10) / 10 : Math.round(value);

export const perSecond = (rate: number | null): string =>
  rate === null ? '–' : `${format(roundShown(rate))}/s`;

export function percent(share: number | null): string {
  if (share === null) return '–';
  const value = 100 * share;
  const parts = value < 1 ? 1_000 : 100;
  return `${format(Math.round(value * parts) / parts)} %`;
}

/** In whole seconds, as a clock that runs shows them. */
const seconds = (ms: number): string => formatMs(Math.max(0, Math.round(ms / 1_000)) * 1_000);

/** What was asked, as a title. */
export function describeRequest({ asked, search }: LoadState): string {
  const { workload, rate, concurrency } = asked;
  const name = cleanText(workload, 40);
  if (search) return `${name}, saturation`;
  const much =
    rate === null ? `${format(concurrency)} at a time` : `${format(roundShown(rate))} a second`;
  return `${name}, ${much}`;
}

/** How far it is, and what is left. */
export function progressText(load: LoadState): string {
  const { phase, passed_ms: passed, of_ms: all, search } = load;
  const sought = search ? `, bracket ${bracketOf(load)} of ${format(search.repeat)}` : '';
  if (phase === 'waiting') return 'Nothing is sent until it is told to begin.';
  if (phase === 'preparing') return `Preparing${sought}.`;
  if (phase === 'failed') return 'It could not be done:';
  if (phase === 'over') return `Measured for ${formatMs(passed ?? 0)} of ${formatMs(all ?? 0)}.`;
  if (phase === 'draining') {
    const waited = seconds(passed ?? 0);
    return `All is sent; answers and finality are waited for, ${waited} so far${sought}.`;
  }
  const left = (all ?? 0) - (passed ?? 0);
  const what = phase === 'warm-up' ? 'Warming up, not counted' : 'Measuring';
  return (
    `${what}: ${seconds(passed ?? 0)} of ${formatMs(all ?? 0)}, ${seconds(left)} ` +
    `left${sought}.`
  );
}

const bracketOf = ({ search }: LoadState): string => format(search?.probes.at(-1)?.bracket ?? 1);

/** Whether the figures can be believed, as far as that is known. */
export function verdictText({ verdict, search }: LoadState): { title: string; text: string } {
  if (!verdict) return { title: 'No verdict yet', text: '' };
  const { verdict: name, ended } = verdict;
  if (ended === null && name === 'VALID') {
    return { title: 'So far nothing speaks against it', text: '' };
  }
  if (ended === null) {
    return { title: `So far it would be ${name}`, text: loadVerdictText(name, false) };
  }
  const how = ended === 'complete' ? '' : `, ${ended}`;
  return { title: `${name}${how}`, text: loadVerdictText(name, search !== null) };
}

/** Told apart by more than their colour. */
export const tones: Record<LoadVerdict['verdict'], 'holds' | 'failed' | 'unchecked'> = {
  VALID: 'holds',
  UNSTABLE: 'unchecked',
  CLIENT_BOUND: 'failed',
  WORKLOAD_BOUND: 'failed',
  INVALID: 'failed',
};
