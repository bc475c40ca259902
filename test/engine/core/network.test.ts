/** A network without activity, and its shared responses. */
import { populated } from '../helpers.js';

const both = ['validator', 'producer'] as const;

populated('network: writes nothing while idle or with empty blocks', async (population) => {
  const ada = await population.join(both);
  await population.vote(ada, await population.open(ada));
  const before = population.network.read.position;
  expect(population.network.nextDeadline()).toBeNull();
  await population.at(3_600_000);
  expect(population.network.read.position).toEqual(before);
});

populated('reads: shared responses are frozen', async (population) => {
  await population.join();
  const { read } = population.network;
  const { validators } = read.activeAgents();
  expect(() => Object.assign(read.networkState(), { block_height: 9 })).toThrow(TypeError);
  expect(() => validators.splice(0)).toThrow(TypeError);
  expect(read.activeAgents().validators).toHaveLength(1);
});
