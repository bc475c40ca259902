// Writes all checkpoints for a network.
import { History } from 'folkmoot';

const [path, checkpoints] = process.argv.slice(2);
const history = History.open({ path, checkpoints, spacing: 16, share: 1 });
await history.prepare();
process.stdout.write(`${history.checkpoints.problem ?? 'whole'}\n`);
await history.close();
