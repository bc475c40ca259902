/** The vote's reasons as a table, and under it those of all votes that are there. */
import { shown } from '../../../../report/shared/numbers.js';
import { Rows } from '../../../parts/lists/figure.js';
import { EntryLink } from '../../../parts/who.js';
import { factors, type Judgement, judgementOf, type Reasoned } from './fetch.js';
import { names, wordsOf } from './words.js';

interface Props {
  list: readonly Reasoned[];
  one: Reasoned;
}

export function WhyTable({ list, one }: Props) {
  const judgement = judgementOf(one);
  return (
    <>
      {judgement && (
        <Rows
          caption={captionOf(one, judgement)}
          head={['factor', 'opinion, of 100', 'adds to the score', 'without it', 'of the decision']}
          numeric={[1, 2, 4]}
          rows={factors.map((factor) => [
            names[factor],
            shown(judgement.opinions[factor]),
            shown(judgement.contributions[factor]),
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
  const sums = `with a score of ${shown(score)}, where ${shown(threshold)} is needed`;
  return `Block ${height}: ${decision}, ${sums}`;
}
