/** The block that is looked at, in words and as its tally: what it needs, and how long it has. */

import { brief, counted, shown, time } from '../../../report/shared/numbers.js';
import { networkNow } from '../../clock/control.js';
import type { BlockShown } from '../../data/messages.js';
import { agents, blocks, clock, focused, network, position } from '../../data/store.js';
import { lookAt } from '../../parts/focus.js';
import { Glyph, outcomes } from '../../parts/glyph.js';
import { useNow } from '../../parts/now.js';
import { TallyBar, thresholdsOf } from '../../parts/tally.js';
import { Name } from '../../parts/text.js';
import { NoAgents } from '../no-agents.js';
import { Vetoes } from './vetoes.js';

export function Ballot() {
  const block = focused();
  if (!block) return <NoBlock />;
  const { height, status, number } = block;
  const newest = blocks.value.findLast((one) => one.status === 'voting') ?? blocks.value.at(-1);
  return (
    <div class="ballot">
      <header>
        <h1>
          Block {height} <Glyph status={status} />{' '}
          <span class="outcome">{status === 'voting' ? 'in voting' : outcomes[status]}</span>
        </h1>
        {status === 'voting' ? <Deadline block={block} /> : <Took block={block} />}
        {newest && newest.number !== number && (
          <button type="button" class="button" onClick={() => lookAt(null)}>
            To block {newest.height}
          </button>
        )}
      </header>
      <TallyBar block={block} />
      <Counts block={block} />
      {network.value?.policy === 'veto' && status === 'voting' && <Vetoes />}
    </div>
  );
}

function Counts({ block }: { block: BlockShown }) {
  const { approvals, rejections, electors, approve, reject, total, producer, transactions } = block;
  const weighted = network.value?.weights !== 'equal';
  const by = agents.rows[producer];
  return (
    <p class="counts">
      <span class="swatch approve" aria-hidden="true" /> <b>{shown(approvals)}</b> approve{' '}
      <span class="swatch reject" aria-hidden="true" /> <b>{shown(rejections)}</b> reject,{' '}
      {shown(Math.max(0, electors - approvals - rejections))} of {shown(electors)}{' '}
      {block.status === 'voting' ? 'to come' : 'did not vote'}.
      {weighted && ` By weight: ${brief(approve)} and ${brief(reject)} of ${brief(total)}.`}{' '}
      {need(block)}{' '}
      <span class="faint">
        {counted(transactions, 'transaction')}
        {by && (
          <>
            , proposed by <Name text={by.name} />
          </>
        )}
        .
      </span>
    </p>
  );
}

/** What would decide it. */
function need(block: BlockShown): string {
  if (block.status !== 'voting') return '';
  const { finalize, turnout } = thresholdsOf(block);
  if (finalize !== null) {
    const lacking = Math.max(0, finalize - block.approve);
    const equal = network.value?.weights === 'equal';
    const votes = equal ? counted(lacking, 'more vote') : `${shown(lacking)} more weight`;
    return `Needs ${votes} to finalize.`;
  }
  const lead = block.approve - block.reject;
  const short = Math.max(0, turnout! - block.approve - block.reject);
  const leads = lead > 0 ? 'Approval leads' : lead < 0 ? 'Rejection leads' : 'It is even';
  const by = lead === 0 ? '' : ` by ${shown(Math.abs(lead))}`;
  const turned = short > 0 ? `${shown(short)} more must vote for it to count` : 'enough have voted';
  return `${leads}${by}; ${turned}.`;
}

/** By the network's clock, which goes on between its entries while it is live. */
function Deadline({ block: { deadline, proposed_at } }: { block: BlockShown }) {
  useNow(250);
  const { at } = position.value!;
  const now = clock.value.mode === 'live' ? networkNow() : null;
  const left = Math.max(0, deadline - Math.max(at, now ?? at));
  const share = left / Math.max(1, deadline - proposed_at);
  return (
    <p class="deadline">
      <meter min={0} max={1} value={Math.min(1, share)} aria-label="time left" />
      <b>{left >= 1_000 ? time(Math.round(left / 1_000) * 1_000) : time(left)}</b> left
    </p>
  );
}

function Took({ block: { closed_at, proposed_at } }: { block: BlockShown }) {
  return closed_at === null ? null : (
    <p class="deadline faint">after {time(closed_at - proposed_at)}</p>
  );
}

function NoBlock() {
  const count = agents.count.value;
  return (
    <div class="empty">
      <h1>{count === 0 ? 'No agents yet' : 'No block has been proposed yet'}</h1>
      {count === 0 ? (
        <NoAgents />
      ) : (
        <p>
          {counted(count, 'agent is', 'agents are')} here. The first block that a producer proposes
          appears here at once.
        </p>
      )}
    </div>
  );
}
