/** What is known of the load run: asked for again as soon as an answer has come, which waits. */
import { signal } from '@preact/signals';
import type { LoadAnswer, LoadShown } from '../../../api/view/load.js';
import { data } from '../../parts/server/api.js';

/** Null until the first answer. */
export const load = signal<LoadShown | null>(null);

/** How the page stands with the command. */
export type Wire =
  | { is: 'following' }
  /** Nothing more comes. */
  | { is: 'over' }
  | { is: 'lost'; why: string; since: number; againAt: number };

export const wire = signal<Wire>({ is: 'following' });

const PATH = '/api/v1/load';
const AGAIN_MS = 1_000;
const LONGEST_MS = 15_000;

export const isOver = ({ phase }: LoadShown): boolean => phase === 'over' || phase === 'failed';

/** Goes on until the run is over. A command that is gone is looked for again. */
export async function followLoad(): Promise<void> {
  let version: number | null = null;
  let [since, waitMs] = [Date.now(), AGAIN_MS];
  for (;;) {
    try {
      const query: string = version === null ? '' : `?after=${version}`;
      const answer = await data<LoadAnswer>(PATH + query);
      version = answer.version;
      [since, waitMs] = [Date.now(), AGAIN_MS];
      load.value = answer.load;
      wire.value = isOver(answer.load) ? { is: 'over' } : { is: 'following' };
      if (isOver(answer.load)) return;
    } catch (error) {
      // Another command may answer at this address later: of it nothing is known.
      version = null;
      const why = (error as Error).message;
      wire.value = { is: 'lost', why, since, againAt: Date.now() + waitMs };
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(LONGEST_MS, waitMs * 2);
    }
  }
}
