/** The part of d3-force that the page uses. The package has no types of its own. */
declare module 'd3-force' {
  export interface Body {
    x?: number;
    y?: number;
  }
  interface Force {
    strength(value: number): this;
  }
  interface LinkForce extends Force {
    distance(value: number): this;
  }
  interface BodyForce extends Force {
    distanceMax(value: number): this;
  }
  interface Simulation {
    force(name: string, force: Force): this;
    alpha(): number;
    alphaMin(): number;
    stop(): this;
    tick(): this;
  }
  export function forceSimulation(nodes: Body[]): Simulation;
  export function forceLink(links: { source: number; target: number }[]): LinkForce;
  export function forceManyBody(): BodyForce;
  export function forceX(): Force;
  export function forceY(): Force;
}
