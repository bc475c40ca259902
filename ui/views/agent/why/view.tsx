/** Why an agent voted as it did: what its judgement weighed, of the vote that a reader chooses. */
import type { ComponentChildren } from 'preact';
import { shown } from '../../../../report/shared/numbers.js';
import { agents, clock, position } from '../../../data/store.js';
import { Figure } from '../../../parts/lists/figure.js';
import { useAtEntry } from '../../../parts/server/at-entry.js';
import { Failed } from '../../../parts/server/states.js';
import { plain } from '../../../parts/text.js';
import { BlockLink } from '../../../parts/who.js';
import { useChoice } from '../../../route/choice.js';
import { Bars } from './bars.js';
import { judgementOf, type Reasoned, reasonsOf } from './fetch.js';
import { WhyTable } from './table.js';
import { wordsOf } from './words.js';

export function Why({ number }: { number: number }) {
  const { id } = agents.rows[number]!;
  const [cursor, turn] = useChoice('older');
  const votes = `${agents.votes[number]}`;
  const { fetched, again, last } = useAtEntry(`${id} ${cursor}`, votes, (entry) =>
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
  `Of ${shown(lacking)} of its votes decisions.ndjson has no line: nobody knows why it cast them.`;

function Unrecorded({ why }: { why: string }) {
  return (
    <section class="panel" aria-labelledby="why">
      <header>
        <h2 id="why">Why it votes so</h2>
      </header>
      <p class="faint">{plain(why, 300)}</p>
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
