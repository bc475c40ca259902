/** What happens now: the block that is voted on, how those before it ended, and what is said. */
import { agents } from '../../data/store.js';
import { Chain, OutcomeLegend } from '../../parts/chain.js';
import { Grid } from '../../parts/grid/grid.js';
import { DecisionLegend } from '../../parts/grid/legend.js';
import { useChoice } from '../../route/choice.js';
import { go, href } from '../../route/router.js';
import { Activity } from './activity.js';
import { Ballot } from './ballot.js';
import { Nodes } from './nodes.js';
import { Spoken } from './spoken.js';

export function View() {
  const [id, choose] = useChoice('sel');
  const idOf = (number: number) => agents.rows[number]!.id;
  return (
    <div class="now">
      <section class="panel vote" aria-label="The vote">
        <Ballot />
        <Chain />
        <OutcomeLegend />
      </section>
      <section class="panel who" aria-labelledby="who">
        <header>
          <h2 id="who">Who votes what</h2>
          <DecisionLegend />
        </header>
        <Grid
          coloring="decision"
          banding="nothing"
          room={420}
          chosen={id === null ? null : agents.numberOf(id)}
          onChoose={(number) => choose(number === null ? null : idOf(number))}
          onOpen={(number) => go(href('agents', undefined, { sel: idOf(number) }))}
        />
      </section>
      <Spoken />
      <Activity />
      <Nodes />
    </div>
  );
}
