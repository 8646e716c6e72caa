import { parseArgs } from 'node:util';
import { CatalogueRepository, CounterRepository, newMongoId, type Catalogue } from '@app/database';
import { newItemRecord, requestHash, searchFields } from '@app/items';
import { loadCliConfig } from '@app/runtime';
import { CommandError, runCommand } from './command.js';
import { demoCatalogue, type DemoListing } from './demo/demo-catalogue.js';
import { DATABASE_STARTS_WITHIN_MS, withDatabase } from './with-database.js';

/** Loads the demo catalogue into a database without items, categories, brands and conditions. */
runCommand('usage: demo', async (print) => {
  parseArgs({}); // Refuses any argument.
  const { isProduction, demoCatalogue: asked } = loadCliConfig();
  if (asked === 'off') {
    print('the demo catalogue is switched off by DEMO_CATALOGUE');
    return;
  }
  if (isProduction && asked !== 'on') {
    throw new CommandError('The demo catalogue is not loaded in production unless asked: set DEMO_CATALOGUE=on');
  }
  await withDatabase(print, DATABASE_STARTS_WITHIN_MS, async (database) => {
    const catalogues = new CatalogueRepository(database);
    if (!(await catalogues.isEmpty())) {
      print('there are items, categories, brands or conditions already, so the demo catalogue is left out');
      return;
    }
    const catalogue = await toRecords(new CounterRepository(database));
    await catalogues.load(catalogue);
    print(`loaded ${String(catalogue.items.length)} demo listings`);
  });
});

async function toRecords(counters: CounterRepository): Promise<Catalogue> {
  const { listings, favourites, ...references } = demoCatalogue(new Date());
  const titles = {
    brands: new Map(references.brands.map(({ _id, title }) => [_id, title])),
    conditions: new Map(references.conditions.map(({ _id, title }) => [_id, title])),
  };
  // Oldest first, so that `publicId` grows with time, as it does in the service.
  const byAge = [...listings].sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  const firstPublicId = await counters.takePublicIds(listings.length);
  const records = new Map(
    byAge.map((listing, index) => [listing, toRecord(listing, firstPublicId + index, titles)] as const),
  );
  const items = [...records.values()];
  return {
    ...references,
    items,
    favourites: favourites.flatMap(({ userId, listing: index, createdAt }) => {
      const listing = listings[index];
      const itemId = listing && records.get(listing)?._id;
      return itemId ? [{ userId, itemId, createdAt }] : [];
    }),
  };
}

type Titles = Record<'brands' | 'conditions', Map<number, string>>;

function toRecord(listing: DemoListing, publicId: number, titles: Titles): Catalogue['items'][number] {
  const assigned = {
    publicId,
    brandTitle: titles.brands.get(listing.brandId ?? -1) ?? null,
    condition: titles.conditions.get(listing.conditionId ?? -1) ?? null,
    now: listing.createdAt,
  };
  const created = newItemRecord(
    { id: newMongoId(), sellerId: listing.sellerId, requestHash: requestHash(listing), item: listing },
    assigned,
  );
  // The listing also has the fields that change after a create, under the same names as in the item.
  return { ...created, ...listing, ...searchFields(created) };
}
