/** The certificate of a block, made in this browser out of the whole log, to be kept. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { shown } from '../../../report/shared/numbers.js';
import { home } from '../../home/home.js';
import { certificateOf } from '../../verify/ask.js';
import type { Progress } from '../../verify/messages.js';
import type { BlockData } from './fetch.js';

type State =
  | { is: 'idle' }
  | { is: 'making'; progress: Progress | null }
  | { is: 'made'; url: string; bytes: number }
  | { is: 'failed'; why: string };

export function Certificate({ block }: { block: BlockData }) {
  const [state, set] = useState<State>({ is: 'idle' });
  const made = useRef('');
  useEffect(() => () => URL.revokeObjectURL(made.current), []);
  const { status, block_hash, height } = block;
  if (home.lacks.log || (status !== 'finalized' && status !== 'rejected')) return null;
  const make = async () => {
    set({ is: 'making', progress: null });
    try {
      const text = await certificateOf(block_hash, (progress) => set({ is: 'making', progress }));
      const blob = new Blob([text], { type: 'application/json' });
      made.current = URL.createObjectURL(blob);
      set({ is: 'made', url: made.current, bytes: blob.size });
    } catch (error) {
      set({ is: 'failed', why: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <section class="panel" aria-labelledby="certificate">
      <header>
        <h2 id="certificate">Certificate</h2>
        <p>
          Why it was {status}, in one file that anybody can check offline:{' '}
          <code>npx folkmoot check-certificate FILE</code>
        </p>
      </header>
      {state.is === 'idle' && (
        <button type="button" class="button" onClick={() => void make()}>
          Make it here, out of the log
        </button>
      )}
      {state.is === 'making' && <Making progress={state.progress} />}
      {state.is === 'made' && (
        <a class="button" href={state.url} download={`block-${height}.certificate.json`}>
          Save block-{height}.certificate.json, {shown(Math.ceil(state.bytes / 1_000))} kB
        </a>
      )}
      {state.is === 'failed' && <p role="alert">{state.why}</p>}
    </section>
  );
}

function Making({ progress }: { progress: Progress | null }) {
  const { entries = 0, of = 1 } = progress ?? {};
  return (
    <p role="status">
      <progress max={of} value={entries} aria-label="entries recomputed" /> {shown(entries)} of{' '}
      {shown(of)} entries recomputed
    </p>
  );
}
