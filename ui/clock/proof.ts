/** What a command says of a log that it recomputes while its page shows it: only a replay does. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { data } from '../parts/server/api.js';
import { worldClock } from './control.js';

export interface CommandProof {
  state: 'running' | 'match' | 'differs' | 'failed';
  /** The last one that was recomputed, and the last that is to be. */
  entry: number | null;
  end: number;
  signatures: boolean;
  divergence: CommandDivergence | null;
  /** Why it failed. */
  problem: string | null;
}

export interface CommandDivergence {
  entry: number;
  kind: string;
  what: string;
  which: string | null;
  actor: { kind: string; id: string; name: string | null } | null;
  field: string | null;
  expected: string;
  found: string;
}

const EVERY_MS = 1_000;

/** Null where nobody recomputes. */
export const commandProof = signal<CommandProof | null>(null);

/** Entries that were recomputed. */
export const doneOf = ({ entry }: CommandProof): number => (entry ?? -1) + 1;

/** Keeps it up to date while the replay goes on; whatever its server tells, it is asked again. */
export function useCommandProof(): void {
  const world = worldClock.value;
  useEffect(() => {
    if (world?.kind !== 'replay') return;
    let timer = 0;
    let wanted = true;
    const look = async () => {
      const found = await data<CommandProof>('/api/v1/proof').catch(() => null);
      if (!wanted || !found) return;
      commandProof.value = found;
      if (found.state === 'running') timer = setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [world]);
}
