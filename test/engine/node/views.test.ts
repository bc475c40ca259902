/** Cached reads, and long reads in slices. */
import { expect, test } from 'vitest';
import { newPopulation, type Population } from '../helpers.js';

/** Computes the active agents from records, without the cache. */
function listed({ network: { read } }: Population) {
  const agents = [...read.records('agents')].map(({ value }) => ({
    id: value.agent_id,
    capabilities: value.capabilities,
    ...read.record('agent_states', value.agent_id)!,
    reputation: read.reputation(value.agent_id)!.overall_score,
  }));
  const active = agents.filter(({ state }) => state === 'active');
  return {
    validators: active
      .filter(({ capabilities }) => capabilities.includes('validator'))
      .map(({ id, reputation }) => [id, reputation]),
    producers: active
      .filter(({ capabilities }) => capabilities.includes('producer'))
      .map(({ id, context }) => [id, context.blocks_produced]),
  };
}

const shown = (list: ReturnType<Population['network']['read']['activeAgents']>) => ({
  validators: list.validators.map(({ id, reputation_score }) => [id, reputation_score]),
  producers: list.producers.map(({ id, blocks_produced }) => [id, blocks_produced]),
});

test('active agents: includes changes between two slices', async () => {
  const population = await newPopulation();
  await population.joinMany(60, ['validator', 'producer']);
  const { read } = population.network;
  for (const pause of [0, 1, 30, 59]) {
    await population.status(population.citizens[pause % 60]!, 'inactive');
    const work = read.activeAgentsInSlices();
    for (let slice = 0; slice < pause; slice += 1) work.next();
    await population.status(population.citizens[pause % 60]!, 'active');
    await population.join(['producer']);
    let next = work.next();
    while (!next.done) next = work.next();
    expect(shown(next.value)).toEqual(listed(population));
    expect(read.activeAgents()).toBe(next.value);
  }
});

test('active agents: a read ends even if agents change at each pause', async () => {
  const population = await newPopulation();
  await population.joinMany(10);
  const work = population.network.read.activeAgentsInSlices();
  let slices = 0;
  for (;;) {
    const next = work.next();
    if (next.done) break;
    slices += 1;
    const one = population.citizens[slices % 10]!;
    await population.status(one, slices % 20 < 10 ? 'inactive' : 'active');
  }
  expect(slices).toBeLessThan(200);
  expect(shown(population.network.read.activeAgents())).toEqual(listed(population));
});
