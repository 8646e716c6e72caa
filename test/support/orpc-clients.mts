import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import type { ContractRouterClient } from '@orpc/contract';
import { OpenAPILink } from '@orpc/openapi-client/fetch';
import { createORPCClient as createOldClient } from 'orpc-client-1.2';
import { RPCLink as OldLink } from 'orpc-client-1.2/fetch';
import { createORPCClient as createNextClient } from 'orpc-client-2';
import { RPCLink as NextLink } from 'orpc-client-2/fetch';
import { contract } from '../../libs/contracts/src/orpc-contract.mjs';

export type Client = ContractRouterClient<typeof contract>;
/** The input type of an operation in the typed client. */
export type Input<Operation extends keyof Client['items']> = Parameters<Client['items'][Operation]>[0];
type Connect = (base: string, headers?: Record<string, string>) => Client;

const urlOf = (base: string): string => `${base}/api/orpc`;

export const rpc: Connect = (base, headers = {}) => createORPCClient(new RPCLink({ url: urlOf(base), headers }));
export const openApi: Connect = (base, headers = {}) =>
  createORPCClient<Client>(new OpenAPILink(contract, { url: urlOf(base), headers }));

// These have the client types of their own versions.
export const oldRpc: Connect = (base, headers = {}) =>
  createOldClient(new OldLink({ url: urlOf(base), headers })) as unknown as Client;
/** The wire format of version 2 differs in errors and in the names of native types. */
export const nextRpc: Connect = (base, headers = {}) =>
  createNextClient(new NextLink({ origin: base, url: '/api/orpc', headers })) as unknown as Client;

/** The clients that understand the service's errors: all but version 2, which has not been released yet. */
export const CLIENTS: [name: string, connect: Connect][] = [
  ['RPCLink 1.16', rpc],
  ['RPCLink 1.2', oldRpc],
  ['OpenAPILink 1.16', openApi],
];

/** Returns the public properties of the error that a call rejects with. Throws if the call succeeds. */
export async function rejectionOf(call: Promise<unknown>): Promise<Record<string, unknown>> {
  const error = await call.then(
    (value) => {
      throw new Error(`expected the call to reject, got ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
  const { code, status, message, defined, data } = error as Record<string, unknown>;
  return { code, status, message, defined, data };
}
