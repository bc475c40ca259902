/**
 * An eclipse attack (Heilman, Kendler, Zohar and Goldberg 2015). Each agent keeps a small table of
 * peers, in which every announcement replaces an entry. Agents consider these peers' votes.
 */
import type { ScriptModule } from 'folkmoot/sim';

const ATTACKERS = 'attackers';
const PEERS = 4;
const PERIOD_MS = 10_000;
const HURRY_MS = 2_000;

/** Attackers announce themselves `rate` times as often as other agents. */
export const start: ScriptModule['start'] = (_, rng) => ({ do: 'wake', ms: 1 + rng.int(HURRY_MS) });
export const wake: ScriptModule['wake'] = ({ me, parameters }, rng) => {
  const period = PERIOD_MS / (me.group === ATTACKERS ? Number(parameters.rate) : 1);
  return [
    { do: 'send', content: 'here I am' },
    { do: 'wake', ms: Math.ceil(period / 2) + rng.int(Math.ceil(period)) },
  ];
};

/** Each announcement replaces a random entry. */
export const receive: ScriptModule['receive'] = ({ me, memory, message }, rng) => {
  if (me.group === ATTACKERS) return null;
  const peers = Array.isArray(memory.peers) ? (memory.peers as number[]) : [];
  peers[peers.length < PEERS ? peers.length : rng.int(PEERS)] = message!.from;
  memory.peers = peers;
  return null;
};

/** Attackers reject at once. Other agents judge the content, unless all their peers reject. */
export const hear: ScriptModule['hear'] = ({ me }) => ({
  do: 'wait',
  ms: me.group === ATTACKERS ? 1 : 2_000,
});
export const vote: ScriptModule['vote'] = ({ me, memory, shared, block, groupOf }) => {
  if (me.group === ATTACKERS) return { do: 'vote', decision: 'reject' };
  const against = block!.votes.filter(({ decision }) => decision === 'reject');
  const peers = new Set(memory.peers as number[]);
  const eclipsed =
    peers.size > 0 && against.filter(({ agent }) => peers.has(agent)).length === peers.size;
  if (against.some(({ agent }) => groupOf(agent) === ATTACKERS)) {
    shared.votes = Number(shared.votes ?? 0) + 1;
    shared.eclipsed = Number(shared.eclipsed ?? 0) + Number(eclipsed);
  }
  return { do: 'vote', decision: !eclipsed && block!.soundness === 100 ? 'approve' : 'reject' };
};

/** Counts votes since the attackers joined. */
export const report: ScriptModule['report'] = ({ group, groups: [town] }) =>
  group === null || group === ATTACKERS || !town!.shared.votes
    ? null
    : { eclipsed_share: Number(town!.shared.eclipsed) / Number(town!.shared.votes) };
