/** Vote buying: a cartel offers all agents a price. Sellers then vote with the cartel. */
import type { ScriptModule } from 'folkmoot/sim';

const CARTEL = 'cartel';

export const start: ScriptModule['start'] = ({ me, parameters, neighbours, groupOf }) => {
  if (me.group !== CARTEL) return null;
  const others = neighbours.filter((one) => groupOf(one) !== CARTEL);
  return { do: 'send', to: others, content: { price: Number(parameters.price) } };
};

/** Sells the vote if the price exceeds a random worth. The cartel forms alliances with sellers. */
export const receive: ScriptModule['receive'] = ({ me, memory, shared, message }, rng) => {
  if (me.group === CARTEL) return { do: 'invite', agents: [message!.from] };
  memory.worth ??= rng.real();
  const { price } = message!.content as { price: number };
  if (memory.sold || price <= Number(memory.worth)) return null;
  memory.sold = true;
  shared.sold = Number(shared.sold ?? 0) + 1;
  return { do: 'send', to: [message!.from], content: 'sold' };
};

export const invited: ScriptModule['invited'] = ({ memory }) => ({
  do: 'answer',
  accept: memory.sold === true,
});

export const vote: ScriptModule['vote'] = ({ me, memory, block }) => {
  const own = memory.sold || me.group === CARTEL;
  const approves = own ? block!.producerGroup === CARTEL : block!.soundness === 100;
  return { do: 'vote', decision: approves ? 'approve' : 'reject' };
};

export const produce: ScriptModule['produce'] = ({ me }) => ({
  do: 'propose',
  sound: me.group !== CARTEL,
});

export const report: ScriptModule['report'] = ({ group, groups: [town] }) =>
  group === null || group === CARTEL
    ? null
    : { sold_share: Number(town!.shared.sold ?? 0) / town!.agents.length };
