/** `serve --limits-file`: limits are applied, shown and checked at the start. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentClient, type ApiError, generateKeys } from 'folkmoot/client';
import { temporaryFolder } from '../../support/fixture.js';
import { host } from '../../support/host.js';

function fileWith(text: string): string {
  const file = join(temporaryFolder(), 'limits.json');
  writeFileSync(file, text);
  return file;
}

test('serve --limits-file: overrides the limits of the profile', async () => {
  const file = fileWith('{"register": 3, "status": 2}');
  // The last --limits wins.
  const { url } = await host({ args: ['--limits', 'spec', '--limits-file', file] });
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

  const other = await host({ args: ['--limits', 'spec'] });
  const [own, normal] = await Promise.all([quotas(url), quotas(other.url)]);
  expect(own).toEqual({ ...normal, register: 3, status: 2 });
  expect([normal.register, normal.status]).toEqual([1, 30]);
});

async function quotas(url: string): Promise<Record<string, number>> {
  const { data } = (await (await fetch(`${url}/api/v1/meta`)).json()) as {
    data: { limits: { windows: Record<string, { quota: number }> } };
  };
  return Object.fromEntries(
    Object.entries(data.limits.windows).map(([name, { quota }]) => [name, quota]),
  );
}
