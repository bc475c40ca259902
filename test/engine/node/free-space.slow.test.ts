/** A disk that fills up. Below the limit, writes are refused and reads continue. */
import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { composeRegister, createVerifier, formatInstant, Network, type Signatory } from 'folkmoot';
import { START_MS } from '../../support/citizens.js';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';

const timestamp = formatInstant(START_MS);
const registration = (by: Signatory) =>
  composeRegister(by, timestamp, {
    ...{ personality: 'lawful', name: 'Ada', capabilities: ['validator', 'producer'] },
  });

test('disk: refuses writes below the limit, accepts them when there is space again', async () => {
  const folder = temporaryFolder();
  const mebibyte = 2 ** 20;
  const free = () => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  const verifier = createVerifier('inline');
  const network = await Network.open({
    ...{ path: join(folder, 'network'), genesis: { network_id: 'devnet' }, verifier },
    freeSpaceBytes: free() - 400 * mebibyte,
  });
  const submit = async (number: number) =>
    network.submit(await network.verify(registration(signatoryOf(number))));
  const ballast = join(folder, 'ballast');
  try {
    expect(await submit(1)).toMatchObject({ result: 'accepted' });
    execFileSync('fallocate', ['-l', '800M', ballast]);
    // The known free space may be slightly stale.
    await sleep(200);
    expect(await submit(2)).toMatchObject({ refusal: { reason: 'DISK_FULL', status: 503 } });
    expect(network.read.networkState().active_validators).toBe(1);
    rmSync(ballast);
    expect(await submit(2)).toMatchObject({ result: 'accepted' });
  } finally {
    await network.close();
    await verifier.close();
  }
});
