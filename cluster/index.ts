/** Networks that several nodes keep: what the command line asks for. */
export { EtcdAddressError, type EtcdTls, endpointsOf, readTls } from './etcd/index.js';
export { type Behind, ClusterNetwork, type ClusterOptions } from './network.js';
export { EtcdOrder } from './order/etcd.js';
export {
  type BadCard,
  type Card,
  type Founding,
  OrderError,
  type Position,
} from './order/order.js';
export { catchUp, checkedSecret, PeerServer } from './peer/index.js';
