/**
 * A block's long lists: votes with their weights and signature checks, transactions, state changes,
 * and the transcript of a deliberation.
 */
import type { ComponentChildren } from 'preact';
import type { Message } from '../../api/view/model.js';
import { format, plural } from '../../report/shared/format.js';
import { networkRule } from '../components/block.js';
import { useWorkerAnswer } from '../components/entry-data.js';
import { AgentLink, cleanText } from '../components/labels.js';
import { Pages, Panel, Rows, Scroll, Segments, slicePage } from '../components/lists.js';
import { Mark } from '../components/placeholders.js';
import { labelOption } from '../components/requests.js';
import { agents, blocks, position, totals } from '../data/store.js';
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
  const shown = slicePage(wanted, page);
  const columns = voteColumns(reasons).filter(
    ({ name }) =>
      (balloted || name !== 'ballot') &&
      (weighted || name !== 'weight') &&
      (signed || name !== 'signature'),
  );
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
        <Scroll name="Votes on this block">
          <Rows
            class="votes"
            caption="Votes on this block"
            isNamed
            head={columns.map(({ name }) => name)}
            numeric={weighted ? [balloted ? 3 : 2] : []}
            wide={[columns.length - 1]}
            rows={shown.map((line) => columns.map(({ cell }) => cell(line)))}
            rowClass={(row) => shown[row]!.verdict}
          />
        </Scroll>
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

interface Column {
  name: string;
  cell(line: VoteLine): ComponentChildren;
}

const voteColumns = (reasons: readonly Reason[]): Column[] => [
  {
    name: 'agent',
    cell({ vote, id }) {
      const number = id === '' ? null : agents.numberOf(id);
      if (number === null) return <code>{cleanText(vote.public_key, 16)}</code>;
      return <AgentLink number={number} />;
    },
  },
  {
    name: 'vote',
    cell({ vote: { vote } }) {
      const swatch = vote.decision === 'reject' ? 'reject' : 'approve';
      const text = cleanText(String(vote.decision), 16);
      return [<span key={swatch} class={`swatch ${swatch}`} aria-hidden="true" />, ` ${text}`];
    },
  },
  { name: 'ballot', cell: ({ vote: { vote } }) => <Ballot of={vote.ballot} /> },
  { name: 'weight', cell: ({ weight }) => (weight === null ? 'none' : format(weight)) },
  {
    name: 'signature',
    cell: ({ verdict, weight }) => (
      <>
        <Mark of={verdict} word />
        {weight === null && <span>, not in the electorate</span>}
      </>
    ),
  },
  {
    name: home.lacks.log === undefined ? 'reason, memes' : 'reason',
    cell: ({ vote }) => <Why vote={vote} reasons={reasons} />,
  },
];

