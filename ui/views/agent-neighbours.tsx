/** An agent's ego network: its neighbours in the scenario, drawn as a ring with their votes. */

import type { ComponentChildren } from 'preact';
import type { AnswerOf } from '../../api/contract/route.js';
import type { shownReads } from '../../api/contract/views.js';
import { format, plural } from '../../report/shared/format.js';
import { DecisionLegend } from '../components/grid.js';
import {
  AgentLink,
  BlockLink,
  cleanText,
  EntryLink,
  getAgentName,
  getDecision,
  getReputation,
  toSentence,
  useNarrow,
} from '../components/labels.js';
import { Button, Failed, Figure, Panel, Rows } from '../components/lists.js';
import { buildPath, data, useEntryData } from '../components/requests.js';
import { approves, rejects } from '../data/messages.js';
import { agents, canAsk, clock, focus, getFocusedBlock, position } from '../data/store.js';
import { RefusedError } from '../messages.js';
import { go, href, useChoice } from '../route.js';

export function Ego({ number }: { number: number }) {
  const { id } = agents.rows[number]!;
  const { fetched, again, last } = useEntryData(id, `${focus.value}`, (entry) => egoOf(id, entry));
  if (fetched.is === 'failed') return <Failed why={fetched.why} onAgain={again} />;
  if (!last) return null;
  if ('none' in last.data) {
    return (
      <Panel title="Neighbours">
        <p class="faint">{toSentence(cleanText(last.data.none, 300))}</p>
      </Panel>
    );
  }
  return <KnownEgo number={number} ego={last.data} />;
}

function KnownEgo({ number, ego }: { number: number; ego: EgoNetwork }) {
  agents.version.value;
  const { neighbours, total, topology } = ego;
  const votes = neighbours.map((one) => voteOf(one));
  const count = (vote: number) => votes.filter((one) => one === vote).length;
  const cut = neighbours.filter(({ hears, heard }) => !hears || !heard).length;
  const block = getFocusedBlock();
  const like = votes.filter((vote) => vote === agents.decision[number]).length;
  const own = agents.decision[number] ?? 0;
  const voted = count(approves) + count(rejects);
  return (
    <Figure
      title="Neighbours"
      caption={
        <>
          Agents linked to {getAgentName(number)} in the scenario graph ({cleanText(topology, 32)}),
          n = {plural(total, 'neighbour')}.{' '}
          {block ? (
            <>
              Votes on block {block.height}: {format(count(approves))} approve,{' '}
              {format(count(rejects))} reject, {format(neighbours.length - voted)} pending.
              {own === 0
                ? ''
                : ` ${format(like)} of ${plural(voted, 'vote')} agree with this agent.`}
            </>
          ) : (
            'No blocks yet.'
          )}
          {cut > 0 && ` ${plural(cut, 'link is', 'links are')} cut off.`}
          {total > SHOWN && ` ${SHOWN} are drawn; the table lists ${format(neighbours.length)}.`}
        </>
      }
      chart={() => (
        <>
          <EgoLegend cut={cut > 0} />
          <Ring number={number} ego={ego} />
        </>
      )}
      table={() => (
        <Rows
          caption="Neighbours"
          head={['agent', 'this block', 'incoming', 'outgoing', 'reputation']}
          numeric={[4]}
          rows={neighbours.map((one) => rowOf(one))}
        />
      )}
    />
  );
}

/** Returns null for an agent that has not registered at this entry. */
const presentOf = ({ agent_id }: Neighbour): number | null => agents.numberOf(agent_id);

function voteOf(one: Neighbour): number {
  const number = presentOf(one);
  return number === null ? 0 : agents.decision[number]!;
}

function rowOf(one: Neighbour) {
  const number = presentOf(one);
  const passes = (does: boolean) => (does ? 'yes' : 'cut off');
  const [vote, score] =
    number === null ? ['not registered', ''] : [getDecision(number), format(getReputation(number))];
  const links = [passes(one.hears), passes(one.heard)];
  return [<AgentLink key="agent" id={one.agent_id} />, vote, ...links, score];
}

/** Maximum number of neighbours drawn. The table lists all neighbours. */
const SHOWN = 36;
/** Maximum number of neighbours on one ring with touch-sized targets. */
const ON_ONE = 20;
/** Maximum number of neighbours drawn with names. */
const NAMED = 12;

interface Point {
  x: number;
  y: number;
}

