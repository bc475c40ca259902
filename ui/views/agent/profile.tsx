/** What is known of an agent: of itself, and its five scores. */
import { shown } from '../../../report/shared/numbers.js';
import { agents, clock } from '../../data/store.js';
import { reputationOf } from '../../parts/grid/words.js';
import { Fact } from '../../parts/lists/fact.js';
import { moment } from '../../parts/moment.js';
import { data, useFetched } from '../../parts/server/api.js';
import { Failed } from '../../parts/server/states.js';
import { plain } from '../../parts/text.js';

interface AgentData {
  description: string;
  reason: string;
  registration_time: string;
}
type Scores = Record<keyof typeof scores, number>;

const scores = {
  overall_score: 'overall',
  meme_quality: 'memes',
  decision_consistency: 'decisions',
  peer_ratings: 'peers',
  alliance_strength: 'alliances',
} as const;

export function Profile({ number }: { number: number }) {
  const { id, public_key, validator, producer } = agents.rows[number]!;
  const path = encodeURIComponent(id);
  // Scores change by its votes and memes: then they are asked for anew.
  const turn = agents.votes[number]! + agents.memes[number]!;
  const [fetched, again] = useFetched(`${id} ${turn}`, async () => ({
    agent: await data<AgentData>(`/api/v1/agents/${path}`),
    scores: await data<Scores>(`/api/v1/social/reputation/${path}`),
  }));
  const here = fetched.is === 'here' ? fetched.data : null;
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
          {here && here.agent.reason !== '' && (
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
          <p>of 100{clock.value.mode === 'live' ? '' : '; the bars as of the newest entry'}</p>
        </header>
        {fetched.is === 'failed' && <Failed why={fetched.why} onAgain={again} />}
        <table class="scores">
          <caption class="unseen">Scores, of 100</caption>
          <tbody>
            {here ? (
              Object.entries(scores).map(([name, text]) => (
                <Score key={name} text={text} value={here.scores[name as keyof Scores]} />
              ))
            ) : (
              <Score text="overall" value={reputationOf(number)} />
            )}
          </tbody>
        </table>
      </section>
    </div>
  );
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
