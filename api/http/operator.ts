/** What an operator asks, who is not limited: metrics and health. */
import { refuse } from '../../engine/internal.js';
import type { Handler } from './handler.js';
import { success } from './response/envelope.js';

export const metrics: Handler = async ({ services }) => ({
  status: 200,
  headers: { 'Content-Type': services.metrics.type },
  body: await services.metrics.text(),
});

export const live: Handler = () => success(200, { status: 'ok' });

export const ready: Handler = ({ services }) => {
  if (!services.ready()) return { refusal: refuse('STOPPING', 'the server is stopping') };
  const cutOffMs = services.network.cutOffMs?.() ?? 0;
  if (cutOffMs === 0) return success(200, { status: 'ok' });
  const message = `this node has not heard of the others for ${Math.trunc(cutOffMs)} ms`;
  return { refusal: refuse('NO_QUORUM', message) };
};