/** Returns positions around 0, 0. With many neighbours, every third one is on an inner ring. */
function places(count: number): Point[] {
  const radii = count > ON_ONE ? [142, 142, 88] : [110];
  return Array.from({ length: count }, (_, place) => {
    const angle = (2 * Math.PI * place) / count - Math.PI / 2;
    const radius = radii[place % radii.length]!;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}

function Ring({ number, ego }: { number: number; ego: EgoNetwork }) {
  const narrow = useNarrow();
  const drawn = ego.neighbours.slice(0, SHOWN);
  const at = places(drawn.length);
  const named = !narrow && drawn.length <= NAMED;
  const [half, high] = [named ? 260 : 165, drawn.length > ON_ONE ? 165 : 135];
  return (
    <nav class="ego" aria-label={`Neighbours of ${getAgentName(number)}`}>
      <svg viewBox={`${-half} ${-high} ${2 * half} ${2 * high}`} style={{ width: `${2 * half}px` }}>
        <title>{`Neighbours of ${getAgentName(number)}`}</title>
        {ego.links.map(([a = -1, b = -1]) =>
          at[a] && at[b] ? <Line key={`${a} ${b}`} from={at[a]} to={at[b]} kind="faint" /> : null,
        )}
        {drawn.map((one, place) => (
          <Line key={one.agent_id} from={{ x: 0, y: 0 }} to={at[place]!} kind={kindOf(one)} />
        ))}
        <circle r="21" class="own" />
        <Shape vote={agents.decision[number] ?? 0} validator={isVoter(number)} size={22} />
        {drawn.map((one, place) => (
          <Node key={one.agent_id} one={one} at={at[place]!} named={named} />
        ))}
      </svg>
    </nav>
  );
}

const isVoter = (number: number) => agents.rows[number]?.validator === true;

const kindOf = ({ hears, heard }: Neighbour) =>
  hears && heard ? 'whole' : hears || heard ? 'half' : 'cut';

function Line({ from, to, kind }: { from: Point; to: Point; kind: string }) {
  return <line class={kind} x1={from.x} y1={from.y} x2={to.x} y2={to.y} />;
}

function Node({ one, at, named }: { one: Neighbour; at: Point; named: boolean }) {
  const number = agents.numberOf(one.agent_id);
  const place = `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`;
  if (number === null) {
    return (
      <g transform={place}>
        <title>not registered</title>
        <rect class="absent" x="-9" y="-9" width="18" height="18" />
      </g>
    );
  }
  const says = `${getAgentName(number)} ${getDecision(number)}${wordsOf(one)}`;
  const left = at.x < -1;
  const to = href('agent', one.agent_id);
  return (
    <g transform={place}>
      <a href={to} aria-label={says} onClick={(event) => follow(event, to)}>
        <title>{says}</title>
        <circle r="13" class="target" />
        <Shape vote={agents.decision[number]!} validator={isVoter(number)} size={18} />
        {named && (
          <text x={left ? -16 : 16} y="5" text-anchor={left ? 'end' : 'start'}>
            {getAgentName(number).slice(0, 16)}
          </text>
        )}
      </a>
    </g>
  );
}

/** Follows a link in SVG, which the page's click handler for HTML links ignores. */
function follow(event: MouseEvent, to: string): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(to);
}

function wordsOf({ hears, heard }: Neighbour): string {
  if (hears && heard) return '';
  if (!hears && !heard) return ', cut off';
  return hears ? ', outgoing link cut off' : ', incoming link cut off';
}

/** Draws a vote as the grid cell does. */
function Shape({ vote, validator, size }: { vote: number; validator: boolean; size: number }) {
  const half = size / 2;
  const square = { x: -half, y: -half, width: size, height: size };
  if (vote === approves) return <rect class="approve" {...square} />;
  if (vote === rejects) {
    return (
      <>
        <rect class="reject" {...square} />
        <path class="slash" d={`M${-half} ${-half}L${half} ${half}`} />
      </>
    );
  }
  return validator ? (
    <rect class="pending" {...square} />
  ) : (
    <rect class="none" x="-3" y="-3" width="6" height="6" />
  );
}

function EgoLegend({ cut }: { cut: boolean }) {
  return (
    <DecisionLegend>
      <li>
        <span class="swatch absent" aria-hidden="true" /> not registered
      </li>
      {cut && (
        <li>
          <span class="dashes" aria-hidden="true" /> cut off in one or both directions
        </li>
      )}
    </DecisionLegend>
  );
}

type EgoNetwork = AnswerOf<(typeof shownReads)['agent_neighbours']>;
type Neighbour = EgoNetwork['neighbours'][number];

/** The server's page size limit. */
const NEIGHBOUR_ROWS = '1000';

const unknownText =
  'Neighbours are not available here. For agents of a scenario, watch the run with folkmoot sim ' +
  '--watch, or open a saved run with folkmoot explore DIR.';

async function egoOf(id: string, entry: number | null): Promise<EgoNetwork | { none: string }> {
  if (!canAsk('neighbours')) return { none: unknownText };
  const path = `/api/v1/agents/${encodeURIComponent(id)}/neighbours`;
  try {
    return await data<EgoNetwork>(buildPath(path, entry, { limit: NEIGHBOUR_ROWS }));
  } catch (error) {
    if (!(error instanceof RefusedError) || error.reason !== 'UNKNOWN_SCENARIO') throw error;
    return { none: error.message };
  }
}

export function Why({ number }: { number: number }) {
  const { id } = agents.rows[number]!;
  const [cursor, turn] = useChoice('older');
  const votes = `${agents.votes[number]}`;
  const { fetched, again, last } = useEntryData(`${id} ${cursor}`, votes, (entry) =>
    reasonsOf(id, entry, cursor),
  );
  if (fetched.is === 'failed') return <Failed why={fetched.why} onAgain={again} />;
  if (!last) return null;
  if ('none' in last.data) return <Unrecorded why={last.data.none} />;
  const { list, next, recorded } = last.data;
  const lacking = isOf(last.entry) ? agents.votes[number]! - recorded : 0;
  if (list.length === 0) return lacking > 0 ? <Unrecorded why={lackingText(lacking)} /> : null;
  return (
    <Chosen list={list} lacking={lacking}>
      {cursor !== null && <Button onClick={() => turn(null)}>Newest</Button>}
      {next !== null && <Button onClick={() => turn(next)}>Older</Button>}
    </Chosen>
  );
}

/** Returns true if the fetched data belongs to the current entry. */
const isOf = (entry: number | null) =>
  clock.value.mode !== 'playing' && (entry === null || entry === position.value!.entry);

const lackingText = (lacking: number) =>
  `${plural(lacking, 'vote')} without a record in decisions.ndjson.`;

function Unrecorded({ why }: { why: string }) {
  return (
    <Panel title="Vote explanation">
      <p class="faint">{toSentence(cleanText(why, 300))}</p>
    </Panel>
  );
}

interface ChosenProps {
  list: readonly Reasoned[];
  /** Number of votes without an explanation. */
  lacking: number;
  children: ComponentChildren;
}

function Chosen({ list, lacking, children }: ChosenProps) {
  const [wanted, choose] = useChoice('vote');
  const one = list.find(({ block_hash }) => block_hash === wanted) ?? list[0]!;
  const judgement = judgementOf(one);
  return (
    <Figure
      title="Vote explanation"
      caption={
        <>
          {judgement && `Score contributions in points, n = ${factors.length} factors. `}
          Vote on <BlockLink hash={one.block_hash} />
          {judgement ? `: ${explanationOf(one)}` : '.'}
          {lacking > 0 && ` ${lackingText(lacking)}`}
        </>
      }
      chart={() => (judgement ? <Bars of={judgement} /> : <p>{explanationOf(one)}</p>)}
      table={() => <WhyTable list={list} one={one} />}
    >
      <label class="choice">
        <span class="unseen">Explained vote</span>
        <select
          value={one.block_hash}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          {list.map(({ block_hash, height, decision }) => (
            <option key={block_hash} value={block_hash}>
              Block {height}: {decision}
            </option>
          ))}
        </select>
      </label>
      {children}
    </Figure>
  );
}

function Bars({ of }: { of: Judgement }) {
  const { score, threshold, contributions } = of;
  const together = factors.reduce((sum, factor) => sum + contributions[factor], 0);
  // The score with no factors applied is not 0, so the threshold is relative to this base score.
  const needed = threshold - (score - together);
  const all = [...factors.map((factor) => contributions[factor]), together, needed];
  const most = Math.max(1, ...all.map(Math.abs));
  const at = (value: number) => 50 + (50 * value) / most;
  return (
    <div class="why-bars">
      {factors.map((factor) => (
        <Bar key={factor} name={factorNames[factor]} value={contributions[factor]} at={at} />
      ))}
      <Bar name="total" value={together} at={at} needed={needed} />
    </div>
  );
}

interface BarProps {
  name: string;
  value: number;
  /** Maps a value to a percentage of the width. */
  at: (value: number) => number;
  /** Approval threshold. */
  needed?: number;
}

function Bar({ name, value, at, needed }: BarProps) {
  const [from, to] = [Math.min(50, at(value)), Math.max(50, at(value))];
  const side = value < 0 ? 'reject' : 'approve';
  return (
    <div class={needed === undefined ? 'why-bar' : 'why-bar whole'}>
      <span class="name">{name}</span>
      <span class="track" aria-hidden="true">
        <span class={`part ${side}`} style={{ left: `${from}%`, width: `${to - from}%` }} />
        <span class="zero" />
        {needed !== undefined && <span class="needed" style={{ left: `${at(needed)}%` }} />}
      </span>
      <span class="number">{signed(value)}</span>
      {needed !== undefined && (
        <span class="needs">
          <span style={{ left: `${Math.max(10, Math.min(90, at(needed)))}%` }}>
            threshold {signed(needed)}
          </span>
        </span>
      )}
    </div>
  );
}

const signed = (value: number) => `${value > 0 ? '+' : ''}${format(Math.round(value))}`;

function WhyTable({ list, one }: { list: readonly Reasoned[]; one: Reasoned }) {
  const judgement = judgementOf(one);
  return (
    <>
      {judgement && (
        <Rows
          caption={captionOf(one, judgement)}
          head={['factor', 'opinion, 0 to 100', 'score', 'vote without factor', 'Shapley value']}
          numeric={[1, 2, 4]}
          rows={factors.map((factor) => [
            factorNames[factor],
            format(judgement.opinions[factor]),
            format(judgement.contributions[factor]),
            judgement.without[factor],
            `${judgement.shapley_24ths[factor]}/24`,
          ])}
        />
      )}
      <Rows
        caption="Votes, newest first"
        head={['block', 'vote', 'entry', 'explanation']}
        rows={list.map((vote) => [
          `block ${vote.height}`,
          vote.decision,
          <EntryLink entry={vote.entry} />,
          explanationOf(vote),
        ])}
      />
    </>
  );
}

function captionOf({ height, decision }: Reasoned, { score, threshold }: Judgement): string {
  return `Block ${height}: ${decision}, score ${format(score)}, threshold ${format(threshold)}`;
}

const factorNames: Readonly<Record<Factor, string>> = {
  content: 'block content',
  neighbours: 'neighbour votes',
  memes: 'received memes',
  whim: 'whim',
};

const basisTexts: Readonly<Record<Exclude<Reasoned['basis'], 'judgement'>, string>> = {
  content: 'Decided by block content only.',
  neighbours: 'Decided by neighbour votes only.',
  script: 'No reason from the script or decider.',
  unknown: 'No reason recorded by the strategy or the intervention.',
};

function explanationOf(one: Reasoned): string {
  const judgement = judgementOf(one);
  if (!judgement) {
    if (one.reason) return `Stated reason: “${cleanText(one.reason, 400)}”`;
    return basisTexts[one.basis as keyof typeof basisTexts] ?? basisTexts.unknown;
  }
  const { score, threshold, without, turned_by } = judgement;
  const alone = factors.filter((factor) => without[factor] !== one.decision);
  const sums = `${one.decision}, score ${format(score)}, threshold ${format(threshold)}.`;
  return [sums, turnedText(alone, one.decision), memesText(one.memes.length, turned_by.length)]
    .filter(Boolean)
    .join(' ');
}

/** Lists the factors whose removal would change the vote. */
function turnedText(alone: readonly Factor[], decision: string): string {
  const other = decision === 'approve' ? 'reject' : 'approve';
  if (alone.length === 0) return 'No single factor changes the vote.';
  const list = alone.map((factor) => factorNames[factor]).join(' or ');
  return `Vote without ${list}: ${other}.`;
}

function memesText(heard: number, turned: number): string {
  if (heard === 0) return '';
  const some = plural(heard, 'received meme');
  if (turned === 0) return `${some}, none decisive alone.`;
  return `${some}, ${format(turned)} decisive alone.`;
}

const factors = ['content', 'neighbours', 'memes', 'whim'] as const;
type Factor = (typeof factors)[number];

type AgentDecisions = AnswerOf<(typeof shownReads)['agent_decisions']>;
type Reasoned = AgentDecisions['decisions'][number];

/** Record of a vote decided by judgement. */
type Judgement = { [K in keyof Reasoned]: NonNullable<Reasoned[K]> };

/**
 * Explanations, newest first, with the number of recorded votes; or the reason that there are none.
 */
type Reasons = { list: Reasoned[]; next: string | null; recorded: number } | { none: string };

/** Number of votes per page. */
const REASON_ROWS = '50';

const unrecordedText =
  'Decision records are not available here. To record the decisions of simulated agents, run ' +
  'folkmoot sim --set measure.decisions=true --out DIR, then folkmoot explore DIR.';

async function reasonsOf(
  id: string,
  entry: number | null,
  cursor: string | null,
): Promise<Reasons> {
  if (!canAsk('decisions')) return { none: unrecordedText };
  const path = `/api/v1/agents/${encodeURIComponent(id)}/decisions`;
  const more = { limit: REASON_ROWS, ...(cursor === null ? {} : { cursor }) };
  try {
    const found = await data<AgentDecisions>(buildPath(path, entry, more));
    const { decisions, next_cursor, recorded } = found;
    return { list: decisions, next: next_cursor, recorded };
  } catch (error) {
    if (error instanceof RefusedError && error.reason === 'NO_DECISIONS')
      return { none: error.message };
    throw error;
  }
}

/** Returns null for a vote without a judgement. */
const judgementOf = (one: Reasoned): Judgement | null =>
  one.basis === 'judgement' && one.contributions ? (one as Judgement) : null;
