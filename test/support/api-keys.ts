import { ApiKeyRepository, type Database } from '@app/database';

/** Creates an API key with the scope of creates, which is valid for longer than a test takes. Returns it. */
export async function createApiKey(database: Database, owner: string): Promise<string> {
  const expiresAt = new Date(Date.now() + 600_000);
  return (await new ApiKeyRepository(database).create({ owner, scopes: ['items:create'], expiresAt })).key;
}
