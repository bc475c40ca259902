/**
 * Observable Plot and a DOM for it. The build bundles this file, so that the package does not
 * depend on their 62 packages.
 */
export {
  areaY,
  axisX,
  axisY,
  barX,
  cell,
  dot,
  gridX,
  gridY,
  line,
  lineY,
  type Markish,
  type PlotOptions,
  plot,
  rect,
  rectY,
  ruleX,
  ruleY,
  text,
} from '@observablehq/plot';
export { parseHTML } from 'linkedom';
