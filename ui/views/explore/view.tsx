/** Any moment of a network: what happened, which entry did this, and whether it is true. */
import { shown } from '../../../report/shared/numbers.js';
import { position } from '../../data/store.js';
import { Entry } from './entry.js';
import { Happened } from './happened.js';
import { ProofBand } from './proof.js';

export function View() {
  const entry = position.value?.entry ?? 0;
  return (
    <>
      <header class="view-head">
        <h1>
          Entry {shown(entry)} <span class="faint">and what happened around it</span>
        </h1>
      </header>
      <ProofBand />
      <div class="explore">
        <Happened entry={entry} />
        <Entry key={entry} entry={entry} />
      </div>
    </>
  );
}
