/** What comes first: whether the figures can be believed, then how far the run is. */
import type { LoadShown } from '../../../api/view/load.js';
import { MarkShape } from '../../parts/mark.js';
import { plain } from '../../parts/text.js';
import { Control } from './control.js';
import { askedFor, phases, progressText, story, tones, verdictText } from './words.js';

export function Head({ load }: { load: LoadShown }) {
  const { verdict, phase, asked } = load;
  const { title, text } = verdictText(load);
  const tone = phase === 'failed' ? 'failed' : verdict ? tones[verdict.verdict] : 'unchecked';
  return (
    <section class="panel load-head" aria-labelledby="load-asked">
      <header>
        <h1 id="load-asked">
          Load: {askedFor(load)}
          <span class="faint">{asked.loop === 'closed' ? ', closed loop' : ''}</span>
        </h1>
      </header>
      <div class={`load-verdict verdict ${tone}`}>
        <p>
          <MarkShape of={tone} /> <b>{phase === 'failed' ? 'Nothing was measured' : title}.</b>{' '}
          {text}
        </p>
        {verdict && verdict.reasons.length > 0 && (
          <ul>
            {verdict.reasons.map((reason) => (
              <li key={reason}>
                <bdi>{plain(reason, 400)}</bdi>
              </li>
            ))}
          </ul>
        )}
      </div>
      <Story load={load} />
      <Control load={load} />
    </section>
  );
}

function Story({ load }: { load: LoadShown }) {
  const { phase, said, passed_ms: passed, of_ms: all } = load;
  const here = story.indexOf(phase);
  return (
    <div class="load-story">
      {here >= 0 && (
        <ol aria-label="How far it is">
          {story.map((step, index) => (
            <li
              key={step}
              class={index < here ? 'past' : ''}
              aria-current={index === here ? 'step' : undefined}
            >
              {phases[step]}
            </li>
          ))}
        </ol>
      )}
      {passed !== null && all !== null && phase !== 'over' && (
        <progress
          value={Math.min(passed, all)}
          max={all}
          aria-label={`Time of ${phases[phase]} that has passed`}
        />
      )}
      <p>
        {progressText(load)} <bdi>{plain(said, 400)}</bdi>
      </p>
    </div>
  );
}
