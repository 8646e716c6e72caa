import type { Goods } from './good.js';

export const home = {
  sofas: {
    title: 'Sofas',
    kind: 'home',
    emoji: '🛋️',
    sizes: '190 × 85 × 80 cm|205 × 88 × 83 cm|218 × 95 × 88 cm|228 × 95 × 83 cm',
    colours: 6,
    bulky: true,
    offers: [
      ['IKEA', 220, 'Ektorp|Friheten|Kivik|Klippan'],
      [null, 290, ''],
    ],
  },
  'dining-tables': {
    title: 'Dining tables',
    kind: 'home',
    emoji: '🍽️',
    sizes: '120 × 75 × 74 cm|140 × 80 × 75 cm|160 × 90 × 76 cm|180 × 90 × 75 cm',
    bulky: true,
    offers: [
      ['IKEA', 110, 'Lisabo|Ekedalen|Norden|Mörbylånga'],
      [null, 180, ''],
    ],
  },
  'office-chairs': {
    title: 'Office chairs',
    kind: 'home',
    emoji: '🪑',
    sizes: '62 × 60 × 115 cm|66 × 66 × 120 cm|68 × 68 × 110 cm',
    colours: 4,
    bulky: true,
    offers: [
      ['IKEA', 75, 'Markus|Järvfjället|Flintan'],
      ['Herman Miller', 520, 'Aeron|Mirra 2|Sayl'],
      [null, 50, ''],
    ],
  },
  bookcases: {
    title: 'Bookcases',
    kind: 'home',
    emoji: '🗄️',
    sizes: '80 × 28 × 202 cm|77 × 39 × 147 cm|90 × 35 × 197 cm',
    colours: 3,
    bulky: true,
    offers: [
      ['IKEA', 45, 'Billy|Kallax|Hemnes|Ivar'],
      [null, 70, ''],
    ],
  },
  beds: {
    title: 'Beds',
    kind: 'home',
    emoji: '🛏️',
    sizes: '90 × 200 cm|140 × 200 cm|160 × 200 cm|180 × 200 cm',
    colours: 3,
    bulky: true,
    offers: [
      ['IKEA', 130, 'Malm|Hemnes|Brimnes|Neiden'],
      [null, 180, ''],
    ],
  },
  lamps: {
    title: 'Lamps',
    kind: 'home',
    emoji: '💡',
    sizes: '22 × 22 × 38 cm|25 × 25 × 45 cm|32 × 32 × 54 cm',
    colours: 6,
    offers: [
      ['IKEA', 16, 'Fado|Lampan|Årstid'],
      ['Artemide', 190, 'Tolomeo|Nessino|Eclisse'],
      [null, 28, ''],
    ],
  },
  rugs: {
    title: 'Rugs',
    kind: 'home',
    emoji: '🧶',
    sizes: '120 × 170 cm|140 × 200 cm|160 × 230 cm|200 × 300 cm',
    colours: 6,
    bulky: true,
    offers: [
      ['IKEA', 50, 'Stoense|Vindum|Lohals'],
      [null, 95, ''],
    ],
  },
  'washing-machines': {
    title: 'Washing machines',
    kind: 'household',
    emoji: '🧺',
    bulky: true,
    breaks: true,
    offers: [
      ['Bosch', 230, 'Serie 4 WAN28|Serie 6 WAU28|Serie 8 WAX32'],
      ['Miele', 420, 'W1 Classic|WDB 030|WWD 320'],
      ['LG', 260, 'F4WV309|F4WN408'],
    ],
  },
  'coffee-machines': {
    title: 'Coffee machines',
    kind: 'household',
    emoji: '☕',
    colours: 3,
    breaks: true,
    offers: [
      ["De'Longhi", 190, 'Magnifica S|Dedica EC685|Dinamica'],
      ['Philips', 170, 'LatteGo 3200|LatteGo 2200|Series 5400'],
    ],
  },
  'vacuum-cleaners': {
    title: 'Vacuum cleaners',
    kind: 'household',
    emoji: '🧹',
    breaks: true,
    offers: [
      ['Dyson', 190, 'V8|V10 Absolute|V11|V12 Detect'],
      ['Miele', 110, 'Complete C3|Compact C2|Triflex HX1'],
      ['Philips', 75, 'PowerPro Expert|SpeedPro Max'],
    ],
  },
  cookware: {
    title: 'Cookware',
    kind: 'household',
    emoji: '👩‍🍳',
    offers: [
      ['Le Creuset', 140, 'Signature 24 cm|Signature 28 cm|Evolution 20 cm'],
      ['Tefal', 40, 'Ingenio|Duetto|Jamie Oliver'],
      [null, 28, ''],
    ],
  },
  'cordless-drills': {
    title: 'Cordless drills',
    kind: 'household',
    emoji: '🛠️',
    breaks: true,
    offers: [
      ['Bosch', 75, 'GSR 12V-15|GSR 18V-28|PSR 1800'],
      ['Makita', 95, 'DHP453|DDF482|DHP485'],
      ['DeWalt', 105, 'DCD776|DCD709|DCD791'],
    ],
  },
} satisfies Record<string, Goods>;
