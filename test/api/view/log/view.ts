/** Views for networks that tests open through the public package. */
import type { KeptNetwork, Network } from 'folkmoot';
import { ViewLog, type ViewLogOptions } from '../../../../dist/api/view/log/view-log.js';

/** The types in the sources and in the built files differ only by name. */
export const viewOf = (network: Network | KeptNetwork, options?: ViewLogOptions): ViewLog =>
  new ViewLog(network as never, options);
