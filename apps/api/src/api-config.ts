/** Injection token of the process's settings, {@link ApiConfig} of `@app/runtime`. */
export const API_CONFIG = Symbol('ApiConfig');
