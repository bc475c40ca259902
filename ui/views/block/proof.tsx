/** What this page has checked of a block by itself, in a few lines. */
import { counted, shown } from '../../../report/shared/numbers.js';
import { Lacking } from '../../parts/lacking.js';
import { Mark } from '../../parts/mark.js';
import type { BlockChecked } from '../../verify/messages.js';
import type { Whole } from './fetch.js';

interface ProofProps {
  whole: Whole;
  check: BlockChecked | null;
  problem: string;
}

export function Proof({ whole, check, problem }: ProofProps) {
  return (
    <section class="panel proof" aria-labelledby="proof">
      <header>
        <h2 id="proof">Checked in this browser</h2>
        {check?.by && (
          <p>
            Ed25519 by{' '}
            {check.by === 'WebCrypto'
              ? 'WebCrypto'
              : 'JavaScript, since this page is not served securely'}
          </p>
        )}
      </header>
      <Lacking what="log">
        {problem !== '' && <p role="alert">It could not be checked: {problem}</p>}
        {!check && problem === '' && (
          <p role="status">Checking {counted(whole.votes.length, 'signature')} …</p>
        )}
        {check && <Lines whole={whole} check={check} />}
      </Lacking>
    </section>
  );
}

function Lines({ whole: { block, votes, more }, check }: { whole: Whole; check: BlockChecked }) {
  const failed = check.votes.filter((verdict) => verdict === 'failed').length;
  const held = check.votes.filter((verdict) => verdict === 'holds').length;
  const unsigned = check.by === null;
  const { approve, reject } = block.tally;
  const same = check.tally.approve === approve && check.tally.reject === reject;
  const wrong = check.transactions.filter((verdict) => verdict === 'failed').length;
  const decided = block.status === 'finalized' || block.status === 'rejected';
  return (
    <ul class="checks">
      <li>
        <Mark of={check.hash ? 'holds' : 'failed'} />
        {check.hash
          ? 'The hash is that of the proposal.'
          : 'The proposal has another hash: what is shown is not what was voted on.'}
      </li>
      <li>
        <Mark of={check.proposal} />
        {check.proposal === 'failed'
          ? 'The signature of the proposal fails.'
          : unsigned
            ? 'In this network nobody signs: there are no signatures to check.'
            : 'The signature of the proposal holds.'}
      </li>
      {!unsigned && (
        <li>
          <Mark of={failed > 0 ? 'failed' : 'holds'} />
          {failed > 0
            ? `${shown(failed)} of ${counted(votes.length, 'vote')} fail; ${shown(held)} hold.`
            : `${allOf(held, 'signature of a vote', 'signatures of votes')}.`}
        </li>
      )}
      {!unsigned && check.transactions.length > 0 && (
        <li>
          <Mark of={wrong > 0 ? 'failed' : 'holds'} />
          {wrong > 0
            ? `${shown(wrong)} of ${counted(check.transactions.length, 'transaction')} fail.`
            : `${allOf(check.transactions.length, 'transaction', 'transactions')}.`}
        </li>
      )}
      {!more && (
        <li>
          <Mark of={same ? 'holds' : 'failed'} />
          Counted again: {tallyText(check.tally)}
          {same ? ', as the server says.' : `; the server says ${tallyText(block.tally)}.`}
        </li>
      )}
      {!more && decided && (
        <li>
          <Mark of={check.outcome === block.status ? 'holds' : 'failed'} />
          {check.outcome === block.status
            ? `By these votes it is ${block.status}.`
            : `By these votes it would be ${check.outcome}, not ${block.status}.`}
        </li>
      )}
      {more && <li>There are more votes than a page shows: they are not counted again here.</li>}
    </ul>
  );
}

const allOf = (count: number, one: string, many: string) =>
  count === 1 ? `The one ${one} holds` : `All ${shown(count)} ${many} hold`;

const tallyText = ({ approve, reject }: BlockChecked['tally']) =>
  `${shown(approve)} approve and ${shown(reject)} reject`;
