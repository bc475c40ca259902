/**
 * The reasons of an agent's votes, as the run recorded them: what each factor of its judgement
 * added to the score.
 */
import type { ComponentChildren } from 'preact';
import { format, plural } from '../../report/shared/format.js';
import { buildPath, useEntryData } from '../components/entry-data.js';
import { BlockLink, cleanText, EntryLink } from '../components/labels.js';
import { Figure, Rows } from '../components/lists.js';
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
      {cursor !== null && (
        <button type="button" class="button" onClick={() => turn(null)}>
          Newest
        </button>
      )}
      {next !== null && (
        <button type="button" class="button" onClick={() => turn(next)}>
          Older
        </button>
      )}
    </Chosen>
  );
}

/** What was fetched is of the entry that is shown, or of the end where that is shown. */
const isOf = (entry: number | null) =>
  clock.value.mode !== 'playing' && (entry === null || entry === position.value!.entry);

const lackingText = (lacking: number) =>
  `Of ${format(lacking)} of its votes decisions.ndjson has no line: nobody knows why it cast them.`;

function Unrecorded({ why }: { why: string }) {
  return (
    <section class="panel" aria-labelledby="why">
      <header>
        <h2 id="why">Why it votes so</h2>
      </header>
      <p class="faint">{cleanText(why, 300)}</p>
    </section>
  );
}

interface ChosenProps {
  list: readonly Reasoned[];
  /** Votes that nothing is recorded of. */
  lacking: number;
  children: ComponentChildren;
}

function Chosen({ list, lacking, children }: ChosenProps) {
  const [wanted, choose] = useChoice('vote');
  const one = list.find(({ block_hash }) => block_hash === wanted) ?? list[0]!;
  const judgement = judgementOf(one);
  return (
    <Figure
      title="Why it voted so"
      caption={
        <>
          Its vote on <BlockLink hash={one.block_hash} />
          {judgement ? `: ${wordsOf(one)}` : '.'}
          {lacking > 0 && ` ${lackingText(lacking)}`}
        </>
      }
      picture={() => (judgement ? <Bars of={judgement} /> : <p>{wordsOf(one)}</p>)}
      table={() => <WhyTable list={list} one={one} />}
    >
      <label class="choice">
        <span class="unseen">Which vote</span>
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
  // Where nobody has an opinion, the score stands somewhere already: what is needed counts from it.
  const needed = threshold - (score - together);
  const all = [...factors.map((factor) => contributions[factor]), together, needed];
  const most = Math.max(1, ...all.map(Math.abs));
  const at = (value: number) => 50 + (50 * value) / most;
  return (
    <div class="why-bars">
      {factors.map((factor) => (
        <Bar key={factor} name={factorNames[factor]} value={contributions[factor]} at={at} />
      ))}
      <Bar name="together" value={together} at={at} needed={needed} />
    </div>
  );
}

interface BarProps {
  name: string;
  value: number;
  /** Where a value stands, in percent of the width. */
  at: (value: number) => number;
  /** From which value on it approves. */
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
            needs {signed(needed)}
          </span>
        </span>
      )}
    </div>
  );
}

const signed = (value: number) => `${value > 0 ? '+' : ''}${format(Math.round(value))}`;

interface WhyTableProps {
  list: readonly Reasoned[];
  one: Reasoned;
}

