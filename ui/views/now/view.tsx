/** What happens now: the block that is voted on, how those before it ended, and what is said. */
import { useState } from 'preact/hooks';
import { agents } from '../../data/store.js';
import { Chain, OutcomeLegend } from '../../parts/chain.js';
import { Grid } from '../../parts/grid/grid.js';
import { DecisionLegend } from '../../parts/grid/legend.js';
import { go, href } from '../../route/router.js';
import { Activity } from './activity.js';
import { Ballot } from './ballot.js';
import { Spoken } from './spoken.js';

export function View() {
  const [chosen, choose] = useState<number | null>(null);
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
          chosen={chosen}
          onChoose={choose}
          onOpen={(number) => go(href('agents', undefined, { sel: agents.rows[number]!.id }))}
        />
      </section>
      <Spoken />
      <Activity />
    </div>
  );
}
