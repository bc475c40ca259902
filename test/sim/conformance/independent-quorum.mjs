/**
 * Counts the votes of each block by the rules of the protocol, and derives the outcome. Knows the
 * rules of approving and rejecting votes; the checker in Python knows those of ballots.
 */

const policies = ['bft', 'majority', 'veto'];

/** Weights of electors by number, from the written records. */
export function quorumOf(genesis) {
  const electorates = new Map();
  const numbers = new Map();
  const people = new Map();
  const blocks = new Map();

  function see(records) {
    for (const [table, key, value] of records) {
      if (table === 'electorates') electorates.set(key, value);
      if (table === 'agents') {
        numbers.set(value.public_key, value.ordinal);
        people.set(value.ordinal, value.personality);
      }
      if (table !== 'blocks') continue;
      const known = blocks.get(key);
      if (known) known.state = value.state;
      else blocks.set(key, { state: value.state, of: value.context.electorate, cast: new Map() });
    }
  }

  const weightOf = ({ agents, weights }, ordinal) => weights[agents.indexOf(ordinal)];

  function tally({ of, cast }) {
    const electorate = electorates.get(of);
    const sum = (decision) =>
      [...cast]
        .filter(([, voted]) => voted === decision)
        .reduce((all, [ordinal]) => all + weightOf(electorate, ordinal), 0);
    const whole = electorate.weights.reduce((all, weight) => all + weight, 0);
    return { approve: sum('approve'), reject: sum('reject'), whole, electorate };
  }

  function isVetoed({ cast }, { agents }) {
    const groups = Map.groupBy
      ? Map.groupBy(agents, (ordinal) => people.get(ordinal))
      : agents.reduce((all, ordinal) => {
          const name = people.get(ordinal);
          return all.set(name, [...(all.get(name) ?? []), ordinal]);
        }, new Map());
    return [...groups.values()].some(
      (group) => group.length >= 3 && group.every((ordinal) => cast.get(ordinal) === 'reject'),
    );
  }

  function decided(block, { approve, reject, whole, electorate }) {
    if (genesis.policy === 'majority') {
      if (block.cast.size < electorate.agents.length) return 'voting';
      const turnout = (approve + reject) * 10_000;
      if (turnout < genesis.participation_bps * whole) return 'expired';
      return approve > reject ? 'finalized' : 'rejected';
    }
    if (3 * approve > 2 * whole) return 'finalized';
    if (3 * reject >= whole) return 'rejected';
    return genesis.policy === 'veto' && isVetoed(block, electorate) ? 'rejected' : 'voting';
  }

  return {
    see,
    /** The response to an accepted vote must equal the count. */
    check(where, { public_key, body }, data) {
      if (!policies.includes(genesis.policy)) return;
      const { block_hash, decision } = JSON.parse(body);
      const block = blocks.get(block_hash.toLowerCase());
      block.cast.set(numbers.get(public_key.toLowerCase()), decision);
      const counted = tally(block);
      const { approve, reject, whole } = counted;
      const found = [data.tally.approve, data.tally.reject, data.tally.electorate];
      const expected = [approve, reject, whole, decided(block, counted)];
      if (`${[...found, data.block_status]}` === `${expected}`) return;
      throw new Error(`${where}: ${JSON.stringify(data)}, counted ${expected}`);
    },
  };
}
