/** The search for the highest rate that holds: what was tried, and what each bracket says. */
import type { LoadProbe, LoadSearch } from '../../../api/view/load.js';
import { shown, time } from '../../../report/shared/numbers.js';
import { DotKey, Dots } from '../../parts/chart/dots.js';
import { countScale } from '../../parts/chart/scale.js';
import { Figure, Rows } from '../../parts/lists/figure.js';
import { plain } from '../../parts/text.js';
import { rounded } from './words.js';

export function Search({ search }: { search: LoadSearch }) {
  const { probes, brackets, rate } = search;
  const most = probes.reduce((top, one) => Math.max(top, one.rate, one.accepted_per_s), rate ?? 0);
  return (
    <Figure
      title="The search for the rate that holds"
      caption={
        'Each mark is a run at a fixed rate: full where it held, open where it did not ' +
        `(${['99 % of the rate', ...search.slo.map((one) => plain(one, 60))].join(', ')}). On ` +
        'the dashed line all that was asked for was accepted.'
      }
      picture={() => (
        <>
          <ul class="load-brackets">
            {rate !== null && <li>Trying {shown(rounded(rate))} a second.</li>}
            {brackets.map(({ holds, fails }, index) => (
              <li key={index}>
                <DotKey series={index} /> Bracket {index + 1}: {shown(rounded(holds))}/s holds,{' '}
                {fails === null ? 'nothing failed above it' : `${shown(rounded(fails))}/s fails`}.
              </li>
            ))}
          </ul>
          {probes.length === 0 ? (
            <p class="faint">No run of the search is over yet.</p>
          ) : (
            <Dots
              label="Rates that were asked for, and what was accepted. The table has the figures."
              dots={probes.map((one) => ({
                ...{ asked: one.rate, had: one.accepted_per_s, full: one.holds },
                series: one.bracket - 1,
              }))}
              scale={countScale('accepted a second', most)}
              most={most}
              across="asked for a second"
            />
          )}
        </>
      )}
      table={() => <Table probes={probes} omitted={search.probes_omitted} />}
    />
  );
}

function Table({ probes, omitted }: { probes: readonly LoadProbe[]; omitted: number }) {
  return (
    <>
      <Rows
        caption="Runs of the search, the newest first"
        head={['bracket', 'rate', 'accepted', 'p99', 'holds', 'verdict', 'R', 'why']}
        numeric={[1, 2, 3, 6]}
        rows={probes
          .toReversed()
          .map((one) => [
            one.bracket,
            shown(rounded(one.rate)),
            shown(rounded(one.accepted_per_s)),
            time(one.p99),
            one.holds ? 'yes' : 'no',
            one.verdict,
            shown(one.r_before === null ? null : Math.round(one.r_before)),
            <bdi key="why">{plain(one.reason, 200)}</bdi>,
          ])}
      />
      {omitted > 0 && <p>{shown(omitted)} earlier ones are left out here.</p>}
    </>
  );
}
