/**
 * Validators for request bodies and genesis. Ajv generates them at the end of the build
 * (tools/bundle.mjs), so that no process compiles schemas and no page needs `new Function`.
 */
/** A generated validator. Declared here because ajv is not a runtime dependency. */
export interface Validate {
  (value: unknown): boolean;
  errors?:
    | {
        keyword: string;
        instancePath: string;
        message?: string;
        params: Record<string, unknown>;
      }[]
    | null
    | undefined;
}

/** The parts of a schema that name members. A page loads these instead of the schemas. */
export interface Shape {
  properties?: Readonly<Record<string, Shape>>;
  patternProperties?: Readonly<Record<string, Shape>>;
  items?: Shape;
  anyOf?: readonly Shape[];
}

/** Validators by request kind, plus `genesis`. */
export declare const validators: Readonly<Record<string, Validate>>;
/** Shapes of the validators' schemas, by the same names. */
export declare const shapes: Readonly<Record<string, Shape>>;
