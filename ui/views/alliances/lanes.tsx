/** A lane for each alliance, along engine time. */
import type { AllianceRow } from '../../../api/view/model.js';
import { shown } from '../../../report/shared/numbers.js';
import { position } from '../../data/store.js';
import { nameOf } from '../../parts/grid/words.js';
import { moment } from '../../parts/moment.js';
import { plain } from '../../parts/text.js';
import { useChoice } from '../../route/choice.js';
import { type Alike, Members, shareOf } from './members.js';

const SHOWN = 40;
const TICKS = 4;

export function Lanes({ all, alike }: { all: readonly AllianceRow[]; alike: Alike }) {
  const [chosen, choose] = useChoice('sel');
  const now = position.value?.at ?? 0;
  const lanes = all.slice(0, SHOWN);
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
            {Array.from({ length: TICKS + 1 }, (_, tick) => from + (tick * length) / TICKS).map(
              (at, tick) => (
                <span key={tick} style={{ left: `${(100 * tick) / TICKS}%` }}>
                  {moment(at)}
                </span>
              ),
            )}
          </span>
          <span class="lane-facts">
            <span>members</span>
            <span>alike</span>
          </span>
        </div>
        <ul>
          {lanes.map((one) => {
            const over = one.status !== 'active' && one.status !== 'proposed';
            const end = over ? one.at : now;
            const founder = nameOf(one.founder);
            const purpose = plain(one.purpose, 60);
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
                      {shown(one.members.length)}
                    </span>
                    <b>
                      <span class="unseen">, vote alike: </span>
                      {shareOf(alike, one.number)}
                    </b>
                  </span>
                </button>
              </li>
            );
          })}
        </ul>
      </div>
      {all.length > SHOWN && (
        <p class="faint">{shown(all.length - SHOWN)} older ones are in the table only.</p>
      )}
      {open && (
        <p class="lane-open" role="status">
          <b>
            <bdi>{plain(open.purpose, 160)}</bdi>
          </b>
          : <Members row={open} />
        </p>
      )}
    </>
  );
}
