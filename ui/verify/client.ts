/** The page's connection to the verify worker. The worker starts on first use. */
import { home } from '../home.js';
import { PageError } from '../messages.js';
import type {
  BlockChecked,
  BlockToCheck,
  FromVerifier,
  Progress,
  Recomputed,
  ToVerifier,
} from './messages.js';

interface PendingCheck {
  resolve(answer: never): void;
  reject(error: Error): void;
  progress?(progress: Progress): void;
}

let worker: Worker | null = null;
let last = 0;
const waiting = new Map<number, PendingCheck>();

function tell(message: ToVerifier): void {
  worker ??= started();
  worker.postMessage(message);
}

function started(): Worker {
  const made = home.startWorker('verify');
  made.onmessage = ({ data }: MessageEvent<FromVerifier>) => {
    const asked = waiting.get(data.id);
    if (data.is === 'progress') return asked?.progress?.(data.progress);
    waiting.delete(data.id);
    if (data.is === 'failed') asked?.reject(new Error(data.why));
    else asked?.resolve(data.result as never);
  };
  made.onerror = () => {
    for (const asked of waiting.values()) {
      asked.reject(new PageError('VERIFIER_NOT_LOADED'));
    }
    waiting.clear();
    worker = null;
  };
  return made;
}

export function checkBlock(block: BlockToCheck): Promise<BlockChecked> {
  return asked((id) => tell({ do: 'block', id, block }));
}

/** Builds a block's certificate in the browser, from the log up to the block's closing. */
export function fetchCertificate(
  block: string,
  progress: (progress: Progress) => void,
): Promise<string> {
  const { origin } = location;
  return asked((id) => tell({ do: 'certify', id, origin, block }), progress);
}

/** Recomputes the server's whole log in the browser. */
export function recomputeInWorker(
  signatures: boolean,
  progress: (progress: Progress) => void,
): { result: Promise<Recomputed>; stop: () => void } {
  const { origin } = location;
  const result = asked<Recomputed>(
    (id) => tell({ do: 'recompute', id, origin, signatures }),
    progress,
  );
  const id = last;
  const stop = () => {
    waiting.delete(id);
    tell({ do: 'stop', id });
  };
  return { result, stop };
}

function asked<T>(send: (id: number) => void, progress?: PendingCheck['progress']): Promise<T> {
  last += 1;
  const id = last;
  return new Promise<T>((resolve, reject) => {
    waiting.set(id, { resolve, reject, ...(progress ? { progress } : {}) });
    send(id);
  });
}
