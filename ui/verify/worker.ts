/** The worker that recomputes blocks and logs. The page loads this worker on first use. */
import './buffer.js';
import { RuleUnavailable } from '../../dist/engine/rules/network-rule.js';
import { PageError } from '../messages.js';
import { checkBlock } from './block.js';
import type { FromVerifier, Progress, ToVerifier } from './messages.js';
import { certify, recompute } from './recompute.js';

const port = self as unknown as {
  postMessage(message: FromVerifier): void;
  onmessage: ((event: MessageEvent<ToVerifier>) => void) | null;
};
const stopped = new Set<number>();

async function act(message: ToVerifier): Promise<void> {
  const { id } = message;
  if (message.do === 'stop') stopped.add(id);
  else if (message.do === 'block') {
    port.postMessage({ is: 'block', id, result: await checkBlock(message.block) });
  } else {
    const { origin } = message;
    const tell = (progress: Progress) => port.postMessage({ is: 'progress', id, progress });
    if (message.do === 'certify') {
      const result = await certify(origin, message.block, tell);
      return port.postMessage({ is: 'certificate', id, result });
    }
    const over = () => stopped.has(id);
    const { signatures } = message;
    const result = await recompute(origin, { signatures, tell, stopped: over });
    if (result) port.postMessage({ is: 'recomputed', id, result });
  }
}

port.onmessage = ({ data }) => {
  act(data).catch((error: unknown) => {
    const shown =
      error instanceof RuleUnavailable
        ? new PageError('RULE_NOT_RUN', { policy: error.policy })
        : error;
    const why = shown instanceof Error ? shown.message : String(shown);
    port.postMessage({ is: 'failed', id: data.id, why });
  });
};
