/** Script views of alliances, blocks, remarks, memes and reputation. */
import { live, quiet } from '../fixture.js';
import { honest, scripted } from './fixture.js';

/** Runs the script for 90 s, and returns the reports of the group. */
async function reported(text: string, sections = {}) {
  const { folder, group } = scripted(text);
  const calm = { ...honest, traits: { invites: 0 } };
  const lived = await live([calm, group], { length: { virtual_ms: 90_000 }, ...sections }, folder);
  return lived.result.reported.groups.own!;
}

test('alliances: lists allies and members, of its alliance and of invitations', async () => {
  const own = await reported(
    `
    export const mingle = ({ me, memory, allies, alliances, membersOf }) => {
      const members = alliances.map((one) => membersOf(one).length);
      memory.seen = [allies.length, alliances.length, ...members];
      return me.ordinal === 5 && alliances.length === 0 ? { do: 'invite', agents: [6, 7] } : null;
    };
    export const invited = ({ alliance, membersOf, memory }) => {
      memory.founder = membersOf(alliance)[0];
      memory.stranger = membersOf('gone').length;
      return { do: 'answer', accept: true };
    };
    export const report = ({ group, groups: [own] }) => {
      const { 5: founder, 6: guest } = own.memories;
      const [allies, alliances, members] = founder.seen;
      return group && { allies, alliances_own: alliances, members,
        founder: guest.founder, strangers: guest.stranger };
    };`,
    { social: { ...quiet, alliances: { duration_ms: 600_000 } } },
  );
  expect(own).toEqual({ allies: 2, alliances_own: 1, members: 3, founder: 5, strangers: 0 });
});

test('block: includes its transactions, and remarks and memes of neighbours', async () => {
  const own = await reported(`
    export const hear = ({ me }) => me.ordinal === 5
      ? [
          { do: 'say', stance: 'reject', message: 'no!' },
          { do: 'meme', stance: 'reject', text: 'ha' },
        ]
      : { do: 'wait', ms: 2_000 };
    export const vote = ({ block, shared, me }) => {
      const [remark] = block.remarks;
      shared.remarks = (shared.remarks ?? 0) + block.remarks.length;
      const right = remark?.stance === 'reject' && remark.agent === 5;
      shared.said = Number(right && remark.message === 'no!');
      shared.memes = Number(block.memes[0]?.text === 'ha' && block.memes[0].stance === 'reject');
      const amounts = block.transactions.map((data) => JSON.parse(data).amount > 0);
      const sound = amounts.length > 0 && amounts.every((one) => one);
      shared.sound = Number(sound === (block.soundness === 100));
      return { do: 'vote', decision: 'approve' };
    };
    export const report = ({ group, groups: [own], blocks }) =>
      group && { said: own.shared.said, text: own.shared.memes, sound: own.shared.sound,
        each: own.shared.remarks / (2 * blocks.filter(({ closedMs }) => closedMs).length) };`);
  expect(own).toMatchObject({ said: 1, text: 1, sound: 1 });
  expect(own.each).toBeGreaterThan(0.9);
});

test('reputation: starts at one half, and follows the events', async () => {
  const own = await reported(`
    export const start = ({ memory, reputation }) => { memory.first = reputation; };
    export const vote = ({ memory, reputation }) => {
      memory.last = reputation;
      return { do: 'vote', decision: 'approve' };
    };
    export const report = ({ group, groups: [own] }) =>
      group && { first: own.memories[5].first, last: own.memories[5].last };`);
  expect(own.first).toBe(50);
  expect(own.last).toBeGreaterThan(50);
});
