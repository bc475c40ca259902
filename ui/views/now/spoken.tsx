/** What is said: remarks, reasons of votes, captions of memes; the newest first. */
import type { Said } from '../../../api/view/model.js';
import { agents, said } from '../../data/store.js';
import { moment } from '../../parts/moment.js';
import { Name, plain } from '../../parts/text.js';

const SHOWN = 12;
const verbs: Record<Said['kind'], string> = {
  remark: 'argues',
  reason: 'votes because',
  meme: 'posts a meme',
};

export function Spoken() {
  const last = said.value.slice(-SHOWN).reverse();
  return (
    <section class="panel spoken" aria-labelledby="said">
      <header>
        <h2 id="said">What is said</h2>
      </header>
      {last.length === 0 && <p class="faint">Nobody has said anything yet.</p>}
      <ol>
        {last.map((one, index) => (
          <li key={`${one.entry} ${index}`}>
            <span class="faint">{moment(one.at)}</span>{' '}
            <b>
              <Name text={agents.rows[one.who]?.name ?? ''} most={32} />
            </b>{' '}
            {verbs[one.kind]}
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
