/**
 * What may be left out of a run: memes about the block, its electors, and alliances that were
 * active when it was proposed. They are ranked by the run as it went: the best few are tried.
 */
import type { DecisionLine } from '../../measure/index.js';
import type { Intervention } from '../../scenario/schema/interventions/interventions.js';
import type { Evidence, MemeAbout } from '../evidence.js';

export type CandidateKind = 'meme' | 'agent' | 'alliance';

export interface Candidate {
  kind: CandidateKind;
  id: string;
  name: string;
  /** Votes of the run that hang on it directly: by which it is tried before others. */
  votes: number;
  /** What leaves it out. */
  intervention: Intervention;
  /** From when on chance is drawn anew, milliseconds of the run: the last moment before it acts. */
  fromMs: number;
}

/** The lead is longer than a slow message by this: two windows, in which members are called. */
const WINDOWS_MS = 100;

/**
 * Kinds in turn, the best of each first.
 *
 * @param slowMs how long a slow message takes: members' leaving has to arrive before the proposal.
 */
export function candidatesOf(
  evidence: Evidence,
  lines: readonly DecisionLine[],
  kinds: readonly CandidateKind[],
  slowMs: number,
): Candidate[] {
  const { block, startedAt } = evidence;
  const proposedMs = block.proposed_at - startedAt;
  const of: Record<CandidateKind, () => Candidate[]> = {
    meme: () => memesOf(evidence, lines),
    agent: () => agentsOf(evidence, lines, proposedMs),
    alliance: () => alliancesOf(evidence, proposedMs, slowMs + WINDOWS_MS),
  };
  const ranked = kinds.map((kind) => of[kind]().sort((a, b) => b.votes - a.votes));
  const longest = Math.max(0, ...ranked.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) =>
    ranked.flatMap((list) => list[at] ?? []),
  ).flat();
}

/** Before anybody has heard of it: nothing travels within the instant in which it is posted. */
function memesOf({ memes, startedAt }: Evidence, lines: readonly DecisionLine[]): Candidate[] {
  const turned = turnedBy(lines);
  return memes.map((meme) => {
    const fromMs = meme.posted_at - startedAt + 1;
    return {
      kind: 'meme',
      id: meme.meme_id,
      name: `by ${meme.author}`,
      votes: turned.get(meme.meme_id) ?? 0,
      intervention: { kind: 'mute', meme: meme.meme_id, at_ms: fromMs },
      fromMs,
    };
  });
}

/** Whose votes come first are heard by most. */
function agentsOf(
  { electors, votes, memes }: Evidence,
  lines: readonly DecisionLine[],
  proposedMs: number,
): Candidate[] {
  const turned = turnedBy(lines);
  const order = new Map(votes.map(({ elector }, place) => [elector, place]));
  return electors.map(({ agent_id, name }, elector) => {
    const place = order.get(elector);
    const own = memes.filter(({ creator }) => creator === agent_id);
    const fromMs = proposedMs + 1;
    return {
      kind: 'agent',
      id: agent_id,
      name,
      votes:
        sumOf(own, ({ meme_id }) => turned.get(meme_id) ?? 0) +
        (place === undefined ? 0 : 2 - place / votes.length),
      intervention: { kind: 'silence', whom: [{ agent: name }], at_ms: fromMs },
      fromMs,
    };
  });
}

/** Dissolved as late as its members can leave before the proposal, but once it is active. */
function alliancesOf(
  { alliances, electors, votes, startedAt }: Evidence,
  proposedMs: number,
  leadMs: number,
): Candidate[] {
  const voters = new Set(votes.map(({ elector }) => electors[elector]!.agent_id));
  return alliances.map(({ alliance_id, purpose, members, since }) => ({
    kind: 'alliance',
    id: alliance_id,
    name: purpose,
    votes: members.filter((id) => voters.has(id)).length,
    intervention: {
      kind: 'dissolve',
      alliance: alliance_id,
      at_ms: Math.max(since - startedAt + 1, proposedMs - leadMs),
    },
    fromMs: proposedMs + 1,
  }));
}

function turnedBy(lines: readonly DecisionLine[]): Map<string, number> {
  const turned = new Map<string, number>();
  for (const { turned_by } of lines) {
    for (const id of turned_by ?? []) turned.set(id, (turned.get(id) ?? 0) + 1);
  }
  return turned;
}

const sumOf = (memes: readonly MemeAbout[], of: (meme: MemeAbout) => number): number =>
  memes.reduce((sum, meme) => sum + of(meme), 0);
