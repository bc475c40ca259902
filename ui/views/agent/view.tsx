/** An agent: who it is, how it stands, what it voted, posted and joined. */
import { shown } from '../../../report/shared/numbers.js';
import { agents, alliances, known } from '../../data/store.js';
import { nameOf, statusOf } from '../../parts/grid/words.js';
import { moment } from '../../parts/moment.js';
import { Empty } from '../../parts/server/states.js';
import { plain } from '../../parts/text.js';
import { Who } from '../../parts/who.js';
import { href } from '../../route/router.js';
import { Ego } from './ego/view.js';
import { Memes } from './memes.js';
import { Profile } from './profile.js';
import { Votes } from './votes.js';
import { Why } from './why/view.js';

export function View({ item }: { item: string | null }) {
  agents.version.value;
  const number = item === null ? null : agents.numberOf(item);
  if (number === null) {
    return (
      <Empty title={item === null ? 'Which agent?' : 'No agent has this id here'}>
        <p>
          {item === null
            ? 'Choose one of the grid, or search by name.'
            : `${plain(item, 48)} is not there at this entry; later it may be.`}
        </p>
        <p>
          <a href={href('agents')}>All agents</a>
        </p>
      </Empty>
    );
  }
  return <Agent key={number} number={number} />;
}

function Agent({ number }: { number: number }) {
  agents.version.value;
  const row = agents.rows[number]!;
  return (
    <article class="agent-view" aria-labelledby="agent">
      <header class="view-head">
        <h1 id="agent">
          <bdi>{nameOf(number)}</bdi>{' '}
          <span class="faint">
            {plain(row.personality, 32)}, {statusOf(number)}
          </span>
        </h1>
        <a class="button" href={href('agents', undefined, { sel: row.id })}>
          Find it among all
        </a>
      </header>
      <Profile number={number} />
      <Votes number={number} />
      {known.value && <Why number={number} />}
      {known.value && <Ego number={number} />}
      <Memes number={number} />
      <Joined number={number} />
    </article>
  );
}

function Joined({ number }: { number: number }) {
  const mine = alliances.value.filter(
    ({ members, invited }) => members.includes(number) || invited.includes(number),
  );
  return (
    <section class="panel" aria-labelledby="joined">
      <header>
        <h2 id="joined">Alliances</h2>
        {mine.length === 0 && <p>None of those that are open, or were lately.</p>}
      </header>
      <ul class="lines">
        {mine.map(
          ({ number: alliance, purpose, status, founder, members, invited, proposed_at }) => (
            <li key={alliance}>
              <q>
                <bdi>{plain(purpose, 120)}</bdi>
              </q>{' '}
              <span class="faint">
                {status}, {shown(members.length)} members, by <Who number={founder} />, since{' '}
                {moment(proposed_at)}
                {invited.includes(number) ? '; it has not answered yet' : ''}
              </span>
            </li>
          ),
        )}
      </ul>
    </section>
  );
}
