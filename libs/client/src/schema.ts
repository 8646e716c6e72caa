// Generated from openapi.json by `npm run openapi`.
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description Filters and paging of a list. Items must match all filters. Unknown keys are ignored. */
    GetAllInput: {
      /** @description Number of the page, from 1; 1 by default. Cannot be combined with `after`. Not null. */
      page?: number;
      /** @description Items per page; 50 by default. Not null. */
      pageSize?: number;
      /** @description Words that an item must contain, in any order, regardless of case and accents. Words of `name` and `brandTitle` match whole or by their first 2 or more characters; words of `description` (its first 200) match whole. Adjoining letters and digits match with and without a space ("iphone13", "iphone 13"). The first 10 words of the first 200 characters count. Without a word or an emoji, there is no search. May miss an item for 5 s after it was created, or longer in a burst. Not null. */
      search?: string;
      /** @description Category: its number as a string, or its slug. An unknown category has no items. Not null. */
      categoryId?: string;
      /**
       * @description Only items of this status. With `all`, or without a status, items of every status. Not null.
       * @enum {string}
       */
      status?: 'available' | 'reserved' | 'sold' | 'shipped' | 'delivered' | 'cancelled' | 'all';
      /** @description Only this user's favourites, the most recently favourited first. Only the newest 5,000 count. Not null. */
      userId?: string;
      /** @description The `Next-After` header of the previous page: the list continues there, at the cost of a first page. Or the `id` of an item: the list continues after its current position. Cannot be combined with `page`. An altered cursor, a cursor of another kind of list, an unknown id and, for favourites, the id of an item that is not one of them are a 400. Not null. */
      after?: string;
    };
    /** @description The item to return. Unknown keys are ignored. */
    GetByIdInput: {
      /** @description The `id` of an item. Any other string is a 404. Not null. */
      id: string;
    };
    /** @description A new item. Unknown keys are ignored, including fields that the service sets. */
    CreateItemInput: {
      /** @description Name, at least 3 characters (Unicode code points). Not null. */
      name: string;
      /** @description Description, at least 10 characters (Unicode code points). Not null. */
      description: string;
      /** @description Price of one piece, in units of the marketplace's currency (12.5 is 12.50). Not null. */
      price: number;
      /** @description Pieces in stock. Not null. */
      stock: number;
      /** @description Number of the brand. Any number is accepted, except a whole number beyond ±(2^53 − 1). Null if there is none. */
      brandId: number | null;
      /** @description Number of the condition. Any number is accepted, except a whole number beyond ±(2^53 − 1). Null if there is none. */
      conditionId: number | null;
      /** @description Whether the item is featured; null counts as false. */
      isFeatured: boolean | null;
      /** @description URLs of 1 to 5 images. The first one is the main image. Not null. */
      images: string[];
      /** @description 1 to 5 photos of any JSON shape, stored as sent. What cannot be stored exactly is refused: more than 32 levels of nesting (the array is the first), whole numbers beyond ±(2^53 − 1), NUL in a key, the key `_bsontype`, and objects with `$ref` and `$id` whose `$ref` has one dot or that have a key `__proto__`. Not null. */
      photos?: unknown[];
      /** @description Category: its number as a string (`7`; any number is accepted), or its slug (an unknown slug is a 400). Not null. */
      categoryId: string;
    };
    /** @description An item. It always has all fields. */
    Item: {
      /** @description The item's id, 24 hexadecimal digits. Never null. */
      id: string;
      /** @description Number of the item in a sequence. Unique, with gaps. Never null. */
      publicId: number;
      /** @description Name, as sent. Never null. */
      name: string;
      /** @description Description, as sent. Never null. */
      description: string;
      /** @description Price of one piece, in units of the marketplace's currency (12.5 is 12.50). Never null. */
      price: number;
      /**
       * @description State of the item; `available` on create. Never null.
       * @enum {string}
       */
      status: 'available' | 'reserved' | 'sold' | 'shipped' | 'delivered' | 'cancelled';
      /** @description Title of the condition; null if `conditionId` is null or unknown. */
      condition: string | null;
      /** @description Pieces in stock. Never null. */
      stock: number;
      /** @description Number of the category. Inputs take it as a string. Never null. */
      categoryId: number;
      /** @description Id of the seller; `anonymous` as long as there is no authentication. Never null. */
      sellerId: string;
      /** @description Number of the brand, as sent; may be null. */
      brandId: number | null;
      /** @description Number of the condition, as sent; may be null. */
      conditionId: number | null;
      /** @description Whether the item is featured; false if null was sent. Never null. */
      isFeatured: boolean;
      /** @description Name in Latin letters, at most 80 characters, followed by `publicId`. Unique. Never null. */
      slug: string;
      /** @description The first of `images`. Never null. */
      imageUrl: string;
      /** @description Whether lists contain the item; true on create. Never null. */
      isVisible: boolean;
      /**
       * Format: date-time
       * @description When the item was stored, ISO 8601 in UTC with milliseconds. Never null.
       */
      createdAt: string;
      /**
       * Format: date-time
       * @description When the item was last changed, ISO 8601 in UTC with milliseconds. Never null.
       */
      updatedAt: string;
      /** @description Delivery methods; empty on create. Never null. */
      deliveryOptions: string[];
      /** @description Delivery cost, in units of the marketplace's currency; 0 on create. Never null. */
      deliveryCost: number;
      /** @description Whether delivery is free; false on create. Never null. */
      freeShipping: boolean;
      /** @description Expected delivery time, as text; null on create. */
      deliveryTimeEstimate: string | null;
      /** @description Title of the brand; null if `brandId` is null or unknown. */
      brandTitle: string | null;
      /** @description Size, as text; null on create. */
      sizeTitle: string | null;
      /** @description Discount, as text; null on create. */
      discount: string | null;
      /** @description Number of users who have favourited the item; 0 on create. Never null. */
      favouriteCount: number;
      /** @description Number of views; 0 on create. Never null. */
      viewCount: number;
      /** @description Path of the item's page: `/items/{slug}`. Never null. */
      path: string;
      /** @description URL of the item's page: the address of the site followed by `path`. Never null. */
      url: string;
      /** @description `public` on create. Never null. */
      visibilityType: string;
      /** @description Whether a boost is active at the time of the response; false on create. Never null. */
      isBoosted: boolean;
      /** @description Rank among boosted items, without a unit. The highest comes first. 0 on create, and once the boost has lapsed. Never null. */
      boostScore: number;
      /** @description When the boost ends, ISO 8601 in UTC with milliseconds. Null without a boost or without an end. */
      boostExpiresAt: string | null;
      /** @description URLs of the images, as sent. Never null. */
      images: string[];
      /** @description Photos of any shape, as sent; empty if none were sent. Never null. */
      photos: unknown[];
    };
    /** @description A create that is queued, but not stored yet. `getById` finds the item once it is stored. */
    QueuedItem: {
      /** @description The item's id, 24 hexadecimal digits. Never null. */
      id: string;
      /**
       * @description The create is in the queue. Never null.
       * @constant
       */
      status: 'queued';
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type GetAllInput = components['schemas']['GetAllInput'];
export type GetByIdInput = components['schemas']['GetByIdInput'];
export type CreateItemInput = components['schemas']['CreateItemInput'];
export type Item = components['schemas']['Item'];
export type QueuedItem = components['schemas']['QueuedItem'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
