import type { Goods } from './good.js';

export const wardrobe = {
  jackets: {
    title: 'Jackets',
    kind: 'clothing',
    emoji: '🧥',
    sizes: 'XS|S|M|L|XL',
    colours: 6,
    offers: [
      ['The North Face', 85, 'Nuptse|Resolve|Denali'],
      ['Patagonia', 95, 'Nano Puff|Down Sweater|Torrentshell'],
      ['Zara', 26, ''],
      [null, 30, ''],
    ],
  },
  dresses: {
    title: 'Dresses',
    kind: 'clothing',
    emoji: '👗',
    sizes: 'XS|S|M|L|XL',
    colours: 6,
    offers: [
      ['Zara', 19, ''],
      ['H&M', 12, ''],
      ['Mango', 21, ''],
      [null, 16, ''],
    ],
  },
  jeans: {
    title: 'Jeans',
    kind: 'clothing',
    emoji: '👖',
    sizes: 'W28/L30|W29/L32|W30/L32|W32/L32|W33/L34|W36/L34',
    colours: 4,
    offers: [
      ["Levi's", 32, '501|511|512|Ribcage'],
      ['Mango', 17, ''],
      ['Uniqlo', 18, ''],
    ],
  },
  sweaters: {
    title: 'Sweaters',
    kind: 'clothing',
    emoji: '🧶',
    sizes: 'S|M|L|XL',
    colours: 6,
    offers: [
      ['Patagonia', 55, 'Better Sweater|Synchilla'],
      ['Uniqlo', 19, ''],
      ['H&M', 11, ''],
      [null, 15, ''],
    ],
  },
  sneakers: {
    title: 'Sneakers',
    kind: 'shoes',
    emoji: '👟',
    sizes: '37|38|39|40|41|42|43|44|45',
    colours: 6,
    offers: [
      ['Nike', 55, 'Air Max 90|Air Force 1|Dunk Low|Pegasus 39'],
      ['Adidas', 48, 'Samba|Gazelle|Superstar|Stan Smith'],
      ['New Balance', 60, '574|530|327'],
    ],
  },
  boots: {
    title: 'Boots',
    kind: 'shoes',
    emoji: '🥾',
    sizes: '37|38|39|40|41|42|43|44',
    colours: 3,
    offers: [
      ['Dr. Martens', 75, '1460|2976|Jadon'],
      ['Timberland', 70, '6-Inch Premium|Euro Hiker|Radford'],
      [null, 32, ''],
    ],
  },
  handbags: {
    title: 'Handbags',
    kind: 'accessories',
    emoji: '👜',
    colours: 6,
    offers: [
      ['Longchamp', 60, 'Le Pliage|Roseau'],
      ['Michael Kors', 75, 'Jet Set|Mercer|Hamilton'],
      [null, 22, ''],
    ],
  },
  watches: {
    title: 'Watches',
    kind: 'accessories',
    emoji: '⌚',
    breaks: true,
    offers: [
      ['Casio', 38, 'F-91W|G-Shock GA-2100|Edifice EFV-100'],
      ['Seiko', 150, '5 Sports|Presage|Prospex'],
      ['Tissot', 210, 'PRX|Le Locle|Gentleman'],
    ],
  },
} satisfies Record<string, Goods>;
