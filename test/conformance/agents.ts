/** Registration and status of agents (docs/protocol.md, section 13). */
import { expect, test } from 'vitest';
import { agentOf, register, status } from '../support/service/signer.js';
import {
  begin,
  expectError,
  expectSuccess,
  type Start,
  TIMESTAMP,
} from '../support/service/world.js';

const statuses = ['active', 'inactive', 'maintenance'];

export function agentTests(start: Start): void {
  test('register: 201 with agent_id, registration_time and status active', async () => {
    const world = await begin(start);
    const agent = agentOf('Ada');
    const answer = await world.send(register(agent));
    expect(expectSuccess(answer, 201)).toEqual({
      agent_id: agent.agentId,
      registration_time: TIMESTAMP,
      status: 'active',
    });
  });

  test.each([
    [['validator']],
    [['producer']],
    [['producer', 'validator']],
  ])('register: lists the agent by its capabilities %j', async (capabilities) => {
    const world = await begin(start);
    const agent = await world.join('Ada', { capabilities });
    const { validators, producers } = await world.read('/api/v1/network/agents');
    const ids = (list: unknown) => (list as { id: string }[]).map(({ id }) => id);
    expect(ids(validators)).toEqual(capabilities.includes('validator') ? [agent.agentId] : []);
    expect(ids(producers)).toEqual(capabilities.includes('producer') ? [agent.agentId] : []);
  });

  test('register: a repeat is a duplicate; other data for the key is refused', async () => {
    const world = await begin(start);
    const agent = agentOf('Ada');
    const first = await world.do(register(agent));
    expect(await world.do(register(agent), 200)).toEqual({ ...first, duplicate: true });
    const other = await world.send(register(agent, { name: 'Bob' }));
    expectError(other, 409, 'INVALID_REQUEST', 'AGENT_EXISTS');
  });

  test('register: the description and the key header are optional', async () => {
    const world = await begin(start);
    const request = register(agentOf('Ada'), { description: undefined });
    const { 'X-Agent-Public-Key': _, ...headers } = request.headers;
    await world.do({ ...request, headers });
    const { agentId } = agentOf('Ada');
    expect((await world.read(`/api/v1/agents/${agentId}`)).description).toBe('');
  });

  test('status: changes between all three statuses', async () => {
    const world = await begin(start);
    const agent = await world.join('Ada');
    let previous_status = 'active';
    for (const wanted of [...statuses, ...statuses.toReversed(), 'maintenance', 'active']) {
      const fields = { status: wanted, reason: 'Rest', expected_duration: 'PT2H' };
      expect(await world.do(status(agent, fields), 200)).toEqual({
        agent_id: agent.agentId,
        ...fields,
        previous_status,
        timestamp: TIMESTAMP,
      });
      previous_status = wanted;
    }
  });

  test('status: reason and expected_duration are optional, and empty by default', async () => {
    const world = await begin(start);
    const agent = await world.join('Ada');
    const data = await world.do(status(agent, { status: 'inactive' }), 200);
    expect(data).toMatchObject({ status: 'inactive', reason: '', expected_duration: '' });
  });

  test('status: 403 for another agent, 404 for an unknown one', async () => {
    const world = await begin(start);
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const fields = { status: 'inactive' };
    const foreign = await world.send(status(ada!, fields, bob!.agentId));
    expectError(foreign, 403, 'INVALID_AGENT', 'NOT_OWNER');
    const unknown = await world.send(status(ada!, fields, agentOf('Stranger').agentId));
    expectError(unknown, 404, 'INVALID_AGENT', 'UNKNOWN_AGENT');
    expect((await world.read(`/api/v1/agents/${bob!.agentId}`)).status).toBe('active');
  });
}
