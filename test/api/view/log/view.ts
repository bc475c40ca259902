/** Views of networks that tests open by the package's door. */
import type { KeptNetwork, Network } from 'folkmoot';
import { ViewLog, type ViewLogOptions } from '../../../../dist/api/view/log/view-log.js';

/** The built one: the types of sources and of what was built from them differ by name only. */
export const viewOf = (network: Network | KeptNetwork, options?: ViewLogOptions): ViewLog =>
  new ViewLog(network as never, options);
