/** The load run's state, fetched by long polling, and the texts that describe it. */
import { signal } from '@preact/signals';
import type { LoadAnswer, LoadPhase, LoadState, LoadVerdict } from '../../api/contract/load.js';
import { formatMs, formatValue } from '../../report/shared/format.js';
import { loadVerdictText } from '../../report/shared/verdicts.js';
import { data } from '../components/requests.js';

/** Null until the first response. */
export const load = signal<LoadState | null>(null);

/** Connection to the load command. */
type Wire =
  | { is: 'following' }
  | { is: 'over' }
  | { is: 'lost'; why: string; since: number; againAt: number };

export const connection = signal<Wire>({ is: 'following' });

const LOAD_PATH = '/api/v1/load';
const AGAIN_MS = 1_000;
const LONGEST_MS = 15_000;

export const isOver = ({ phase }: LoadState): boolean => phase === 'over' || phase === 'failed';

/** Polls until the run is over, and retries while the command does not respond. */
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
      // A different command may later respond at this address.
      version = null;
      const why = (error as Error).message;
      connection.value = { is: 'lost', why, since, againAt: Date.now() + waitMs };
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(LONGEST_MS, waitMs * 2);
    }
  }
}

export const phases: Record<LoadPhase, string> = {
  waiting: 'not started',
  preparing: 'preparing',
  'warm-up': 'warming up',
  measured: 'measuring',
  draining: 'draining',
  over: 'finished',
  failed: 'failed',
};

export const phaseOrder: readonly LoadPhase[] = [
  'preparing',
  'warm-up',
  'measured',
  'draining',
  'over',
];

/** Returns the value of a fact with its unit, without its note. */
export function factText({ facts }: LoadState, wanted: string): string {
  const found = facts.flatMap(({ rows }) => rows).find(({ name }) => name === wanted);
  return found ? formatValue(found.value, found.unit) : '–';
}

const seconds = (ms: number): string => formatMs(Math.max(0, Math.round(ms / 1_000)) * 1_000);

/** Returns the progress and the remaining time. */
export function progressText(load: LoadState): string {
  const { phase, passed_ms: passed, of_ms: all, search } = load;
  const bracket = search ? `, bracket ${search.bracket} of ${search.repeat}` : '';
  if (phase === 'waiting') return 'The run sends no requests until started.';
  if (phase === 'preparing') return `Preparing${bracket}.`;
  if (phase === 'failed') return 'The run failed:';
  if (phase === 'over') return `Measured for ${formatMs(passed ?? 0)} of ${formatMs(all ?? 0)}.`;
  if (phase === 'draining') {
    const waited = seconds(passed ?? 0);
    return `All requests sent. Waiting for responses and finality, ${waited} so far${bracket}.`;
  }
  const left = (all ?? 0) - (passed ?? 0);
  const what = phase === 'warm-up' ? 'Warm-up, not measured' : 'Measuring';
  return (
    `${what}: ${seconds(passed ?? 0)} of ${formatMs(all ?? 0)}, ${seconds(left)} ` +
    `left${bracket}.`
  );
}

/** Verdict on the figures. The verdict is preliminary while the run continues. */
export function verdictText({ verdict, tables }: LoadState): { title: string; text: string } {
  if (!verdict) return { title: 'No verdict yet', text: '' };
  const { verdict: name, ended } = verdict;
  if (ended === null && name === 'VALID') return { title: 'No problems so far', text: '' };
  if (ended === null) {
    return { title: `Preliminary verdict: ${name}`, text: loadVerdictText(name, false) };
  }
  const how = ended === 'failed' ? ', failed' : '';
  return {
    title: `${name}${how}`,
    text: loadVerdictText(
      name,
      tables.some(({ id }) => id === 'probes'),
    ),
  };
}

export const tones: Record<LoadVerdict['verdict'], 'holds' | 'failed' | 'unchecked'> = {
  VALID: 'holds',
  UNSTABLE: 'unchecked',
  CLIENT_BOUND: 'failed',
  WORKLOAD_BOUND: 'failed',
  INVALID: 'failed',
  INCOMPLETE: 'failed',
};
