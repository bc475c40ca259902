/** Explanations of an agent's votes, as recorded by the run: the contribution of each factor. */
import type { ComponentChildren } from 'preact';
import type { AnswerOf } from '../../api/contract/route.js';
import type { shownReads } from '../../api/contract/views.js';
import { format, plural } from '../../report/shared/format.js';
import { buildPath, useEntryData } from '../components/entry-data.js';
import { BlockLink, cleanText, EntryLink, toSentence } from '../components/labels.js';
import { Button, Figure, Panel, Rows } from '../components/lists.js';
import { Failed } from '../components/placeholders.js';
import { data, RequestError } from '../components/requests.js';
import { agents, canAsk, clock, position } from '../data/store.js';
import { useChoice } from '../route.js';

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
          {judgement ? `: ${wordsOf(one)}` : '.'}
          {lacking > 0 && ` ${lackingText(lacking)}`}
        </>
      }
      chart={() => (judgement ? <Bars of={judgement} /> : <p>{wordsOf(one)}</p>)}
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
          wordsOf(vote),
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

function wordsOf(one: Reasoned): string {
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
    if (error instanceof RequestError && error.reason === 'NO_DECISIONS')
      return { none: error.said };
    throw error;
  }
}

/** Returns null for a vote without a judgement. */
const judgementOf = (one: Reasoned): Judgement | null =>
  one.basis === 'judgement' && one.contributions ? (one as Judgement) : null;
