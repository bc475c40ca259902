/** An agent among its neighbours: how those vote that it hears. */
import { counted, shown } from '../../../../report/shared/numbers.js';
import { approves, rejects } from '../../../data/messages.js';
import { agents, focus, focused } from '../../../data/store.js';
import { decisionOf, reputationOf } from '../../../parts/grid/words.js';
import { Figure, Rows } from '../../../parts/lists/figure.js';
import { useAtEntry } from '../../../parts/server/at-entry.js';
import { Failed } from '../../../parts/server/states.js';
import { plain } from '../../../parts/text.js';
import { Who } from '../../../parts/who.js';
import { type Ego as EgoData, egoOf, type Neighbour } from './fetch.js';
import { EgoLegend } from './legend.js';
import { Ring, SHOWN } from './ring.js';

export function Ego({ number }: { number: number }) {
  const { id } = agents.rows[number]!;
  const { fetched, again, last } = useAtEntry(id, `${focus.value}`, (entry) => egoOf(id, entry));
  if (fetched.is === 'failed') return <Failed why={fetched.why} onAgain={again} />;
  if (!last) return null;
  if ('none' in last.data) {
    return (
      <section class="panel" aria-labelledby="ego">
        <header>
          <h2 id="ego">Its neighbours</h2>
        </header>
        <p class="faint">{plain(last.data.none, 300)}</p>
      </section>
    );
  }
  return <Known number={number} ego={last.data} />;
}

function Known({ number, ego }: { number: number; ego: EgoData }) {
  agents.version.value;
  const { neighbours, total, topology } = ego;
  const votes = neighbours.map((one) => voteOf(one));
  const count = (vote: number) => votes.filter((one) => one === vote).length;
  const cut = neighbours.filter(({ hears, heard }) => !hears || !heard).length;
  const block = focused();
  const like = votes.filter((vote) => vote === agents.decision[number]).length;
  const own = agents.decision[number] ?? 0;
  const voted = count(approves) + count(rejects);
  return (
    <Figure
      title="Its neighbours"
      caption={
        <>
          Agents that it hears and that hear it, by the scenario ({plain(topology, 32)}):{' '}
          {shown(total)}
          {block ? (
            <>
              , and what they say to block {block.height}: {shown(count(approves))} approve,{' '}
              {shown(count(rejects))} reject, {shown(neighbours.length - voted)} have said nothing.
              {own === 0 ? '' : ` ${shown(like)} of ${shown(voted)} vote as it does.`}
            </>
          ) : (
            '; there is no block yet.'
          )}
          {cut > 0 && ` ${counted(cut, 'is', 'are')} cut off from it at this time.`}
          {total > SHOWN && ` ${SHOWN} are drawn; the table has ${shown(neighbours.length)}.`}
        </>
      }
      picture={() => (
        <>
          <EgoLegend cut={cut > 0} />
          <Ring number={number} ego={ego} />
        </>
      )}
      table={() => (
        <Rows
          caption="Its neighbours"
          head={['agent', 'this block', 'it hears', 'hears it', 'reputation']}
          numeric={[4]}
          rows={neighbours.map((one) => rowOf(one))}
        />
      )}
    />
  );
}

/** Of who is there at this entry. */
export const presentOf = ({ agent_id }: Neighbour): number | null => agents.numberOf(agent_id);

function voteOf(one: Neighbour): number {
  const number = presentOf(one);
  return number === null ? 0 : agents.decision[number]!;
}

function rowOf(one: Neighbour) {
  const number = presentOf(one);
  const passes = (does: boolean) => (does ? 'yes' : 'cut off');
  const links = [passes(one.hears), passes(one.heard)];
  if (number === null) return [<Who id={one.agent_id} />, 'not there yet', ...links, ''];
  return [<Who number={number} />, decisionOf(number), ...links, shown(reputationOf(number))];
}
