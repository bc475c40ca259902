/** What is known of an agent: of itself, and its five scores. */
import { shown } from '../../../report/shared/numbers.js';
import { agents, clock } from '../../data/store.js';
import { reputationOf } from '../../parts/grid/words.js';
import { Fact } from '../../parts/lists/fact.js';
import { moment } from '../../parts/moment.js';
import { Failed } from '../../parts/server/states.js';
import { plain } from '../../parts/text.js';
import { type Scores, useStanding } from './standing.js';

const scores: Readonly<Record<keyof Scores, string>> = {
  overall_score: 'overall',
  meme_quality: 'memes',
  decision_consistency: 'decisions',
  peer_ratings: 'peers',
  alliance_strength: 'alliances',
};

export function Profile({ number }: { number: number }) {
  const { id, public_key, validator, producer } = agents.rows[number]!;
  const { fetched, again, last } = useStanding(number, id);
  const here = last?.data ?? null;
  const can = [validator && 'vote', producer && 'propose blocks'].filter(Boolean);
  return (
    <div class="two">
      <section class="panel" aria-label="Profile">
        {here && here.agent.description !== '' && (
          <p class="description">
            <bdi>{plain(here.agent.description, 512)}</bdi>
          </p>
        )}
        <dl class="facts">
          <Fact name="may">{can.length === 0 ? 'look on' : can.join(' and ')}</Fact>
          <Fact name="votes">{shown(agents.votes[number]!)}</Fact>
          <Fact name="memes">{shown(agents.memes[number]!)}</Fact>
          <Fact name="blocks produced">{shown(agents.produced[number]!)}</Fact>
          {here && (
            <Fact name="registered">{moment(Date.parse(here.agent.registration_time))}</Fact>
          )}
          {here?.scores && here.agent.reason !== '' && (
            <Fact name="says of its status">
              <bdi>{plain(here.agent.reason, 160)}</bdi>
            </Fact>
          )}
          <Fact name="id" whole>
            <code>{id}</code>
          </Fact>
          <Fact name="public key" whole>
            <code>{public_key}</code>
          </Fact>
        </dl>
      </section>
      <section class="panel" aria-labelledby="scores">
        <header>
          <h2 id="scores">Reputation</h2>
          <p>of 100{last?.data.scores && whenOf(last.entry)}</p>
        </header>
        {fetched.is === 'failed' && <Failed why={fetched.why} onAgain={again} />}
        {fetched.is === 'coming' && fetched.why && <p role="status">{fetched.why}</p>}
        <table class="scores">
          <caption class="unseen">Scores, of 100</caption>
          <tbody>
            {here?.scores ? (
              Object.entries(here.scores).map(([name, value]) => (
                <Score key={name} text={scores[name as keyof Scores] ?? ''} value={value} />
              ))
            ) : (
              <Score text="overall" value={reputationOf(number)} />
            )}
          </tbody>
        </table>
        {here && !here.scores && (
          <p class="faint">
            What it is made of is known of the newest entry only, here;{' '}
            <code>npx folkmoot explore DIR</code> has it of all.
          </p>
        )}
      </section>
    </div>
  );
}

/** Live, nothing: it is of now, as all that is shown. */
function whenOf(entry: number | null): string {
  if (entry !== null) return `, at entry ${shown(entry)}`;
  return clock.value.mode === 'live' ? '' : ', at the newest entry';
}

function Score({ text, value }: { text: string; value: number }) {
  return (
    <tr>
      <th scope="row" class="scores-name">
        {text}
      </th>
      <td class="bar" aria-hidden="true">
        <span style={{ width: `${Math.max(0, Math.min(100, value))}%` }} />
      </td>
      <td class="number">{shown(Math.round(value * 10) / 10)}</td>
    </tr>
  );
}
