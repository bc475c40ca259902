/** Opens a folder in this process, as a server does, and returns the end of its log. */
import { createVerifier, Network, openLmdbStore, SCHEMA_VERSION, tables } from 'folkmoot';

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
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const seq = store.meta()?.seq ?? -1;
  await store.close();
  return { seq };
}