function WhyTable({ list, one }: WhyTableProps) {
  const judgement = judgementOf(one);
  return (
    <>
      {judgement && (
        <Rows
          caption={captionOf(one, judgement)}
          head={['factor', 'opinion, of 100', 'adds to the score', 'without it', 'of the decision']}
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
        caption="Its votes, the newest first"
        head={['block', 'vote', 'entry', 'rested on']}
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
  const sums = `with a score of ${format(score)}, where ${format(threshold)} is needed`;
  return `Block ${height}: ${decision}, ${sums}`;
}

const factorNames: Readonly<Record<Factor, string>> = {
  content: 'what is in the block',
  neighbours: 'votes of neighbours',
  memes: 'memes it heard of',
  whim: 'whim',
};

const basisTexts: Readonly<Record<Exclude<Reasoned['basis'], 'judgement'>, string>> = {
  content: 'it went by what is in the block, and by nothing else.',
  neighbours: 'it went by the votes of its neighbours, and by nothing else.',
  script: 'its script or decider gave no reason.',
  unknown: 'nobody noted a reason: its strategy does not say, or it was made to.',
};

function wordsOf(one: Reasoned): string {
  const judgement = judgementOf(one);
  if (!judgement) {
    if (one.reason) return `it said: “${cleanText(one.reason, 400)}”`;
    return basisTexts[one.basis as keyof typeof basisTexts] ?? basisTexts.unknown;
  }
  const { score, threshold, without, turned_by } = judgement;
  const alone = factors.filter((factor) => without[factor] !== one.decision);
  const verb = one.decision === 'approve' ? 'approves' : 'rejects';
  const sums = `a score of ${format(score)}, where ${format(threshold)} is needed, so it ${verb}.`;
  return [sums, turnedText(alone, one.decision), memesText(one.memes.length, turned_by.length)]
    .filter(Boolean)
    .join(' ');
}

/** Each alone: which of them decided it. */
function turnedText(alone: readonly Factor[], decision: string): string {
  const other = decision === 'approve' ? 'rejected' : 'approved';
  if (alone.length === 0) return `Whichever one is left out, it would have voted the same.`;
  const list = alone.map((factor) => factorNames[factor]).join(', or ');
  return `Without ${list}, it would have ${other}.`;
}

function memesText(heard: number, turned: number): string {
  if (heard === 0) return '';
  const some = `It had heard of ${plural(heard, 'meme')} about it`;
  if (turned === 0) return `${some}; none of them alone turned the vote.`;
  const which = turned === 1 ? 'one' : `any of ${format(turned)}`;
  return `${some}; without ${which} of them it would have voted otherwise.`;
}

const factors = ['content', 'neighbours', 'memes', 'whim'] as const;
type Factor = (typeof factors)[number];
type ByFactor<T> = Record<Factor, T>;

/** The members that only a judgement has. */
interface Judgement {
  score: number;
  threshold: number;
  opinions: ByFactor<number>;
  contributions: ByFactor<number>;
  without: ByFactor<'approve' | 'reject'>;
  shapley_24ths: ByFactor<number>;
  turned_by: string[];
}

interface Reasoned extends Record<keyof Judgement, unknown> {
  block_hash: string;
  height: number;
  decision: 'approve' | 'reject';
  entry: number;
  basis: 'judgement' | 'content' | 'neighbours' | 'script' | 'unknown';
  reason: string | null;
  memes: string[];
}

/** Newest first, and of how many votes there are any; or why there are none. */
type Reasons = { list: Reasoned[]; next: string | null; recorded: number } | { none: string };

/** Votes of a page. */
const REASON_ROWS = '50';

const unrecordedText =
  'What its votes rested on is not recorded here. Of agents that are simulated, folkmoot sim ' +
  '--set measure.decisions=true --out DIR records it, and folkmoot explore DIR shows it.';

async function reasonsOf(
  id: string,
  entry: number | null,
  cursor: string | null,
): Promise<Reasons> {
  if (!canAsk('decisions')) return { none: unrecordedText };
  const path = `/api/v1/agents/${encodeURIComponent(id)}/decisions`;
  const more = { limit: REASON_ROWS, ...(cursor === null ? {} : { cursor }) };
  try {
    const { decisions, next_cursor, recorded } = await data<{
      decisions: Reasoned[];
      next_cursor: string | null;
      recorded: number;
    }>(buildPath(path, entry, more));
    return { list: decisions, next: next_cursor, recorded };
  } catch (error) {
    if (error instanceof RequestError && error.reason === 'NO_DECISIONS')
      return { none: error.said };
    throw error;
  }
}

/** Null for a vote that was no judgement. */
const judgementOf = (one: Reasoned): Judgement | null =>
  one.basis === 'judgement' && one.contributions ? (one as unknown as Judgement) : null;
