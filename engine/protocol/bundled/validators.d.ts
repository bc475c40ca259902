/**
 * Validators of what the protocol is sent: code that ajv writes out of the schemas at the end of
 * the build (tools/bundle.mjs), so that no start compiles, and no page needs `new Function`.
 */
/** A validator that ajv writes. Declared here, because ajv is not installed with the package. */
export interface Validate {
  (value: unknown): boolean;
  errors?:
    | { instancePath: string; message?: string; params: Record<string, unknown> }[]
    | null
    | undefined;
}

/** By kind of request, and `genesis`. */
export declare const validators: Readonly<Record<string, Validate>>;
