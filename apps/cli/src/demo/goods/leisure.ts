import type { Goods } from './good.js';

export const leisure = {
  strollers: {
    title: 'Strollers',
    kind: 'kids',
    emoji: '👶',
    colours: 4,
    bulky: true,
    offers: [
      ['Bugaboo', 320, 'Fox 2|Bee 5|Cameleon 3'],
      ['Cybex', 260, 'Balios S|Priam|Melio'],
      [null, 80, ''],
    ],
  },
  toys: {
    title: 'Toys',
    kind: 'kids',
    emoji: '🧸',
    offers: [
      ['LEGO', 45, 'Technic 42110|Star Wars 75257|City 60198|Creator 31109'],
      ['Playmobil', 28, 'City Life|Family Fun|Country'],
      [null, 18, ''],
    ],
  },
  'board-games': {
    title: 'Board games',
    kind: 'media',
    emoji: '🎲',
    offers: [
      ['Ravensburger', 17, 'Scotland Yard|Villainous|Castles of Burgundy'],
      [null, 22, 'Catan|Dixit|Azul|Wingspan|Carcassonne|Splendor'],
    ],
  },
  books: { title: 'Books', kind: 'media', emoji: '📚', offers: [[null, 7, '']] },
  'vinyl-records': {
    title: 'Vinyl records',
    kind: 'media',
    emoji: '🎶',
    offers: [
      [null, 24, 'Pink Floyd – Animals|Queen – A Night at the Opera|Daft Punk – Discovery'],
      [null, 22, 'Fleetwood Mac – Rumours|David Bowie – Low|Björk – Post'],
      [null, 26, 'Miles Davis – Kind of Blue|Nina Simone – Pastel Blues|Kraftwerk – Autobahn'],
    ],
  },
  guitars: {
    title: 'Guitars',
    kind: 'leisure',
    emoji: '🎸',
    bulky: true,
    breaks: true,
    offers: [
      ['Fender', 460, 'Player Stratocaster|Player Telecaster|CD-60S'],
      ['Yamaha', 190, 'F310|C40|FG800|Pacifica 112'],
      [null, 90, ''],
    ],
  },
  tents: {
    title: 'Tents',
    kind: 'leisure',
    emoji: '⛺',
    colours: 5,
    offers: [
      ['Quechua', 70, '2 Seconds|MH100|Arpenaz 4.1|Air Seconds 4.1'],
      [null, 55, ''],
    ],
  },
  skis: {
    title: 'Skis',
    kind: 'leisure',
    emoji: '🎿',
    sizes: '156 cm|163 cm|170 cm|177 cm',
    bulky: true,
    offers: [
      ['Atomic', 190, 'Redster Q5|Vantage 79|Maverick 83'],
      ['Salomon', 180, 'QST 92|S/Force 9|XDR 80'],
    ],
  },
} satisfies Record<string, Goods>;
