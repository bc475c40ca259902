/** `sim --url`: agents join late and leave permanently on a served network. */
import { simulateRemote } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { live } from '../../client/helpers.js';
import { hurriedScenario } from '../clients/scenarios.js';

test('joining, leaving and a warm-up by schedule, on a server', async () => {
  const { url, network } = await live({ genesis: { voting_period_ms: 2_000 } });
  const others = { personality: ['lawful'], traits: { think_ms: 300 } };
  const length = { virtual_ms: 90_000 };
  const measure = { warmup_ms: 45_000 };
  const agents = [
    { group: 'town', count: 10, producers: 2, traits: { think_ms: 300 } },
    { group: 'late', count: 4, join: { start_ms: 30_000, over_ms: 1_000 }, ...others },
    { group: 'going', count: 3, leave: { at_ms: 30_000, over_ms: 1_000 }, ...others },
  ];
  const scenario = hurriedScenario({ agents, length, measure });
  const states: number[] = [];
  const onProgress = () => states.push(network.read.networkState().active_validators);
  const result = await simulateRemote(scenario, { url, speed: 20 }, { onProgress });
  expect([result.ended_by, result.measures.never_joined]).toEqual(['virtual_ms', 0]);
  expect(result.measured_from_ms).toBe(45_000);
  expect(result.measures.proposed).toBeGreaterThan(0);
  // There are thirteen agents at first. Later some have left, and others have joined at about that
  // time.
  expect(states).toContain(13);
  expect(states.at(-1)).toBe(14);
  // All agents are withdrawn. The agents that left withdrew themselves.
  expect(network.read.networkState().active_validators).toBe(0);
});
