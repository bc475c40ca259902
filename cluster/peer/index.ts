/** What nodes give each other, beside the order: the data of one for another that is behind. */
export { type CatchUpOptions, catchUp } from './catch-up.js';
export { checkedSecret } from './secret.js';
export { PeerServer, type PeerServerOptions } from './server.js';
