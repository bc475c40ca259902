/**
 * A block's long lists: votes with their weights and signature checks, transactions, and state
 * changes.
 */
import { format, plural } from '../../report/shared/format.js';
import { networkRule } from '../components/block.js';
import { AgentLink, cleanText } from '../components/labels.js';
import { Pages, Scroll, Segments, slicePage } from '../components/lists.js';
import { Mark } from '../components/placeholders.js';
import { labelOption } from '../components/requests.js';
import { agents } from '../data/store.js';
import { home } from '../home.js';
import { useOneOf, usePage } from '../route.js';
import type { BlockChecked, Verdict } from '../verify/messages.js';
import type { Vote, Whole } from './block-data.js';

const voteFilters = ['all', 'approve', 'reject', 'failed'] as const;

interface VoteLine {
  vote: Vote;
  id: string;
  weight: number | null;
  verdict: Verdict;
}

export function Votes({ whole, check }: { whole: Whole; check: BlockChecked | null }) {
  const [show, choose] = useOneOf('show', voteFilters);
  const [page, turn] = usePage();
  const { electorate, electors, votes } = whole;
  const byKey = new Map(electorate.map((elector) => [elector.public_key, elector]));
  const lines = votes.map((vote, place): VoteLine => {
    const elector = byKey.get(vote.public_key);
    return {
      vote,
      id: elector?.agent_id ?? '',
      weight: elector?.weight ?? null,
      verdict: check?.votes[place] ?? 'unchecked',
    };
  });
  const wanted = lines
    .filter(({ vote, verdict }) =>
      show === 'all'
        ? true
        : show === 'failed'
          ? verdict === 'failed'
          : vote.vote.decision === show,
    )
    // Invalid votes first.
    .sort((one, other) => Number(other.verdict === 'failed') - Number(one.verdict === 'failed'));
  // An exported file contains no signatures.
  const signed = home.lacks.log === undefined;
  const reasons = sharedReasons(votes);
  const missing = Math.max(0, electors - votes.length);
  const balloted =
    networkRule()?.takesBallots !== false && votes.some(({ vote }) => 'ballot' in vote);
  const weighted = electorate.some(({ weight }) => weight !== electorate[0]?.weight);
  return (
    <section class="panel" aria-labelledby="votes">
      <header>
        <h2 id="votes">{plural(votes.length, 'vote')}</h2>
        <p>{plural(missing, 'elector')} without a vote</p>
        <Segments
          name="Vote filter"
          all={voteFilters.filter((one) => signed || one !== 'failed')}
          here={show}
          onChoose={(one) => {
            choose(one);
            turn(0);
          }}
          push
        />
      </header>
      <Reasons of={reasons} />
      {wanted.length === 0 ? (
        <p class="faint">{show === 'failed' ? 'No invalid votes.' : 'No votes yet.'}</p>
      ) : (
        <div class="scroll">
          <table class="votes">
            <caption class="unseen">Votes on this block</caption>
            <thead>
              <tr>
                <th scope="col">agent</th>
                <th scope="col">vote</th>
                {balloted && <th scope="col">ballot</th>}
                {weighted && (
                  <th scope="col" class="number">
                    weight
                  </th>
                )}
                {signed && <th scope="col">signature</th>}
                <th scope="col">{signed ? 'reason, memes' : 'reason'}</th>
              </tr>
            </thead>
            <tbody>
              {slicePage(wanted, page).map((line) => (
                <Row
                  key={line.vote.public_key}
                  {...{ line, reasons, weighted, balloted, signed }}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pages of={wanted.length} page={page} onTurn={turn} />
    </section>
  );
}

/**
 * Number of shared reasons listed above the table. Each vote shows the number of a listed reason,
 * or the text of an unlisted one.
 */
const REASONS_SHOWN = 12;

interface Reason {
  text: string;
  approve: number;
  reject: number;
}

/** Groups reasons given by several votes, most frequent first. */
function sharedReasons(votes: readonly Vote[]): Reason[] {
  const reasons = new Map<string, Reason>();
  for (const { vote } of votes) {
    const { reason: text, decision } = vote;
    if (typeof text !== 'string' || text === '') continue;
    const reason = reasons.get(text) ?? { text, approve: 0, reject: 0 };
    reason[decision === 'reject' ? 'reject' : 'approve'] += 1;
    reasons.set(text, reason);
  }
  const count = ({ approve, reject }: Reason) => approve + reject;
  return [...reasons.values()]
    .filter((reason) => count(reason) > 1)
    .sort((one, other) => count(other) - count(one))
    .slice(0, REASONS_SHOWN);
}

function Reasons({ of }: { of: readonly Reason[] }) {
  if (of.length === 0) return null;
  return (
    <ol class="reasons" aria-label="Shared reasons">
      {of.map(({ text, approve, reject }) => (
        <li key={text}>
          <b>{plural(approve + reject, 'agent')}</b>:{' '}
          <q>
            <bdi>{cleanText(text, 200)}</bdi>
          </q>{' '}
          <span class="faint">
            {approve > 0 && `${format(approve)} approve`}
            {approve > 0 && reject > 0 && ', '}
            {reject > 0 && `${format(reject)} reject`}
          </span>
        </li>
      ))}
    </ol>
  );
}

interface RowProps {
  line: VoteLine;
  reasons: readonly Reason[];
  weighted: boolean;
  /** True if the table shows ballots. */
  balloted: boolean;
  signed: boolean;
}

function Row({ line, reasons, weighted, balloted, signed }: RowProps) {
  const { vote, id, weight, verdict } = line;
  const { decision, reason, meme_references: memes } = vote.vote;
  const listed = reasons.findIndex(({ text }) => text === reason);
  const swatch = decision === 'reject' ? 'reject' : 'approve';
  const number = id === '' ? null : agents.numberOf(id);
  return (
    <tr class={verdict}>
      <th scope="row">
        {number === null ? (
          <code>{cleanText(vote.public_key, 16)}</code>
        ) : (
          <AgentLink number={number} />
        )}
      </th>
      <td>
        <span class={`swatch ${swatch}`} aria-hidden="true" /> {cleanText(String(decision), 16)}
      </td>
      {balloted && (
        <td class="ballot">
          <Ballot of={vote.vote.ballot} />
        </td>
      )}
      {weighted && <td class="number">{weight === null ? 'none' : format(weight)}</td>}
      {signed && (
        <td>
          <Mark of={verdict} word />
          {weight === null && <span>, not in the electorate</span>}
        </td>
      )}
      <td class="wide">
        {listed >= 0 && <span class="faint">reason {listed + 1}</span>}
        {listed < 0 && typeof reason === 'string' && reason !== '' && (
          <q>
            <bdi>{cleanText(reason, 200)}</bdi>
          </q>
        )}{' '}
        {Array.isArray(memes) && memes.length > 0 && (
          <span class="faint">{plural(memes.length, 'meme')}</span>
        )}
      </td>
    </tr>
  );
}

/**
 * A ballot in a short form: a ranking from best to worst, approvals, scores, or the text of its
 * JSON.
 */
function Ballot({ of }: { of: unknown }) {
  if (of === undefined) return <span class="faint">none</span>;
  const [[name, value] = ['', of], ...more] = members(of);
  if (more.length > 0) return <bdi>{cleanText(JSON.stringify(of), BALLOT_SHOWN)}</bdi>;
  const number = name === 'delegate' ? agents.numberOf(String(value)) : null;
  if (number !== null) return <AgentLink number={number} />;
  const text = Array.isArray(value)
    ? value
        .map((one) => [one].flat().map(nameOf).join(' = '))
        .join(name === 'ranking' ? ' > ' : ', ')
    : typeof value === 'object'
      ? members(value)
          .map(([option, score]) => `${nameOf(option)} ${score}`)
          .join(', ')
      : nameOf(value);
  return <bdi>{cleanText(text === '' ? 'empty' : text, BALLOT_SHOWN)}</bdi>;
}

const nameOf = (option: unknown): string => labelOption(String(option));

const BALLOT_SHOWN = 80;

type Body = Readonly<Record<string, unknown>>;

const listed = (value: unknown): Body[] => (Array.isArray(value) ? (value as Body[]) : []);
const members = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

interface TransactionsProps {
  proposal: Body;
  check: BlockChecked | null;
}

export function Transactions({ proposal, check }: TransactionsProps) {
  if (home.lacks.log && !('transactions' in proposal)) {
    return (
      <section class="panel" aria-labelledby="transactions">
        <h2 id="transactions">Contents</h2>
        <p class="faint">{home.lacks.log}</p>
      </section>
    );
  }
  return <BlockContents proposal={proposal} check={check} />;
}

/** Lists the changes of a state diff, with the condition under which they apply. */
function changesOf(diff: unknown, when: string) {
  const { additions, deletions } = (diff ?? {}) as Body;
  return [
    ...members(additions).map(([key, value]) => ({ key, when, value: JSON.stringify(value) })),
    ...members(deletions).map(([key]) => ({ key, when, value: 'deleted' })),
  ];
}

function BlockContents({ proposal, check }: TransactionsProps) {
  const [page, turn] = usePage('transactions');
  const signed = home.lacks.log === undefined;
  const all = listed(proposal.transactions).map((transaction, place) => ({ transaction, place }));
  const changes = [
    ...changesOf(proposal.state_diff, ''),
    ...listed(proposal.options).flatMap(({ name, state_diff }) =>
      changesOf(state_diff, `if ${labelOption(String(name))} is chosen`),
    ),
  ];
  const meme = proposal.meme_content as Body | undefined;
  return (
    <section class="panel" aria-labelledby="transactions">
      <header>
        <h2 id="transactions">Contents</h2>
        <p>
          {plural(all.length, 'transaction')}, {plural(changes.length, 'state change')}
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
              {slicePage(all, page).map(({ transaction, place }) => (
                <tr key={place}>
                  <th scope="row" class="wide">
                    <bdi>{cleanText(String(transaction.data), 160)}</bdi>
                  </th>
                  {signed && (
                    <td>
                      <Mark of={check?.transactions[place] ?? 'unchecked'} word />
                    </td>
                  )}
                  <td>
                    <code>{cleanText(String(transaction.hash), 17)}</code>
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
          {changes.slice(0, 100).map(({ key, value, when }) => (
            <div key={`${when} ${key}`}>
              <dt>
                <code>{cleanText(key, 64)}</code>
              </dt>
              <dd>
                <bdi>{cleanText(value, 160)}</bdi> {when && <span class="faint">{when}</span>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {changes.length > 100 && (
        <p class="faint">{plural(changes.length - 100, 'state change')} omitted.</p>
      )}
      {meme && (
        <p>
          Meme ({cleanText(String(meme.type), 16)}):{' '}
          <q>
            <bdi>{cleanText(String(meme.content), 200)}</bdi>
          </q>
        </p>
      )}
    </section>
  );
}
