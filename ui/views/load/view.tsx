/** A load run: whether its figures can be believed, what they are, what they come from. */
import { Coming } from '../../parts/server/states.js';
import { KeyFacts, Surroundings } from './facts.js';
import { Failures } from './failures.js';
import { load as current } from './follow.js';
import { Head } from './head.js';
import { OverTime } from './over-time.js';
import { Search } from './search.js';
import { Times } from './times.js';

export function View() {
  const load = current.value;
  if (!load) {
    return (
      <div class="empty">
        <h1>A load run</h1>
        <Coming what="what is known of it" />
      </div>
    );
  }
  const { figures, search, phase } = load;
  return (
    <div class="load">
      <Head load={load} />
      {search && <Search search={search} />}
      {search && figures && (
        <p class="faint">
          {phase === 'over'
            ? 'What follows is of the last run of the search that held, or of the last one.'
            : 'What follows is of the run of the search that goes on.'}
        </p>
      )}
      <KeyFacts load={load} />
      {figures && <OverTime load={load} />}
      {figures && <Times times={figures.times} />}
      {figures && <Failures figures={figures} />}
      <Surroundings load={load} />
      <p class="faint">
        <code>folkmoot load --out DIR</code> keeps a run with its report, and{' '}
        <code>folkmoot explore DIR</code> shows it here again.
      </p>
    </div>
  );
}
