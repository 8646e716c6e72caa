import { oc } from '@orpc/contract';
import { z } from 'zod';
import { CreateItemInputSchema } from './create-item.js';
import { GetAllInputSchema } from './get-all.js';
import { GetByIdInputSchema } from './get-by-id.js';
import { ItemSchema } from './item.js';

/**
 * The three operations as an oRPC contract, for typed clients: `RPCLink` and `OpenAPILink` both take it, at
 * `{base}/api/orpc`. A client may copy this folder, which needs `zod` and `@orpc/contract` and nothing else; an
 * ES module, as `@orpc/contract` is one. The processes themselves do without it.
 *
 * Sources: interface of the service; https://orpc.dev/docs/contract-first/define-contract
 */
export const contract = {
  items: {
    getAll: oc.route({ method: 'POST', path: '/items/getAll' }).input(GetAllInputSchema).output(z.array(ItemSchema)),
    getById: oc.route({ method: 'POST', path: '/items/getById' }).input(GetByIdInputSchema).output(ItemSchema),
    create: oc.route({ method: 'POST', path: '/items/create' }).input(CreateItemInputSchema).output(ItemSchema),
  },
};
