/** What an agent posted lately, and what it said. */
import { memes, said } from '../../data/store.js';
import { Meme } from '../../parts/meme/meme.js';
import { moment } from '../../parts/moment.js';
import { plain } from '../../parts/text.js';
import { BlockLink } from '../../parts/who.js';

const MOST = 12;

export function Memes({ number }: { number: number }) {
  const mine = memes.value
    .filter(({ creator }) => creator === number)
    .slice(-MOST)
    .reverse();
  const words = said.value.filter(({ who, kind }) => who === number && kind !== 'meme');
  return (
    <div class="two">
      <section class="panel" aria-labelledby="memes">
        <header>
          <h2 id="memes">Memes</h2>
          {mine.length === 0 && <p>None among the last {memes.value.length} of all.</p>}
        </header>
        <ul class="memes">
          {mine.map((meme) => (
            <li key={meme.number}>
              <Meme meme={meme} />
            </li>
          ))}
        </ul>
      </section>
      <section class="panel" aria-labelledby="words">
        <header>
          <h2 id="words">What it says</h2>
          {words.length === 0 && <p>Nothing among what was said last.</p>}
        </header>
        <ol class="lines">
          {words.reverse().map((one, index) => (
            <li key={`${one.entry} ${index}`}>
              <span class="faint">
                {moment(one.at)}, {one.kind === 'reason' ? 'votes on' : 'on'}{' '}
                <BlockLink number={one.what} />
              </span>
              <q>
                <bdi>{plain(one.text, 280)}</bdi>
              </q>
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}
