/** Tasks that many machines do: offered by one host, claimed by workers, all by way of an etcd. */
export { type Claim, QueueClaims, type Stored } from './claims.js';
export { type Named, QueueHost, queuesIn } from './host.js';
export { isTaskName, LARGEST_BYTES, taskName } from './keys.js';
export { Ended, persist } from './persist.js';
