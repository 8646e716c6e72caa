/** Injection token of the process's configuration, `ApiConfig` of `@app/runtime`. */
export const API_CONFIG = Symbol('ApiConfig');
