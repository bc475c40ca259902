/** /api/v1/meta: the network's parameters and position, and the limits in force. */
import { shownLimits } from '../../contract/limit-table.js';
import type { Handler } from '../handler.js';
import { success } from '../response/envelope.js';

export const meta: Handler = ({ services: { network, limits, version } }) => {
  const { schema_version, epoch, seq, event_seq, digest, log_digest } = network.read.position;
  const { profile, figures } = limits;
  return success(200, {
    version,
    ...network.genesis,
    epoch,
    schema_version,
    seq,
    event_seq,
    digest,
    log_digest,
    durable: network.durableOnDisk,
    limits: { profile, ...shownLimits(figures) },
  });
};
