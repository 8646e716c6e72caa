import { oc } from '@orpc/contract';
import { z } from 'zod';
import { CreateItemInputSchema } from './create-item.js';
import { GetAllInputSchema } from './get-all.js';
import { GetByIdInputSchema } from './get-by-id.js';
import { ItemSchema } from './item.js';

/**
 * The three operations as an oRPC contract, for typed clients. Both `RPCLink` and `OpenAPILink` accept it, at
 * `{base}/api/orpc`. A client may copy this folder, which depends only on `zod` and `@orpc/contract`. This is an ES
 * module because `@orpc/contract` is one. The service itself does not use it.
 *
 * See https://orpc.dev/docs/contract-first/define-contract.
 */
export const contract = {
  items: {
    getAll: oc.route({ method: 'POST', path: '/items/getAll' }).input(GetAllInputSchema).output(z.array(ItemSchema)),
    getById: oc.route({ method: 'POST', path: '/items/getById' }).input(GetByIdInputSchema).output(ItemSchema),
    create: oc.route({ method: 'POST', path: '/items/create' }).input(CreateItemInputSchema).output(ItemSchema),
  },
};
