/**
 * A block's long lists: votes with their weights and signature checks, transactions, state changes,
 * and the transcript of a deliberation.
 */
import type { ComponentChildren } from 'preact';
import type { Message } from '../../api/view/model.js';
import type { BlockView } from '../../engine/protocol/schema/view.js';
import { format, plural } from '../../report/shared/format.js';
import { networkRule } from '../components/block.js';
import { AgentLink, cleanText, Name, Quote } from '../components/labels.js';
import { Mark, Pages, Panel, Rows, Scroll, Segments, slicePage } from '../components/lists.js';
import { data, labelOption, pages, useWorkerAnswer } from '../components/requests.js';
import type { BlockItem } from '../data/messages.js';
import { agents, blocks, network, position, totals } from '../data/store.js';
import { home } from '../home.js';
import { useOneOf, usePage } from '../route.js';
import { checkBlock } from '../verify/client.js';
import type { BlockChecked, Verdict } from '../verify/messages.js';

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
          <b>{plural(approve + reject, 'agent')}</b>: <Quote text={text} most={200} />{' '}
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
        <Quote text={reason} most={200} />
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
                <Name text={value} most={160} /> {when && <span class="faint">{when}</span>}
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
          <Quote text={String(meme.content)} most={200} />
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
              <Name text={reason} most={800} />
            </>
          )}
        </p>
      ))}
    </>
  );
}

export interface BlockData extends Omit<BlockView, 'status' | 'tally'> {
  status: string;
  tally: { approve: number; reject: number; electorate: number };
  /** Entry that contains the proposal. */
  entry: number;
  proposal: Readonly<Record<string, unknown>>;
  public_key: string;
}

interface Vote {
  public_key: string;
  vote: Readonly<Record<string, unknown>>;
}

export interface Whole {
  block: BlockData;
  electorate: { agent_id: string; public_key: string; weight: number }[];
  /** Number of electors. An exported file lists only the electors that voted. */
  electors: number;
  votes: Vote[];
  /** True if the block has more votes than the page fetched. */
  more: boolean;
}

interface VotesPage extends Pick<Whole, 'electorate' | 'votes'> {
  electors?: number;
  next_cursor: string | null;
}

const VOTE_PAGES = 60;

export async function wholeBlock(hash: string): Promise<Whole> {
  const path = `/api/v1/blocks/${encodeURIComponent(hash)}`;
  const block = await data<BlockData>(path);
  let electorate: Whole['electorate'] = [];
  let electors = 0;
  const votes: Vote[] = [];
  const { more } = await pages<VotesPage>(`${path}/votes?limit=1000`, VOTE_PAGES, (page) => {
    if (page.electorate.length > 0) electorate = page.electorate;
    electors = page.electors ?? electorate.length;
    votes.push(...page.votes);
  });
  return { block, electorate, electors, votes, more };
}

/** @throws {PageError} if the worker fails to load */
export async function checkBlockData({ block, electorate, votes }: Whole): Promise<BlockChecked> {
  const { signatures } = await data<{ signatures?: string }>('/api/v1/meta');
  const { network_id, policy, participation_bps, rule } = network.peek()!;
  return checkBlock({
    hash: block.block_hash,
    network_id,
    signed: signatures !== 'none',
    rule: { policy, participation_bps, rule },
    producer: block.public_key,
    proposal: block.proposal,
    electorate: electorate.map(({ agent_id, weight }) => {
      const number = agents.numberOf(agent_id);
      const personality = number === null ? '' : (agents.rows[number]?.personality ?? '');
      return { agent_id, number, weight, personality };
    }),
    votes,
  });
}

/**
 * Restricts a block to its state at the current entry.
 *
 * @param known the block in the snapshot; undefined if it closed before every block in the snapshot
 * @param ballots agent number * 2 for each voter; needed only for a block in voting
 */
export function atEntry(
  whole: Whole,
  known: BlockItem | undefined,
  ballots: Iterable<number>,
): Whole {
  if (!known) return whole;
  const { status, approve, reject, total: electorate, closed_at: closed } = known;
  const tally = { approve, reject, electorate };
  const closed_at = closed === null ? null : new Date(closed).toISOString();
  const block = { ...whole.block, status, tally, closed_at };
  if (status !== 'voting') return { ...whole, block };
  const voted = new Set(Array.from(ballots, (ballot) => ballot >>> 1));
  const numbers = new Map(
    whole.electorate.map(({ public_key, agent_id }) => [public_key, agents.numberOf(agent_id)]),
  );
  // A non-elector's vote has no known time and does not count. The view always shows such a vote.
  const wasThere = ({ public_key }: Vote) => voted.has(numbers.get(public_key) ?? -1);
  const isElector = ({ public_key }: Vote) => numbers.has(public_key);
  return { ...whole, block, votes: whole.votes.filter((one) => !isElector(one) || wasThere(one)) };
}

/** Restricts a check to the votes at the current entry, and recounts these votes. */
export function checkAsOf(check: BlockChecked, whole: Whole, shown: Whole): BlockChecked {
  if (shown.votes.length === whole.votes.length) return check;
  const verdicts = new Map(whole.votes.map((vote, place) => [vote, check.votes[place]!]));
  const weights = new Map(shown.electorate.map(({ public_key, weight }) => [public_key, weight]));
  const tally = { approve: 0, reject: 0 };
  const votes = shown.votes.map((one) => {
    const verdict = verdicts.get(one)!;
    const { decision } = one.vote;
    if (verdict !== 'failed' && (decision === 'approve' || decision === 'reject')) {
      tally[decision] += weights.get(one.public_key) ?? 0;
    }
    return verdict;
  });
  return { ...check, votes, tally };
}
