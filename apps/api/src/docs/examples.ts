import { errorBody, type CreateItemInput, type ErrorBody, type ErrorCode, type Item } from '@app/contracts';

const images = ['https://images.example.com/dishes.jpg'];

/** The input of a create with no more than the required fields. */
export const CREATE_EXAMPLE: CreateItemInput = {
  name: 'Crème brûlée dishes',
  description: 'Six of them, hardly used. Pick-up in Lyon.',
  price: 12.5,
  categoryId: '1',
  stock: 1,
  brandId: null,
  conditionId: 2,
  isFeatured: null,
  images,
};

/** The same input with all fields, and a category by its slug. */
export const FULL_CREATE_EXAMPLE: CreateItemInput = {
  ...CREATE_EXAMPLE,
  categoryId: 'cookware',
  brandId: 7,
  isFeatured: true,
  photos: [{ url: 'https://images.example.com/dishes.jpg', width: 1600, height: 1200 }],
};

/** The item that {@link CREATE_EXAMPLE} creates. */
export const ITEM_EXAMPLE: Item = {
  id: '6b00f84064d797f6ac86522a',
  publicId: 1003,
  name: CREATE_EXAMPLE.name,
  description: CREATE_EXAMPLE.description,
  price: 12.5,
  status: 'available',
  condition: 'Like new',
  stock: 1,
  categoryId: 1,
  sellerId: 'anonymous',
  brandId: null,
  conditionId: 2,
  isFeatured: false,
  slug: 'creme-brulee-dishes-1003',
  imageUrl: 'https://images.example.com/dishes.jpg',
  isVisible: true,
  createdAt: '2026-11-21T01:47:44.049Z',
  updatedAt: '2026-11-21T01:47:44.049Z',
  deliveryOptions: [],
  deliveryCost: 0,
  freeShipping: false,
  deliveryTimeEstimate: null,
  brandTitle: null,
  sizeTitle: null,
  discount: null,
  favouriteCount: 0,
  viewCount: 0,
  path: '/items/creme-brulee-dishes-1003',
  url: 'https://marketplace.example.com/items/creme-brulee-dishes-1003',
  visibilityType: 'public',
  isBoosted: false,
  boostScore: 0,
  boostExpiresAt: null,
  images,
  photos: [],
};

const ERROR_DETAILS: Partial<Record<ErrorCode, { message?: string; data?: object }>> = {
  BAD_REQUEST: {
    data: { issues: [{ path: ['name'], message: 'Too short: expected at least 3 characters' }] },
  },
  NOT_FOUND: { message: 'No such item' },
  PAYLOAD_TOO_LARGE: { message: 'Body too large: at most 1048576 bytes' },
  GATEWAY_TIMEOUT: {
    message: `The item may still be created: ask getById for ${ITEM_EXAMPLE.id}`,
    data: { id: ITEM_EXAMPLE.id, outcome: 'unknown' },
  },
};

/** Returns an example of an error body. */
export function errorExample(code: ErrorCode): ErrorBody {
  return errorBody(code, ERROR_DETAILS[code]);
}
