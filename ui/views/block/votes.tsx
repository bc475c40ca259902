/** Every vote on a block, with its weight and what became of its signature here. */
import { counted, shown } from '../../../report/shared/numbers.js';
import { agents } from '../../data/store.js';
import { home } from '../../home/home.js';
import { Pages, pageOf } from '../../parts/lists/pages.js';
import { Mark } from '../../parts/mark.js';
import { plain } from '../../parts/text.js';
import { Who } from '../../parts/who.js';
import { useOneOf, usePage } from '../../route/choice.js';
import type { BlockChecked, Verdict } from '../../verify/messages.js';
import type { Vote, Whole } from './fetch.js';

const shows = ['all', 'approve', 'reject', 'failed'] as const;

interface Line {
  vote: Vote;
  id: string;
  weight: number | null;
  verdict: Verdict;
}

export function Votes({ whole, check }: { whole: Whole; check: BlockChecked | null }) {
  const [show, choose] = useOneOf('show', shows);
  const [page, turn] = usePage();
  const { electorate, electors, votes } = whole;
  const byKey = new Map(electorate.map((elector) => [elector.public_key, elector]));
  const lines = votes.map((vote, place): Line => {
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
    // What fails is not to be looked for.
    .sort((one, other) => Number(other.verdict === 'failed') - Number(one.verdict === 'failed'));
  // Without the log there is nothing to check, and nothing that fails.
  const signed = home.lacks.log === undefined;
  const reasons = sharedReasons(votes);
  const missing = Math.max(0, electors - votes.length);
  const weighted = electorate.some(({ weight }) => weight !== electorate[0]?.weight);
  return (
    <section class="panel" aria-labelledby="votes">
      <header>
        <h2 id="votes">{counted(votes.length, 'vote')}</h2>
        <p>{counted(missing, 'elector has', 'electors have')} not voted</p>
        <fieldset class="segments push">
          <legend class="unseen">Votes that are shown</legend>
          {shows
            .filter((one) => signed || one !== 'failed')
            .map((one) => (
              <button
                key={one}
                type="button"
                class="button"
                aria-pressed={one === show}
                onClick={() => {
                  choose(one);
                  turn(0);
                }}
              >
                {one}
              </button>
            ))}
        </fieldset>
      </header>
      <Reasons of={reasons} />
      {wanted.length === 0 ? (
        <p class="faint">{show === 'failed' ? 'No vote fails.' : 'No such vote has been cast.'}</p>
      ) : (
        <div class="scroll">
          <table class="votes">
            <caption class="unseen">Votes on this block</caption>
            <thead>
              <tr>
                <th scope="col">agent</th>
                <th scope="col">vote</th>
                {weighted && (
                  <th scope="col" class="number">
                    weight
                  </th>
                )}
                {signed && <th scope="col">signature</th>}
                <th scope="col">{signed ? 'reason, and memes it names' : 'reason'}</th>
              </tr>
            </thead>
            <tbody>
              {pageOf(wanted, page).map((line) => (
                <Row key={line.vote.public_key} {...{ line, reasons, weighted, signed }} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pages of={wanted.length} page={page} onTurn={turn} />
    </section>
  );
}

/** Reasons that are listed above the table; further ones are printed with each vote. */
const REASONS = 12;

interface Reason {
  text: string;
  approve: number;
  reject: number;
}

/** Reasons that several votes give, the most frequent first. */
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
    .slice(0, REASONS);
}

function Reasons({ of }: { of: readonly Reason[] }) {
  if (of.length === 0) return null;
  return (
    <ol class="reasons" aria-label="Reasons that several votes give">
      {of.map(({ text, approve, reject }) => (
        <li key={text}>
          <q>
            <bdi>{plain(text, 200)}</bdi>
          </q>{' '}
          <span class="faint">
            {approve > 0 && `${shown(approve)} approve`}
            {approve > 0 && reject > 0 && ', '}
            {reject > 0 && `${shown(reject)} reject`}
          </span>
        </li>
      ))}
    </ol>
  );
}

interface RowProps {
  line: Line;
  reasons: readonly Reason[];
  weighted: boolean;
  signed: boolean;
}

function Row({ line, reasons, weighted, signed }: RowProps) {
  const { vote, id, weight, verdict } = line;
  const { decision, reason, meme_references: memes } = vote.vote;
  const listed = reasons.findIndex(({ text }) => text === reason);
  const swatch = decision === 'reject' ? 'reject' : 'approve';
  const number = id === '' ? null : agents.numberOf(id);
  return (
    <tr class={verdict}>
      <th scope="row">
        {number === null ? <code>{plain(vote.public_key, 16)}</code> : <Who number={number} />}
      </th>
      <td>
        <span class={`swatch ${swatch}`} aria-hidden="true" /> {plain(String(decision), 16)}
      </td>
      {weighted && <td class="number">{weight === null ? 'none' : shown(weight)}</td>}
      {signed && (
        <td>
          <Mark of={verdict} word />
          {weight === null && <span>, not an elector</span>}
        </td>
      )}
      <td class="wide">
        {listed >= 0 && <span class="faint">reason {listed + 1}</span>}
        {listed < 0 && typeof reason === 'string' && reason !== '' && (
          <q>
            <bdi>{plain(reason, 200)}</bdi>
          </q>
        )}{' '}
        {Array.isArray(memes) && memes.length > 0 && (
          <span class="faint">{counted(memes.length, 'meme')}</span>
        )}
      </td>
    </tr>
  );
}