function Why({ vote: { vote }, reasons }: { vote: Vote; reasons: readonly Reason[] }) {
  const { reason, meme_references: memes } = vote;
  const listed = reasons.findIndex(({ text }) => text === reason);
  return (
    <>
      {listed >= 0 && <span class="faint">reason {listed + 1}</span>}
      {listed < 0 && typeof reason === 'string' && reason !== '' && (
        <q>
          <bdi>{cleanText(reason, 200)}</bdi>
        </q>
      )}{' '}
      {Array.isArray(memes) && memes.length > 0 && (
        <span class="faint">{plural(memes.length, 'meme')}</span>
      )}
    </>
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
      <Panel title="Contents">
        <p class="faint">{home.lacks.log}</p>
      </Panel>
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
  const verdict = (place: number) => check?.transactions[place] ?? 'unchecked';
  return (
    <Panel
      title="Contents"
      note={`${plural(all.length, 'transaction')}, ${plural(changes.length, 'state change')}`}
    >
      {all.length > 0 && (
        <Scroll name="Transactions">
          <Rows
            caption="Transactions"
            isNamed
            head={['data', ...(signed ? ['signature'] : []), 'hash']}
            wide={[0]}
            rows={slicePage(all, page).map(({ transaction, place }) => [
              <bdi key="data">{cleanText(String(transaction.data), 160)}</bdi>,
              ...(signed ? [<Mark key="mark" of={verdict(place)} word />] : []),
              <code key="hash">{cleanText(String(transaction.hash), 17)}</code>,
            ])}
          />
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
    </Panel>
  );
}

/*
 * Transcript of a deliberation about a block: agents as rows, rounds as columns. A statement is a
 * remark whose message is JSON (docs/deliberation.md). Remarks come from any agent, so every part
 * is untrusted text.
 */

interface Statement {
  who: number;
  round: number;
  value: string;
  reason: string;
  stop: boolean;
}

/** Largest table. The list of remarks has all statements. */
const MOST_ROUNDS = 12;
const MOST_AGENTS = 100;

/** Returns null if the message is not a statement. */
function parseStatement({ who, text }: Message): Statement | null {
  if (!text.startsWith('{')) return null;
  try {
    const { round, value, reason, stop } = JSON.parse(text) as Record<string, unknown>;
    if (!Number.isSafeInteger(round) || Number(round) < 0 || value === undefined) return null;
    return {
      ...{ who, round: Number(round), stop: stop === true },
      value: typeof value === 'string' ? value : JSON.stringify(value),
      reason: typeof reason === 'string' ? reason : '',
    };
  } catch {
    return null;
  }
}

export function Transcript({ whole: { block, electorate, votes } }: { whole: Whole }) {
  const known = blocks.value.find(({ hash }) => hash === block.block_hash);
  // Most networks have no remarks, and then there is nothing to read.
  const asked =
    known && totals.value!.remarks > 0
      ? {
          ...{ block: known.number, from: known.entry, to: position.value!.entry },
          ...{ closedAt: known.closed_at, kind: 'remark' },
        }
      : null;
  const remarks = useWorkerAnswer<Message[]>('about', () => asked, `${known?.number}`);
  const statements = (remarks ?? []).flatMap((remark) => parseStatement(remark) ?? []);
  if (statements.length === 0) return null;
  const rounds = [...new Set(statements.map(({ round }) => round))].sort((a, b) => a - b);
  const speakers = [...new Set(statements.map(({ who }) => who))].sort((a, b) => a - b);
  const shown = rounds.slice(0, MOST_ROUNDS);
  const ids = new Map(electorate.map((elector) => [elector.public_key, elector.agent_id]));
  const decisions = new Map(
    votes.map(({ public_key, vote }) => [
      agents.numberOf(ids.get(public_key) ?? ''),
      vote.decision,
    ]),
  );
  const isCut = shown.length < rounds.length || speakers.length > MOST_AGENTS;
  const note = `${plural(statements.length, 'statement')} in ${plural(rounds.length, 'round')}`;
  return (
    <Panel title="Transcript" note={`${note}${isCut ? ', cut' : ''}`}>
      <Scroll name="Transcript of the deliberation">
        <div class="transcript" data-testid="transcript">
          <Rows
            caption="Statements by agent and round"
            isNamed
            head={['agent', ...shown.map((round) => `round ${round}`), 'vote']}
            rows={speakers
              .slice(0, MOST_AGENTS)
              .map((who) => [
                <AgentLink key="agent" number={who} />,
                ...shown.map((round) => (
                  <Cell
                    key={round}
                    made={statements.filter((one) => one.who === who && one.round === round)}
                  />
                )),
                String(decisions.get(who) ?? '–'),
              ])}
          />
        </div>
      </Scroll>
    </Panel>
  );
}

function Cell({ made }: { made: readonly Statement[] }) {
  return (
    <>
      {made.map(({ value, reason, stop }, place) => (
        <p key={place}>
          <b>
            <bdi>{cleanText(value)}</bdi>
          </b>
          {stop && ' stop'}
          {reason !== '' && (
            <>
              {' '}
              <bdi>{cleanText(reason, 800)}</bdi>
            </>
          )}
        </p>
      ))}
    </>
  );
}
