/**
 * Transcript of a deliberation about a block: agents as rows, rounds as columns. A statement is a
 * remark whose message is JSON (docs/deliberation.md). Remarks come from any agent, so every part
 * is untrusted text.
 */
import type { Message } from '../../api/view/model.js';
import { plural } from '../../report/shared/format.js';
import { useWorkerAnswer } from '../components/entry-data.js';
import { AgentLink, cleanText } from '../components/labels.js';
import { Scroll } from '../components/lists.js';
import { agents, blocks, position, totals } from '../data/store.js';
import type { Whole } from './block-data.js';

interface Statement {
  who: number;
  round: number;
  value: string;
  reason: string;
  stop: boolean;
}

/** Largest table. The list of remarks has all statements. */
const MOST_ROUNDS = 12;
const MOST_AGENTS = 100;

/** Returns null if the message is no statement. */
function parseStatement({ who, text }: Message): Statement | null {
  if (!text.startsWith('{')) return null;
  try {
    const { round, value, reason, stop } = JSON.parse(text) as Record<string, unknown>;
    if (!Number.isSafeInteger(round) || Number(round) < 0 || value === undefined) return null;
    return {
      ...{ who, round: Number(round), stop: stop === true },
      value: typeof value === 'string' ? value : JSON.stringify(value),
      reason: typeof reason === 'string' ? reason : '',
    };
  } catch {
    return null;
  }
}

export function Transcript({ whole: { block, electorate, votes } }: { whole: Whole }) {
  const known = blocks.value.find(({ hash }) => hash === block.block_hash);
  // Most networks have no remarks, and then there is nothing to read.
  const asked =
    known && totals.value!.remarks > 0
      ? {
          ...{ block: known.number, from: known.entry, to: position.value!.entry },
          closedAt: known.closed_at,
        }
      : null;
  const remarks = useWorkerAnswer<Message[]>('remarks', () => asked, `${known?.number}`);
  const statements = (remarks ?? []).flatMap((remark) => parseStatement(remark) ?? []);
  if (statements.length === 0) return null;
  const rounds = [...new Set(statements.map(({ round }) => round))].sort((a, b) => a - b);
  const speakers = [...new Set(statements.map(({ who }) => who))].sort((a, b) => a - b);
  const shown = rounds.slice(0, MOST_ROUNDS);
  const ids = new Map(electorate.map((elector) => [elector.public_key, elector.agent_id]));
  const decisions = new Map(
    votes.map(({ public_key, vote }) => [
      agents.numberOf(ids.get(public_key) ?? ''),
      vote.decision,
    ]),
  );
  const isCut = shown.length < rounds.length || speakers.length > MOST_AGENTS;
  return (
    <section class="panel" aria-labelledby="transcript">
      <header>
        <h2 id="transcript">Transcript</h2>
        <p>
          {plural(statements.length, 'statement')} in {plural(rounds.length, 'round')}
          {isCut && ', cut'}
        </p>
      </header>
      <Scroll name="Transcript of the deliberation">
        <table class="transcript" data-testid="transcript">
          <thead>
            <tr>
              <th scope="col">agent</th>
              {shown.map((round) => (
                <th scope="col" key={round}>
                  round {round}
                </th>
              ))}
              <th scope="col">vote</th>
            </tr>
          </thead>
          <tbody>
            {speakers.slice(0, MOST_AGENTS).map((who) => (
              <tr key={who}>
                <th scope="row">
                  <AgentLink number={who} />
                </th>
                {shown.map((round) => (
                  <Cell
                    key={round}
                    made={statements.filter((one) => one.who === who && one.round === round)}
                  />
                ))}
                <td>{decisions.get(who) ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Cell({ made }: { made: readonly Statement[] }) {
  return (
    <td>
      {made.map(({ value, reason, stop }, place) => (
        <p key={place}>
          <b>
            <bdi>{cleanText(value)}</bdi>
          </b>
          {stop && ' stop'}
          {reason !== '' && (
            <>
              {' '}
              <bdi>{cleanText(reason, 800)}</bdi>
            </>
          )}
        </p>
      ))}
    </td>
  );
}
