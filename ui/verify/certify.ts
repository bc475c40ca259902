/** The certificate of a block, made here out of the server's log. */
import { checkCertificate } from '../../dist/engine/certificate/check.js';
import { Collector } from '../../dist/engine/certificate/collect.js';
import { certificateText } from '../../dist/engine/certificate/format.js';
import type { Progress } from './messages.js';
import { recompute } from './recompute.js';

const BRIDGE_BYTES = 1024 * 1024;

/** @throws {Error} when none can be made, in words for the reader */
export async function certify(
  origin: string,
  block: string,
  tell: (progress: Progress) => void,
): Promise<string> {
  const collector = new Collector({ block, bridgeBytes: BRIDGE_BYTES });
  const onStep = (step: Parameters<Collector['take']>[0]) => {
    collector.take(step);
    return collector.done;
  };
  const made = await recompute(origin, { signatures: false, tell, stopped: () => false, onStep });
  const parting = made?.parting;
  if (parting) {
    const { entry, field, expected, found } = parting;
    throw new Error(`entry ${entry} does not follow: ${field} is ${found}, recomputed ${expected}`);
  }
  if (collector.problem !== null) throw new Error(collector.problem);
  const text = certificateText(collector.certificate());
  const checked = checkCertificate(text);
  if (checked.holds) return text;
  throw new Error(`the log gives no certificate that holds: ${checked.problem}`);
}
