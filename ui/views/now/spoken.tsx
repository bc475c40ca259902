/** Remarks, reasons of votes and captions of memes, the newest first; equal texts are one line. */
import type { SaidKind } from '../../../api/view/model.js';
import { counted } from '../../../report/shared/numbers.js';
import { agents, said } from '../../data/store.js';
import { moment } from '../../parts/moment.js';
import { Name, plain } from '../../parts/text.js';
import { groupSaid, keyOf } from '../../player/answers/said.js';

const SHOWN = 12;
/** Of one agent, and of several. */
const verbs: Record<SaidKind, readonly [string, string]> = {
  remark: ['argues', 'argue'],
  reason: ['votes because', 'vote because'],
  meme: ['posts a meme', 'post a meme'],
};

export function Spoken() {
  const last = groupSaid(said.value).slice(0, SHOWN);
  return (
    <section class="panel spoken" aria-labelledby="said">
      <header>
        <h2 id="said">What is said</h2>
      </header>
      {last.length === 0 && <p class="faint">Nothing has been said yet.</p>}
      <ol>
        {last.map(({ said: one, others }) => (
          <li key={keyOf(one)}>
            <span class="faint">{moment(one.at)}</span>{' '}
            <b>
              <Name text={agents.rows[one.who]?.name ?? ''} most={32} />
            </b>{' '}
            {others > 0 && `and ${counted(others, 'other')} `}
            {verbs[one.kind][others > 0 ? 1 : 0]}
            {one.text !== '' && (
              <q>
                <bdi>{plain(one.text, 140)}</bdi>
              </q>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
