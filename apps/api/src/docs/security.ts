/** OpenAPI 3.1 security schemes. */
export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A JSON Web Token or an API key, if authentication is on. `create` requires one, with the scope `items:create` by ' +
      'default. Reads require one if the service is configured so, and `getAll` with `userId` requires one of that user.',
  },
} as const;
