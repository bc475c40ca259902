/** The nodes that keep the network together, where several do: how far each is, and who orders. */
import { shown, time } from '../../../report/shared/numbers.js';
import { Rows } from '../../parts/lists/figure.js';
import { Scroll } from '../../parts/lists/scroll.js';
import { elapsed } from '../../parts/moment.js';
import { useNow } from '../../parts/now.js';
import { type ClusterShown, cluster } from '../../parts/server/cluster.js';
import { Name, plain } from '../../parts/text.js';

/** Where its columns hold numbers. */
const NUMERIC = [3, 4, 5];
const DIGEST_LETTERS = 12;

export function Nodes() {
  const now = useNow(1_000);
  const state = cluster.value;
  if (!state) return null;
  const { node: own, nodes, cut_off_ms } = state;
  const rows = nodes.map(({ node, alive, since, behind, batch, entry, digest, version }) => [
    <>
      <Name text={node} />
      {node === own && ' (this page)'}
    </>,
    alive ? 'alive' : <b key="state">{cut_off_ms > 0 ? 'not known' : 'silent'}</b>,
    <time key="since" dateTime={since} title={since}>
      {elapsed(now - Date.parse(since))}
    </time>,
    cut_off_ms > 0 && node !== own ? '?' : shown(behind),
    shown(batch),
    shown(entry),
    <code key="digest" title={digest}>
      {digest.slice(0, DIGEST_LETTERS)}
    </code>,
    plain(version, 32),
  ]);
  return (
    <section class="panel nodes" aria-labelledby="nodes">
      <header>
        <h2 id="nodes">Nodes</h2>
        <p>
          <Name text={own} /> serves this page. {orderedBy(state)}
        </p>
      </header>
      <Scroll name="Nodes, as a table">
        <Rows
          caption="Each applies the same batches in one order"
          head={['Node', 'State', 'For', 'Behind', 'Batch', 'Entry', 'Digest', 'Version']}
          numeric={NUMERIC}
          rows={rows}
        />
      </Scroll>
    </section>
  );
}

function orderedBy({ etcd, cut_off_ms }: ClusterShown): string {
  if (cut_off_ms > 0) return `It has not heard of the order for ${time(seconds(cut_off_ms))}.`;
  if (!etcd) return 'Etcd did not answer in time.';
  const { members, answering, leader } = etcd;
  const answer = `${answering} of ${members} ${members === 1 ? 'member' : 'members'} of etcd`;
  const led = leader ? '' : ', and none leads: nothing can be ordered now';
  return `${answer} ${answering === 1 ? 'answers' : 'answer'}${led}.`;
}

const seconds = (ms: number) => Math.round(ms / 1_000) * 1_000;
