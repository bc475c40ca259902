/** What went wrong, what the page does about it, and what the reader can do. */
import { shown, time } from '../../report/shared/numbers.js';
import { worldClock } from '../clock/control.js';
import { commandProof, doneOf, useCommandProof } from '../clock/proof.js';
import { StartBand } from '../clock/world.js';
import { link, notice, position } from '../data/store.js';
import { useNow } from '../parts/now.js';
import { cluster, useCluster } from '../parts/server/cluster.js';
import { Name, plain } from '../parts/text.js';
import { href, place } from '../route/router.js';

export function Bands() {
  return (
    <div class="bands">
      <LinkBand />
      <StartBand />
      <ClusterBand />
      <ProofBand />
      {worldClock.value?.lost && (
        <div class="band bad" role="alert">
          <p>{worldClock.value.lost}</p>
        </div>
      )}
      {notice.value && (
        <div class="band" role="status">
          <p>{notice.value.text}</p>
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      )}
    </div>
  );
}

const close = () => {
  notice.value = null;
};

function LinkBand() {
  const state = link.value;
  if (state.is === 'lost') return <Lost {...state} />;
  if (state.is !== 'damaged') return null;
  return (
    <div class="band bad" role="alert">
      <p>This network cannot be shown: {state.why}.</p>
    </div>
  );
}

function Lost({ why, since, againAt }: { why: string; since: number; againAt: number }) {
  const now = useNow(1_000);
  const silent = Math.max(0, Math.round((now - since) / 1_000)) * 1_000;
  const wait = Math.max(0, Math.ceil((againAt - now) / 1_000));
  const still = position.value ? `What is shown is entry ${position.value.entry}. ` : '';
  return (
    <div class="band bad" role="alert">
      <p>
        <b>No news for {time(silent)}:</b> {why}. {still}
        {wait > 0 ? `Trying again in ${wait} s.` : 'Trying again …'} If the server was stopped,
        start it again at the same address: this page goes on by itself.
      </p>
    </div>
  );
}

/** The node answers, but the others may be further: what it shows may be old. */
function ClusterBand() {
  useCluster();
  const state = cluster.value;
  if (!state || state.cut_off_ms === 0) return null;
  return (
    <div class="band bad" role="alert">
      <p>
        <b>
          The node <Name text={state.node} /> is cut off:
        </b>{' '}
        it does not hear of the order. What is shown may be old, and it takes no requests. It goes
        on by itself; other nodes may know more.
      </p>
    </div>
  );
}

/** Whatever is looked at, it is said whether it can be believed; Explore itself says more. */
function ProofBand() {
  useCommandProof();
  const proof = commandProof.value;
  if (!proof || place.value.view === 'explore') return null;
  const { state, end, divergence, problem } = proof;
  if (divergence) {
    const { entry, kind } = divergence;
    const where = `entry ${shown(entry)} (${plain(kind, 32)})`;
    return (
      <div class="band bad" role="alert">
        <p>
          <b>What is stored here does not follow from its log.</b> They part at {where}:{' '}
          <a href={href('explore', undefined, { at: String(entry) })}>see how</a>
        </p>
      </div>
    );
  }
  if (state === 'match') return null;
  const done = `${shown(doneOf(proof))} of ${shown(end + 1)}`;
  return (
    <div class="band">
      <p>
        {state === 'running'
          ? `The log is recomputed meanwhile: ${done} entries match so far.`
          : `The log could not be read to its end: ${plain(problem ?? '', 300)}`}
      </p>
    </div>
  );
}
