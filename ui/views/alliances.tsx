/** The Alliances view: one lane per alliance along engine time, with members and agreement. */
import type { AllianceRow } from '../../api/view/model.js';
import { format, plural } from '../../report/shared/format.js';
import { AgentLink, cleanText, getAgentName, moment, Name } from '../components/labels.js';
import { Empty, Figure, PagedRows } from '../components/lists.js';
import { useWorkerAnswer } from '../components/requests.js';
import { alliances, position } from '../data/store.js';
import type { Agreement } from '../player/opinion.js';
import { href, useChoice } from '../route.js';

export function View() {
  const all = [...alliances.value].sort((one, other) => other.proposed_at - one.proposed_at);
  const found = useWorkerAnswer<Agreement[]>('alike', () => null, '');
  const alike: Alike = new Map((found ?? []).map((one) => [one.alliance, one]));
  if (all.length === 0) {
    return (
      <Empty title="No alliances yet">
        <p>
          An agent proposes an alliance to other agents, and the first acceptance starts it.{' '}
          <a href={href('talk')}>Open Talk</a>
        </p>
      </Empty>
    );
  }
  const open = all.filter(({ status }) => status === 'active').length;
  return (
    <>
      <header class="view-head">
        <h1>
          {plural(open, 'active alliance')}
          <span class="faint">, {format(all.length - open)} proposed or ended</span>
        </h1>
      </header>
      <Figure
        title="Alliance lifetimes"
        caption={
          <>
            Lifetime of each alliance in elapsed network time, newest first: solid while active,
            outlined while proposed, faint after the end. Agreement: share of identical votes, in %,
            among pairs of members who voted on the same block. n = {plural(all.length, 'alliance')}
            .
          </>
        }
        chart={() => <Lanes all={all} alike={alike} />}
        table={() => <Table all={all} alike={alike} />}
      />
    </>
  );
}

function Table({ all, alike }: { all: readonly AllianceRow[]; alike: Alike }) {
  return (
    <PagedRows
      caption="Alliances, newest first"
      head={['purpose', 'status', 'proposed', 'last change', 'agreement', 'members']}
      numeric={[4]}
      wide={[0, 5]}
      all={all}
      row={(one) => [
        <bdi key="purpose">{cleanText(one.purpose, 80)}</bdi>,
        one.status,
        moment(one.proposed_at),
        moment(one.at),
        shareOf(alike, one.number),
        <Members key="members" row={one} />,
      ]}
    />
  );
}

const LANES_SHOWN = 40;
const TICKS = 4;

function Lanes({ all, alike }: { all: readonly AllianceRow[]; alike: Alike }) {
  const [chosen, choose] = useChoice('sel');
  const now = position.value?.at ?? 0;
  const lanes = all.slice(0, LANES_SHOWN);
  const from = Math.min(...lanes.map(({ proposed_at }) => proposed_at));
  const length = Math.max(1, now - from);
  const place = (at: number) => `${Math.max(0, Math.min(100, (100 * (at - from)) / length))}%`;
  const open = all.find(({ number }) => String(number) === chosen);
  return (
    <>
      <div class="lanes">
        <div class="lane-head faint" aria-hidden="true">
          <span>founder and purpose</span>
          <span class="lane-times">
            {Array.from({ length: TICKS + 1 }, (_, tick) => (
              <span key={tick} style={{ left: `${(100 * tick) / TICKS}%` }}>
                {moment(from + (tick * length) / TICKS)}
              </span>
            ))}
          </span>
          <span class="lane-facts">
            <span>members</span>
            <span>agree</span>
          </span>
        </div>
        <ul>
          {lanes.map((one) => {
            const over = one.status !== 'active' && one.status !== 'proposed';
            const end = over ? one.at : now;
            const founder = getAgentName(one.founder);
            const purpose = cleanText(one.purpose, 60);
            const name = String(one.number);
            return (
              <li key={one.number}>
                <button
                  type="button"
                  class="lane"
                  aria-pressed={chosen === name}
                  onClick={() => choose(chosen === name ? null : name)}
                >
                  <span class="lane-name">
                    <bdi>{founder}</bdi>{' '}
                    <span class="faint">
                      <bdi>{purpose}</bdi>
                    </span>
                  </span>
                  <span class="lane-track">
                    <span
                      class={`lane-bar ${over ? 'over' : one.status}`}
                      style={{ left: place(one.proposed_at), right: `calc(100% - ${place(end)})` }}
                    />
                  </span>
                  <span class="lane-facts">
                    <span>
                      <span class="unseen">, {one.status}, members: </span>
                      {format(one.members.length)}
                    </span>
                    <b>
                      <span class="unseen">, agreement: </span>
                      {shareOf(alike, one.number)}
                    </b>
                  </span>
                </button>
              </li>
            );
          })}
        </ul>
      </div>
      {all.length > LANES_SHOWN && (
        <p class="faint">
          {plural(all.length - LANES_SHOWN, 'older alliance is', 'older alliances are')} only in the
          table.
        </p>
      )}
      {open && (
        <p class="lane-open" role="status">
          <b>
            <Name text={open.purpose} most={160} />
          </b>
          : <Members row={open} />
        </p>
      )}
    </>
  );
}

type Alike = ReadonlyMap<number, Agreement>;

/** Formats the agreement, or a dash if no two members voted on the same block. */
function shareOf(alike: Alike, number: number): string {
  const found = alike.get(number);
  if (!found || found.pairs === 0) return '–';
  return `${Math.round((100 * found.alike) / found.pairs)} %`;
}

const MEMBERS_SHOWN = 12;

function Members({ row: { members, invited } }: { row: AllianceRow }) {
  return (
    <>
      {members.slice(0, MEMBERS_SHOWN).map((number, index) => (
        <span key={number}>
          {index > 0 ? ', ' : ''}
          <AgentLink number={number} />
        </span>
      ))}
      {members.length > MEMBERS_SHOWN && ` and ${format(members.length - MEMBERS_SHOWN)} more`}
      {invited.length > 0 && <span class="faint">; {format(invited.length)} invited</span>}
    </>
  );
}
