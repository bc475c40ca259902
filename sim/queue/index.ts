/** Runs over machines: offered by a coordinator, done by workers. Loaded only with `--queue`. */
export { type OfferOptions, offeredIn } from './offer.js';
export { type ServeOptions, serveQueues } from './serve.js';
export { QueueError } from './told.js';
