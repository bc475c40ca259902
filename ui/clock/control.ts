/** The world's own clock, where the server has one to control: not the view's, of bar.tsx. */
import { signal } from '@preact/signals';
import { notice } from '../data/store.js';
import { home } from '../home/home.js';
import { tokenKept } from './token.js';

export type WorldCommand =
  | { do: 'pause' | 'resume' | 'step' }
  | { do: 'until'; until: { what: 'block' | 'outcome' | 'time'; status?: string; ms?: number } }
  | { do: 'speed'; speed: number | null };

export interface World {
  kind: 'live' | 'sim' | 'folder' | 'replay' | 'load';
  clock: {
    /** What stands still while it is paused. */
    holds: 'network' | 'agents' | 'run' | 'nothing';
    paused: boolean;
    speed: number | null;
  };
  can: WorldCommand['do'][];
}

const PATH = '/api/v1/control';

/** Null where the server says nothing of it. */
export const worldClock = signal<World | null>(null);

export async function askWorld(): Promise<void> {
  try {
    const answer = await home.ask(PATH);
    if (answer.ok) worldClock.value = ((await answer.json()) as { data: World }).data;
  } catch {
    // The band says that the server does not answer.
  }
}

export async function controlWorld(command: WorldCommand): Promise<void> {
  try {
    const answer = await home.ask(PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tokenKept()}` },
      body: JSON.stringify(command),
    });
    const { data, error } = (await answer.json()) as { data?: World; error?: { message: string } };
    if (data?.clock) worldClock.value = data;
    if (error) notice.value = { text: `The network's clock: ${error.message}` };
  } catch {
    notice.value = {
      text: "The network's clock could not be reached: the server does not answer.",
    };
  }
}
