/**
 * Validators of request bodies and genesis, which ajv generates at the end of the build
 * (tools/bundle.mjs), so that no process compiles schemas and no page needs `new Function`.
 */
/** A generated validator. Declared here because ajv is not a runtime dependency. */
export interface Validate {
  (value: unknown): boolean;
  errors?:
    | { instancePath: string; message?: string; params: Record<string, unknown> }[]
    | null
    | undefined;
}

/** By kind of request, and `genesis`. */
export declare const validators: Readonly<Record<string, Validate>>;
