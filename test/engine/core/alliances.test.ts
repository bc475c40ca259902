/** Alliances: refused invitations, and the largest alliance. */
import { populated, refusalOf } from '../helpers.js';

populated('alliance: points at an unknown invitee', async (population) => {
  const [ada, bob] = await population.joinMany(2);
  for (const id of [`agent_${'0'.repeat(32)}`, `agent_${'f'.repeat(32)}`]) {
    expect(refusalOf(await population.ally(ada!, [bob!, { ...bob!, id }]))).toMatchObject({
      status: 404,
      pointer: '/target_ids/1',
    });
  }
});

populated('alliance: refuses an invitation of the founder', async (population) => {
  const [ada, bob] = await population.joinMany(2);
  for (const targets of [[bob!, ada!], [ada!]]) {
    expect(refusalOf(await population.ally(ada!, targets))).toMatchObject({
      status: 400,
      pointer: `/target_ids/${targets.length - 1}`,
    });
  }
});

populated('alliance: accepts 31 invitees, which makes 32 members', async (population) => {
  const [ada, ...others] = await population.joinMany(32);
  await population.allied(ada!, others);
  expect(population.told('alliance_update').at(-1)?.members).toHaveLength(32);
});
