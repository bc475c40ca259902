/** The world's own clock, where the server has one to control: not the view's, of bar.tsx. */
import { signal } from '@preact/signals';
import type { World, WorldCommand } from '../data/messages.js';
import { known, notice } from '../data/store.js';
import { home } from '../home/home.js';
import { tokenKept } from './token.js';

/** With the time of this page at which it was told. */
type Heard = World & { heard: number };

const PATH = '/api/v1/control';

/** Null where the server says nothing of it. */
export const worldClock = signal<Heard | null>(null);

export function hearWorld(world: World): void {
  // What is told of its clock alone leaves that out.
  known.value = world.knows ?? known.value ?? [];
  worldClock.value = { ...world, heard: performance.now() };
}

/** Its time now, where that passes as ours does, else null: this machine's own may be wrong. */
export function networkNow(): number | null {
  const { kind, clock, heard } = worldClock.value ?? {};
  if (kind !== 'live' || !clock || heard === undefined) return null;
  const stands = clock.paused && clock.holds === 'network';
  return Date.parse(clock.at) + (stands ? 0 : performance.now() - heard);
}

export async function askWorld(): Promise<void> {
  try {
    const answer = await home.ask(PATH);
    if (answer.ok) hearWorld(((await answer.json()) as { data: World }).data);
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
    if (data?.clock) hearWorld(data);
    if (error) notice.value = { text: `The network's clock: ${error.message}` };
  } catch {
    notice.value = {
      text: "The network's clock could not be reached: the server does not answer.",
    };
  }
}
