/** Whether what is shown follows from the log: recomputed by the server's replay, and here. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { counted, shown } from '../../../report/shared/numbers.js';
import { commandProof, doneOf } from '../../clock/proof.js';
import { Lacking } from '../../parts/lacking.js';
import { place } from '../../route/router.js';
import { recomputeHere } from '../../verify/ask.js';
import type { Progress, Recomputed } from '../../verify/messages.js';
import { Difference } from './difference.js';
import { partingOf } from './told.js';

export function ProofBand() {
  return (
    <section class="panel proof-band" aria-labelledby="proof-band">
      <header>
        <h2 id="proof-band">Is it true?</h2>
        <p>What is shown has to follow from the log, entry by entry, to the same digest.</p>
      </header>
      <Lacking what="proof">
        <CommandBand />
        <HereBand />
      </Lacking>
    </section>
  );
}

/** By the command that shows it. */
function CommandBand() {
  const proof = commandProof.value;
  if (!proof) return null;
  const { state, end, divergence, problem, signatures } = proof;
  const done = shown(doneOf(proof));
  return (
    <div class={`proving ${state}`}>
      <Bar
        value={doneOf(proof)}
        of={end + 1}
        parting={divergence?.entry ?? null}
        name="by the command"
      />
      <p role="status">
        {state === 'running' &&
          `The command recomputed ${done} of ${counted(end + 1, 'entry', 'entries')}: all match.`}
        {state === 'match' && (
          <>
            <b>All {counted(end + 1, 'entry', 'entries')} match</b>, recomputed by the command
            {signatures ? ', every signature verified once more' : ''}.
          </>
        )}
        {state === 'failed' && `The log could not be read to its end: ${problem ?? ''}`}
      </p>
      {divergence && <Difference parting={partingOf(divergence)} by="the command" />}
    </div>
  );
}

type State =
  | { is: 'idle' }
  | { is: 'running'; progress: Progress | null }
  | { is: 'done'; result: Recomputed }
  | { is: 'failed'; why: string };

/** Here: the engine itself in this browser. */
function HereBand() {
  const [state, set] = useState<State>({ is: 'idle' });
  const [signatures, check] = useState(false);
  const stop = useRef(() => {});
  const begin = () => {
    set({ is: 'running', progress: null });
    const run = recomputeHere(signatures, (progress) => set({ is: 'running', progress }));
    stop.current = run.stop;
    run.result.then(
      (result) => set({ is: 'done', result }),
      (error: Error) => set({ is: 'failed', why: error.message }),
    );
  };
  useEffect(() => {
    // A link may ask for it: the command `explore --verify` prints one.
    if (place.peek().query.get('verify') !== null) begin();
    return () => stop.current();
  }, []);
  return (
    <div
      class={`proving ${state.is === 'done' ? (state.result.parting ? 'differs' : 'match') : ''}`}
    >
      {state.is === 'running' && <Running progress={state.progress} />}
      {state.is === 'done' && <Done result={state.result} />}
      {state.is === 'failed' && <p role="alert">It could not be recomputed here: {state.why}</p>}
      <p class="proof-ask">
        {state.is === 'running' ? (
          <button
            type="button"
            class="button"
            onClick={() => {
              stop.current();
              set({ is: 'idle' });
            }}
          >
            Stop
          </button>
        ) : (
          <>
            <button type="button" class="button" onClick={begin}>
              {state.is === 'idle' ? 'Recompute it in this browser' : 'Once more'}
            </button>
            <label class="tick">
              <input
                type="checkbox"
                checked={signatures}
                onChange={(event) => check(event.currentTarget.checked)}
              />{' '}
              with every signature
            </label>
          </>
        )}
      </p>
    </div>
  );
}

function Running({ progress }: { progress: Progress | null }) {
  const { entries = 0, of = 1, signatures = 0 } = progress ?? {};
  return (
    <>
      <Bar value={entries} of={of} parting={null} name="in this browser" />
      <p>
        The engine runs here: {shown(entries)} of {counted(of, 'entry', 'entries')} match
        {signatures > 0 ? `, ${counted(signatures, 'signature holds', 'signatures hold')}` : ''}.
      </p>
    </>
  );
}

function Done({ result }: { result: Recomputed }) {
  const { entries, of, signatures, digest, served, parting } = result;
  const same = digest === served.digest && parting === null;
  return (
    <>
      <Bar value={entries} of={of} parting={parting?.entry ?? null} name="in this browser" />
      {same && (
        <p role="status">
          <b>The same digest.</b> {counted(entries, 'entry was', 'entries were')} recomputed in this
          browser
          {signatures > 0 && `, ${counted(signatures, 'signature holds', 'signatures hold')}`}:{' '}
          <code>{digest}</code>
        </p>
      )}
      {!same && !parting && (
        <p role="alert">
          <b>Another digest.</b> Recomputed {digest}, the server says {served.digest}.
        </p>
      )}
      {parting && <Difference parting={parting} by="this browser" />}
    </>
  );
}

interface BarProps {
  value: number;
  of: number;
  parting: number | null;
  name: string;
}

function Bar({ value, of, parting, name }: BarProps) {
  const share = (part: number) => `${Math.min(100, (100 * part) / Math.max(1, of))}%`;
  return (
    <div
      class="proof-bar"
      role="progressbar"
      aria-label={`Entries recomputed ${name}`}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={value}
    >
      <span style={{ width: share(value) }} />
      {parting !== null && <i style={{ left: share(parting) }} />}
    </div>
  );
}
