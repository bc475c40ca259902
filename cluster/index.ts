/** Networks that several nodes keep: what the command line asks for. */
export { EtcdAddressError, endpointsOf, readTls } from './etcd/index.js';
export { ClusterNetwork, type ClusterOptions } from './network.js';
export { EtcdOrder } from './order/etcd.js';
export { type Card, type Founding, OrderError, type Position } from './order/order.js';
