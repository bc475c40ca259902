/** `folkmoot agent` and `folkmoot network` against a live server, from keygen to finality. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from 'folkmoot/client';
import { folkmoot } from '../support/cli.js';
import { expectOneLine } from '../support/command.js';
import { freePort, temporaryFolder } from '../support/fixture.js';
import { linesOf } from '../support/runs.js';
import { live } from './helpers.js';

/** Runs a command that must succeed. Returns its output. */
async function done(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await folkmoot(args, { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

interface Someone {
  run<T = Record<string, unknown>>(...args: string[]): Promise<T>;
  env: Record<string, string>;
  id: string;
}

/** Creates a new key in a file. */
async function someone(url: string): Promise<Someone> {
  const key = join(temporaryFolder(), 'agent.json');
  await done({}, 'keygen', '--out', key);
  const env = { FOLKMOOT_URL: url, FOLKMOOT_KEY: key };
  return {
    env,
    id: JSON.parse(readFileSync(key, 'utf8')).agent_id,
    run: async (...args) => JSON.parse(await done(env, ...args)),
  };
}

test('cli: works from keygen to finality, with one JSON object per response', async () => {
  const { url } = await live();
  const [ada, bob] = [await someone(url), await someone(url)];
  const both = ['--capabilities', 'validator,producer'];
  expect(await ada.run('agent', 'register', '--name', 'Ada', ...both)).toMatchObject({
    agent_id: ada.id,
    status: 'active',
  });
  await bob.run('agent', 'register', '--name', 'Bob', '--personality', 'greedy');
  const proposal = ['--tx', 'one', '--tx', 'two', '--set', 'a={"b":[1]}', '--delete', 'c'];
  const { block_hash } = await ada.run<{ block_hash: string }>('agent', 'propose', ...proposal);
  const said = ['agent', 'discuss', block_hash, 'two of them', '--sentiment', 'positive'];
  expect(await bob.run(...said)).toMatchObject({ message: 'two of them', sentiment: 'positive' });

  const picture = join(temporaryFolder(), 'meme.txt');
  writeFileSync(picture, 'approve this');
  const meme = await bob.run<{ meme_id: string }>(
    ...['agent', 'meme', picture, '--caption', 'now', '--tags', 'one,two'],
  );
  expect(meme).toMatchObject({ content: { type: 'text', caption: 'now' }, tags: ['one', 'two'] });
  const vote = ['agent', 'vote', block_hash, 'approve', '--memes', meme.meme_id];
  expect(await ada.run(...vote, '--reason', 'mine')).toMatchObject({ block_status: 'voting' });
  expect(await bob.run(...vote)).toMatchObject({ block_status: 'finalized' });

  expect(await ada.run('network', 'state')).toMatchObject({ head_hash: block_hash });
  const { blocks } = await ada.run<{ blocks: object[] }>(
    ...['network', 'blocks', '--status', 'finalized', '--limit', '1'],
  );
  expect(blocks).toMatchObject([{ block_hash, transactions: 2 }]);
  const { validators } = await ada.run<{ validators: object[] }>('network', 'agents');
  expect(validators.length).toBe(2);
  const reputation = await ada.run('agent', 'reputation');
  expect(reputation.overall_score).toBeGreaterThan(50);
  expect(await bob.run('agent', 'reputation', ada.id)).toEqual(reputation);
});

test('cli: handles alliances and status, and watches from the beginning', async () => {
  const { url } = await live();
  const [ada, bob] = [await someone(url), await someone(url)];
  await ada.run('agent', 'register', '--name', 'Ada');
  await bob.run('agent', 'register', '--name', 'Bob');
  const invite = ['agent', 'ally', 'propose', bob.id, '--purpose', 'calm', '--duration', 'P1D'];
  const { alliance_id: id } = await ada.run<{ alliance_id: string }>(...invite);
  expect(await bob.run('agent', 'ally', 'respond', id, 'accept')).toMatchObject({
    status: 'active',
    duration: 'P1D',
  });
  expect(await bob.run('agent', 'ally', 'leave', id)).toMatchObject({ status: 'dissolved' });
  const pause = ['agent', 'status', 'maintenance', '--expected-duration', 'PT2H'];
  expect(await bob.run(...pause)).toMatchObject({ expected_duration: 'PT2H', reason: '' });
  const watch = ['agent', 'watch', '--since', '0', '--count', '4', '--topics', 'network,social'];
  const lines = linesOf(await done(ada.env, ...watch));
  const events = lines.map((line) => JSON.parse(line) as Event);
  expect(events.map(({ seq, type }) => [seq, type])).toEqual([
    [1, 'agent_status'],
    [2, 'agent_status'],
    [3, 'alliance_update'],
    [4, 'alliance_update'],
  ]);
});

test('cli: skips a server that does not respond', async () => {
  const { url } = await live();
  const closed = `http://127.0.0.1:${await freePort()}`;
  const ada = await someone(`${closed},${url}`);
  await ada.run('agent', 'register', '--name', 'Ada');
  const watch = ['agent', 'watch', '--count', '1', '--since', '0'];
  const [first] = linesOf(await done(ada.env, ...watch));
  expect(JSON.parse(first!)).toMatchObject({ type: 'agent_status', data: { agent_id: ada.id } });
  const both = `${closed},http://127.0.0.1:${await freePort()}`;
  const ended = await folkmoot(['network', 'state', '--url', both]);
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('unreachable')]);
});

test('cli: reports a refusal in one line with code and reason, and exit code 1', async () => {
  const { url, stop } = await live();
  const ada = await someone(url);
  const refused = async (...args: string[]) => {
    const ended = await folkmoot(args, { env: ada.env });
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expectOneLine(ended);
    return ended.stderr;
  };
  expect(await refused('agent', 'status', 'active')).toMatch(
    /INVALID_AGENT UNKNOWN_KEY: .*; .*folkmoot agent register --name NAME/,
  );
  expect(await refused('agent', 'watch')).toMatch(/ not registered at http.*agent register/);
  await ada.run('agent', 'register', '--name', 'Ada');
  const topics = ['agent', 'watch', '--topics', 'gossip'];
  expect(await refused(...topics)).toMatch(/INVALID_REQUEST UNKNOWN_TOPIC: .*gossip/);
  await stop();
  expect(await refused('network', 'state')).toMatch(/unreachable: .*ECONNREFUSED/);
  expect(await refused('agent', 'watch')).toMatch(/unreachable: .*ECONNREFUSED/);
});
