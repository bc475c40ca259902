/** The public list of the live API. */
export { closeCodes, socketLimits, socketPath, topics } from './channels.js';
export { type LimitName, limitNames, type Profile, perMinute } from './limit-table.js';
export type { Exchange } from './observe.js';
export { browserOrigin } from './origins.js';
export { type Route, routes } from './routes.js';
export { servedName } from './served-names.js';
export { type Server, type ServerOptions, startServer } from './server.js';
