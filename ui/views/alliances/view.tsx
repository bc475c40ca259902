/** Alliances: when they were proposed and ended, who is in them, and how alike they vote. */
import type { AllianceRow } from '../../../api/view/model.js';
import { counted, shown } from '../../../report/shared/numbers.js';
import { alliances } from '../../data/store.js';
import { Figure } from '../../parts/lists/figure.js';
import { Pages, pageOf } from '../../parts/lists/pages.js';
import { moment } from '../../parts/moment.js';
import { useAsked } from '../../parts/server/asked.js';
import { Empty } from '../../parts/server/states.js';
import { plain } from '../../parts/text.js';
import type { Agreement } from '../../player/answers/votes.js';
import { usePage } from '../../route/choice.js';
import { href } from '../../route/router.js';
import { Lanes } from './lanes.js';
import { type Alike, Members, shareOf } from './members.js';

export function View() {
  const all = [...alliances.value].sort((one, other) => other.proposed_at - one.proposed_at);
  const found = useAsked<Agreement[]>('alike', () => null, '');
  const alike: Alike = new Map((found ?? []).map((one) => [one.alliance, one]));
  if (all.length === 0) {
    return (
      <Empty title="There are no alliances at this entry">
        <p>
          An agent proposes one, and it begins when somebody accepts. Travel on, or see{' '}
          <a href={href('talk')}>what is said</a>.
        </p>
      </Empty>
    );
  }
  const open = all.filter(({ status }) => status === 'active').length;
  return (
    <>
      <header class="view-head">
        <h1>
          {counted(open, 'active alliance')}
          <span class="faint">, {shown(all.length - open)} proposed or over</span>
        </h1>
      </header>
      <Figure
        title="From proposal to end"
        caption={
          <>
            One lane an alliance, the newest on top: full while it is active, outlined while it is
            only proposed, faint when it is over. The share says how often two members who voted on
            the same block voted alike, over the blocks that the page knows.
          </>
        }
        picture={() => <Lanes all={all} alike={alike} />}
        table={() => <Table all={all} alike={alike} />}
      />
    </>
  );
}

function Table({ all, alike }: { all: readonly AllianceRow[]; alike: Alike }) {
  const [page, turn] = usePage();
  return (
    <>
      <table>
        <caption>Alliances, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">purpose</th>
            <th scope="col">status</th>
            <th scope="col">proposed</th>
            <th scope="col">last change</th>
            <th scope="col" class="number">
              vote alike
            </th>
            <th scope="col">members</th>
          </tr>
        </thead>
        <tbody>
          {pageOf(all, page).map((one) => (
            <tr key={one.number}>
              <th scope="row" class="wide">
                <bdi>{plain(one.purpose, 80)}</bdi>
              </th>
              <td>{one.status}</td>
              <td>{moment(one.proposed_at)}</td>
              <td>{moment(one.at)}</td>
              <td class="number">{shareOf(alike, one.number)}</td>
              <td class="wide">
                <Members row={one} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Pages of={all.length} page={page} onTurn={turn} />
    </>
  );
}
