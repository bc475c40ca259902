/** `sim --url`: agents join late and leave permanently on a served network. */
import { simulateRemote } from 'folkmoot/sim';
import { live } from '../../client/helpers.js';
import { hurriedScenario } from '../clients/scenarios.js';

test('on a server: agents join and leave on schedule, with a warm-up', async () => {
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
  const result = await simulateRemote(scenario, { url, speed: 20 });
  expect([result.ended_by, result.measures.never_joined]).toEqual(['virtual_ms', 0]);
  expect(result.measured_from_ms).toBe(45_000);
  expect(result.measures.proposed).toBeGreaterThan(0);
  // The log shows the order on a machine of any speed: thirteen agents join, then four join while
  // three leave, and finally the agents that did not leave are withdrawn.
  const { read } = network;
  const changes = [...read.events(1, read.position.event_seq)].flatMap(({ type, data }) =>
    type === 'agent_status' ? [{ agent: data.agent_id, status: data.status }] : [],
  );
  const select = (part: typeof changes, wanted: string) =>
    part.flatMap(({ agent, status }) => (status === wanted ? [agent] : []));
  const first = select(changes.slice(0, 13), 'active');
  const late = select(changes.slice(13, 20), 'active');
  const gone = select(changes.slice(13, 20), 'inactive');
  expect([first.length, late.length, gone.length]).toEqual([13, 4, 3]);
  expect(first).toEqual(expect.arrayContaining(gone));
  const stayed = [...first, ...late].filter((agent) => !gone.includes(agent));
  expect(select(changes.slice(20), 'inactive').sort()).toEqual(stayed.sort());
  expect(read.networkState().active_validators).toBe(0);
});
