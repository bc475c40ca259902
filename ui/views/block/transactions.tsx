/** What a block would make final: its transactions, its changes of state, and its meme. */
import { shown } from '../../../report/shared/numbers.js';
import { home } from '../../home/home.js';
import { Pages, pageOf } from '../../parts/lists/pages.js';
import { Scroll } from '../../parts/lists/scroll.js';
import { Mark } from '../../parts/mark.js';
import { plain } from '../../parts/text.js';
import { usePage } from '../../route/choice.js';
import type { BlockChecked } from '../../verify/messages.js';

type Body = Readonly<Record<string, unknown>>;

const listed = (value: unknown): Body[] => (Array.isArray(value) ? (value as Body[]) : []);
const members = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

interface Props {
  proposal: Body;
  check: BlockChecked | null;
}

export function Transactions({ proposal, check }: Props) {
  if (home.lacks.log && !('transactions' in proposal)) {
    return (
      <section class="panel" aria-labelledby="transactions">
        <h2 id="transactions">What it holds</h2>
        <p class="faint">{home.lacks.log}</p>
      </section>
    );
  }
  return <Held proposal={proposal} check={check} />;
}

function Held({ proposal, check }: Props) {
  const [page, turn] = usePage('transactions');
  const signed = home.lacks.log === undefined;
  const all = listed(proposal.transactions).map((transaction, place) => ({ transaction, place }));
  const diff = (proposal.state_diff ?? {}) as Body;
  const changes = [
    ...members(diff.additions).map(([key, value]) => ({ key, value: JSON.stringify(value) })),
    ...members(diff.deletions).map(([key]) => ({ key, value: 'deleted' })),
  ];
  const meme = proposal.meme_content as Body | undefined;
  return (
    <section class="panel" aria-labelledby="transactions">
      <header>
        <h2 id="transactions">What it holds</h2>
        <p>
          {shown(all.length)} transactions, {shown(changes.length)} changes of state
        </p>
      </header>
      {all.length > 0 && (
        <Scroll name="Transactions">
          <table>
            <caption class="unseen">Transactions</caption>
            <thead>
              <tr>
                <th scope="col">data</th>
                {signed && <th scope="col">signature</th>}
                <th scope="col">hash</th>
              </tr>
            </thead>
            <tbody>
              {pageOf(all, page).map(({ transaction, place }) => (
                <tr key={place}>
                  <th scope="row" class="wide">
                    <bdi>{plain(String(transaction.data), 160)}</bdi>
                  </th>
                  {signed && (
                    <td>
                      <Mark of={check?.transactions[place] ?? 'unchecked'} word />
                    </td>
                  )}
                  <td>
                    <code>{plain(String(transaction.hash), 17)}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      <Pages of={all.length} page={page} onTurn={turn} />
      {changes.length > 0 && (
        <dl class="facts changes">
          {changes.slice(0, 100).map(({ key, value }) => (
            <div key={key}>
              <dt>
                <code>{plain(key, 64)}</code>
              </dt>
              <dd>
                <bdi>{plain(value, 160)}</bdi>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {changes.length > 100 && (
        <p class="faint">{shown(changes.length - 100)} more are not shown.</p>
      )}
      {meme && (
        <p>
          Its meme, {plain(String(meme.type), 16)}:{' '}
          <q>
            <bdi>{plain(String(meme.content), 200)}</bdi>
          </q>
        </p>
      )}
    </section>
  );
}
