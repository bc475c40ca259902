/** What is kept of a network beside its rows: within bounds, the first of each first. */
import type { ServedNetwork } from '../../engine/internal.js';
import type { ScenarioShown } from '../contract/shown.js';
import type { Kept, Scores } from '../view/kept.js';
import type { Overview, Span } from '../view/model.js';

/** Of all proposals as JSON, and of all memes as they were posted: what is beyond is left out. */
const PROPOSAL_CHARACTERS = 1_000_000;
const MEME_BYTES = 256 * 1024;

interface KeptOptions {
  overview: Overview;
  spans: readonly Span[];
  /** Where the scenario is known. */
  groups: ScenarioShown['groups'] | undefined;
}

export function keptOf(
  { read, genesis, epoch }: ServedNetwork,
  { overview, spans, groups }: KeptOptions,
): Kept {
  const introduced = spans.map((span) => span.introduced);
  const { network_id, policy, weights, participation_bps } = genesis;
  return {
    network: { network_id, epoch, policy, weights, participation_bps },
    quiet: quietOf(read, spans),
    overview,
    agents: agentsOf(
      read,
      introduced.flatMap(({ agents }) => agents.map(({ id }) => id)),
    ),
    groups: groups ? groupsOf(introduced, groups) : null,
    proposals: proposalsOf(
      read,
      introduced.flatMap(({ blocks }) => blocks.map(({ entry }) => entry)),
    ),
    memes: memesOf(
      read,
      introduced.flatMap(({ memes }) => memes.map(({ id }) => id)),
    ),
  };
}

function groupsOf(
  introduced: readonly Span['introduced'][],
  groups: ScenarioShown['groups'],
): Kept['groups'] {
  const places = new Map(groups.flatMap(({ agents }, place) => agents.map((id) => [id, place])));
  const ids = introduced.flatMap(({ agents }) => agents.map(({ id }) => id));
  return { names: groups.map(({ name }) => name), of: ids.map((id) => places.get(id) ?? -1) };
}

type Read = ServedNetwork['read'];

function quietOf(read: Read, spans: readonly Span[]): Kept['quiet'] {
  const quiet: Kept['quiet'] = { entries: [], at: [] };
  let next = 0;
  const until = (entry: number) => {
    for (; next < entry; next += 1) {
      quiet.entries.push(next);
      quiet.at.push(read.log.entry(next)!.at);
    }
  };
  for (const { from, to, rows } of spans) {
    for (const offset of rows.entry) {
      until(from + offset);
      next = from + offset + 1;
    }
    until(to + 1);
  }
  return quiet;
}

function agentsOf(read: Read, ids: readonly string[]): Kept['agents'] {
  const kept: Kept['agents'] = { description: [], reason: [], scores: [] };
  for (const id of ids) {
    const { description, reason } = read.agent(id)!;
    kept.description.push(description);
    kept.reason.push(reason);
    const scores = Object.values(read.reputation(id)!).map((score) => Math.round(score * 10) / 10);
    kept.scores.push(scores as Scores);
  }
  return kept;
}

function proposalsOf(read: Read, entries: readonly number[]): Kept['proposals'] {
  let left = PROPOSAL_CHARACTERS;
  return entries.map((entry) => {
    if (left <= 0) return null;
    const { body } = read.signed(entry);
    const proposal = unsigned(body);
    left -= JSON.stringify(proposal).length;
    return left < 0 ? null : proposal;
  });
}

/** A signature without all that was signed proves nothing: those are in the log. */
function unsigned({ signature: _, transactions, ...rest }: Record<string, unknown>) {
  const list = Array.isArray(transactions) ? (transactions as Record<string, unknown>[]) : [];
  return { ...rest, transactions: list.map(({ signature: __, ...transaction }) => transaction) };
}

function memesOf(read: Read, ids: readonly string[]): Kept['memes'] {
  const kept: Kept['memes'] = {};
  let left = MEME_BYTES;
  for (const [number, id] of ids.entries()) {
    const { bytes } = read.memeContent(id) ?? {};
    if (!bytes || bytes.length > left) continue;
    left -= bytes.length;
    kept[number] = textIn(bytes) ?? { base64: Buffer.from(bytes).toString('base64') };
  }
  return kept;
}

function textIn(bytes: Uint8Array): { text: string } | null {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return null;
  }
}
