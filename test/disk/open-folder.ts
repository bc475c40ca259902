/** Opens a folder in this process, as a server does, and returns the end of its log. */
import { createVerifier, Network } from 'folkmoot';
import { openForReading } from '../support/runs.js';

export async function reopened(path: string): Promise<{ seq: number }> {
  const verifier = createVerifier('off');
  const network = await Network.open({
    path,
    genesis: { network_id: 'devnet' },
    verifier,
    onFatal: (error) => {
      throw error;
    },
  });
  await network.close();
  await verifier.close();
  const store = openForReading(path);
  const seq = store.meta()?.seq ?? -1;
  await store.close();
  return { seq };
}
