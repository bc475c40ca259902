/** Verification by the engine in this browser that the stored data follows from the log. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { format, plural } from '../../report/shared/format.js';
import {
  AgentLink,
  BlockLink,
  cleanText,
  EntryLink,
  moment,
  toSentence,
} from '../components/labels.js';
import { Button, Fact } from '../components/lists.js';
import { Unavailable } from '../components/placeholders.js';
import { home } from '../home.js';
import { place } from '../route.js';
import { recomputeInWorker } from '../verify/client.js';
import type { Parting, Progress, Recomputed } from '../verify/messages.js';

export function ProofBand() {
  return (
    <section class="panel proof-band" aria-labelledby="proof-band">
      <header>
        <h2 id="proof-band">Log verification</h2>
        {!home.lacks.proof && (
          <p>Replays the log entry by entry and compares the digests with the stored data.</p>
        )}
      </header>
      <Unavailable what="proof">{!IN_FILE && <HereBand />}</Unavailable>
    </section>
  );
}

type HereState =
  | { is: 'idle' }
  | { is: 'running'; progress: Progress | null }
  | { is: 'done'; result: Recomputed }
  | { is: 'failed'; why: string };

function HereBand() {
  const [state, set] = useState<HereState>({ is: 'idle' });
  const [signatures, check] = useState(false);
  const stop = useRef(() => {});
  const begin = () => {
    set({ is: 'running', progress: null });
    const run = recomputeInWorker(signatures, (progress) => set({ is: 'running', progress }));
    stop.current = run.stop;
    run.result.then(
      (result) => set({ is: 'done', result }),
      (error: Error) => set({ is: 'failed', why: error.message }),
    );
  };
  useEffect(() => {
    // Links printed by `explore --verify` start the replay.
    if (place.peek().query.get('verify') !== null) begin();
    return () => stop.current();
  }, []);
  return (
    <div
      class={`proving ${state.is === 'done' ? (state.result.parting ? 'differs' : 'match') : ''}`}
    >
      {state.is === 'running' && <Running progress={state.progress} />}
      {state.is === 'done' && <Done result={state.result} />}
      {state.is === 'failed' && <p role="alert">{toSentence(`the replay failed: ${state.why}`)}</p>}
      <p class="proof-ask">
        {state.is === 'running' ? (
          <Button
            onClick={() => {
              stop.current();
              set({ is: 'idle' });
            }}
          >
            Stop
          </Button>
        ) : (
          <>
            <Button onClick={begin}>
              {state.is === 'idle' ? 'Replay in this browser' : 'Replay again'}
            </Button>
            <label class="tick">
              <input
                type="checkbox"
                checked={signatures}
                onChange={(event) => check(event.currentTarget.checked)}
              />{' '}
              verify signatures
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
        Replaying: {format(entries)} of {plural(of, 'entry', 'entries')} match
        {signatures > 0 ? `, ${plural(signatures, 'valid signature')}` : ''}.
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
          <b>All {plural(entries, 'entry', 'entries')} match</b>
          {signatures > 0 && `, ${plural(signatures, 'valid signature')}`}. Digest:{' '}
          <code>{digest}</code>
        </p>
      )}
      {!same && !parting && (
        <p role="alert">
          <b>Digest mismatch.</b> Replayed: <code>{digest}</code>, stored:{' '}
          <code>{served.digest}</code>
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
      aria-label={`Entries replayed ${name}`}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={value}
    >
      <span style={{ width: share(value) }} />
      {parting !== null && <i style={{ left: share(parting) }} />}
    </div>
  );
}

function Difference({ parting, by }: { parting: Parting; by: string }) {
  const { entry, at, kind, actor, field, expected, found } = parting;
  return (
    <div class="difference" role="alert">
      <p>
        <b>
          First divergence: <EntryLink entry={entry} />
        </b>{' '}
        ({cleanText(kind, 32)}
        {at === null ? '' : `, ${moment(at)}`}). All earlier entries match. Later entries were not
        replayed by {by}.
      </p>
      <dl class="facts">
        {actor !== '' && (
          <Fact name="actor">
            <Actor id={actor} />
          </Fact>
        )}
        <Fact name="field">{cleanText(field, 160)}</Fact>
        <Fact name="expected" whole>
          <code>{cleanText(expected, 300)}</code>
        </Fact>
        <Fact name="stored" whole>
          <code>{cleanText(found, 300)}</code>
        </Fact>
      </dl>
    </div>
  );
}

function Actor({ id }: { id: string }) {
  if (id.startsWith('agent_')) return <AgentLink id={id} />;
  return /^[0-9a-f]{64}$/.test(id) ? <BlockLink hash={id} /> : <span>{cleanText(id, 80)}</span>;
}
