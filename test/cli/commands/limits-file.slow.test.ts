/** `serve --limits-file`: an operator's own figures are in force, shown, and checked at start. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentClient, type ApiError, generateKeys } from 'folkmoot/client';
import { expect, test } from 'vitest';
import { served } from '../../own-client/start-server.js';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';

function fileWith(text: string): string {
  const file = join(temporaryFolder(), 'limits.json');
  writeFileSync(file, text);
  return file;
}

test("serve --limits-file: its figures stand in place of the profile's", async () => {
  const file = fileWith('{"register": 3, "status": 2}');
  // The last profile that is given counts.
  const { url } = await served('--limits', 'spec', '--limits-file', file);
  const agents = Array.from({ length: 4 }, () => new AgentClient({ url, keys: generateKeys() }));
  const registered = await Promise.all(
    agents.map((agent, number) =>
      agent
        .register({ personality: 'lawful', name: `Agent ${number}`, capabilities: ['validator'] })
        .then(() => 201)
        .catch((error: unknown) => (error as ApiError).status),
    ),
  );
  expect(registered.sort()).toEqual([201, 201, 201, 429]);

  const other = await served('--limits', 'spec');
  const [own, normal] = await Promise.all([quotas(url), quotas(other.url)]);
  expect(own).toEqual({ ...normal, register: 3, status: 2 });
  expect([normal.register, normal.status]).toEqual([1, 30]);
});

/** What the server shows: how much of each limit there is. */
async function quotas(url: string): Promise<Record<string, number>> {
  const { data } = (await (await fetch(`${url}/api/v1/meta`)).json()) as {
    data: { limits: { windows: Record<string, { quota: number }> } };
  };
  return Object.fromEntries(
    Object.entries(data.limits.windows).map(([name, { quota }]) => [name, quota]),
  );
}

test.each([
  ['{"votes": 3}', 'votes is no limit; there are '],
  ['{"vote": 0}', 'vote is not a whole number from 1 to '],
  ['{"vote": "3"}', 'vote is not a whole number from 1 to '],
  ['[3]', 'expected an object such as {"vote": 20}'],
  ['{"vote": ', 'JSON'],
])('serve --limits-file: %s is a usage error that says what is wrong', async (text, why) => {
  const file = fileWith(text);
  const data = join(temporaryFolder(), 'data');
  const ended = await folkmoot(['serve', '--port', '0', '--data', data, '--limits-file', file]);
  expectOneLine(ended);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain(`--limits-file ${file}: `);
  expect(ended.stderr).toContain(why);
});

test('serve --limits-file: a file that is not there is a usage error', async () => {
  const ended = await folkmoot(['serve', '--port', '0', '--limits-file', 'nowhere/limits.json']);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('nowhere/limits.json');
});
