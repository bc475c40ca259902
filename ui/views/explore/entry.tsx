/** The entry that is shown: who asked for what, all that came of it, and its digests. */
import { counted, shown } from '../../../report/shared/numbers.js';
import { position } from '../../data/store.js';
import { Lacking } from '../../parts/lacking.js';
import { Fact } from '../../parts/lists/fact.js';
import { Lines } from '../../parts/lists/lines.js';
import { moment } from '../../parts/moment.js';
import { data, useFetched } from '../../parts/server/api.js';
import { Coming, Failed } from '../../parts/server/states.js';
import { plain } from '../../parts/text.js';
import { Who } from '../../parts/who.js';
import type { EntryData } from './entry-data.js';

const FIRST = 8;
const MOST = 500;

export function Entry({ entry }: { entry: number }) {
  return (
    <section class="panel entry" aria-labelledby="entry">
      <header>
        <h2 id="entry">Which entry did this</h2>
      </header>
      <Lacking what="log">
        <Stored entry={entry} />
      </Lacking>
    </section>
  );
}

function Stored({ entry }: { entry: number }) {
  const [fetched, again] = useFetched(`${entry}`, () =>
    data<EntryData>(`/api/v1/entries/${entry}`),
  );
  if (fetched.is === 'coming') return <Coming what="the entry" />;
  if (fetched.is === 'failed') return <Failed why={fetched.why} onAgain={again} />;
  return <Found of={fetched.data} />;
}

function Found({ of }: { of: EntryData }) {
  const { kind, at, events, digest, log_digest } = of;
  return (
    <>
      <p>
        <b>{kinds[kind] ?? plain(kind, 32)}</b> {of.agent_id && <Who id={of.agent_id} />}{' '}
        <span class="faint">at {moment(at)}</span>
      </p>
      {of.body !== '' && (
        <details>
          <summary>What was sent, as it was signed</summary>
          <Lines text={pretty(of.body)} />
        </details>
      )}
      <h3>
        {events.length === 0
          ? 'It led to no event'
          : `${counted(events.length, 'event')} came of it`}
      </h3>
      <Events of={events.slice(0, FIRST)} />
      {events.length > FIRST && (
        <details>
          <summary>The other {shown(events.length - FIRST)}</summary>
          <Events of={events.slice(FIRST, MOST)} />
          {events.length > MOST && (
            <p class="faint">{counted(events.length - MOST, 'more is', 'more are')} omitted.</p>
          )}
        </details>
      )}
      <dl class="facts">
        <Fact name="digest of what came of the log, after it" whole>
          <code>{digest}</code>
        </Fact>
        <Fact name="digest of the log" whole>
          <code>{log_digest}</code>
        </Fact>
        {isAnother(of) && (
          <Fact name="the picture that is shown" whole>
            is of another digest: <code>{position.value!.digest}</code>
          </Fact>
        )}
      </dl>
    </>
  );
}

/** Of a picture that was folded on from another one no digest is known. */
function isAnother({ entry, digest }: EntryData): boolean {
  const here = position.value!;
  return here.entry === entry && here.digest !== '' && here.digest !== digest;
}

const Events = ({ of }: { of: EntryData['events'] }) => (
  <ol class="events">
    {of.map((event) => (
      <li key={event.seq}>
        <details>
          <summary>
            {event.seq} {plain(event.type, 40)}
          </summary>
          <Lines text={JSON.stringify(event.data, null, 1)} />
        </details>
      </li>
    ))}
  </ol>
);

const kinds: Readonly<Record<string, string>> = {
  genesis: 'The network began.',
  tick: 'A deadline passed: nobody asked for it.',
  register: 'Registration of',
  status: 'Change of status, by',
  vote: 'Vote by',
  propose: 'Proposal by',
  meme: 'Meme by',
  discuss: 'Remark by',
  alliance_propose: 'Proposal of an alliance, by',
  alliance_respond: 'Answer to an alliance, by',
  alliance_leave: 'Leaving of an alliance, by',
};

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body.slice(0, 200_000)), null, 1);
  } catch {
    return body;
  }
}
