/// The words that one country's titles, names and places are made of.
struct LocaleWords: Sendable {
  let country: String
  let currency: String
  let given: [String]
  let family: [String]
  /// Titles are one of the first, then one of the second.
  let titleHeads: [String]
  let titleTails: [String]
  let cities: [String]
}

extension LocaleWords {
  /// One for each value of the schema's `Country`, in its order.
  static let all: [LocaleWords] = [
    brazil, czechia, germany, denmark, spain, france, britain, hungary, ireland, iceland, italy,
    japan, mexico, poland, portugal, sweden, turkey, america,
  ]

  private static let brazil = LocaleWords(
    country: "BR", currency: "BRL",
    given: ["João", "Conceição", "Caetano", "Inês", "Thaís", "Otávio", "Luíza", "Sebastião"],
    family: ["Magalhães", "Guimarães", "Araújo", "Brandão", "Nogueira", "Falcão", "Queirós"],
    titleHeads: [
      "O Coração", "A Estação", "As Irmãs", "O Sertão", "A Última Canção", "Os Pássaros",
    ],
    titleTails: ["de São Luís", "do Amanhã", "sem Perdão", "da Paixão", "em Março", "do Avô"],
    cities: ["São Paulo", "Belém", "Florianópolis", "Maceió"])

  private static let czechia = LocaleWords(
    country: "CZ", currency: "CZK",
    given: ["Jiří", "Božena", "Tomáš", "Zdeňka", "Matěj", "Růžena", "Ondřej", "Kateřina"],
    family: ["Dvořák", "Žižka", "Kolář", "Říha", "Němec", "Šťastný", "Čapková", "Vlček"],
    titleHeads: ["Tichý dům", "Žlutá řeka", "Poslední vlak", "Kočky", "Malý kouzelník", "Sníh"],
    titleTails: ["u Ústí", "v Plzni", "na konci léta", "bez oken", "pod věží", "za řekou"],
    cities: ["Plzeň", "Ústí nad Labem", "Třebíč", "České Budějovice"])

  private static let germany = LocaleWords(
    country: "DE", currency: "EUR",
    given: ["Jürgen", "Käthe", "Götz", "Änne", "Björn", "Sören", "Mathilda", "Friederike"],
    family: ["Müller", "Groß", "Schäfer", "Böhm", "Weiß", "Köhler", "Lindenthal", "Krämer"],
    titleHeads: [
      "Die Brücke", "Das Mädchen", "Der Schlüssel", "Fräulein Süß", "Der Lügner", "Die Küche",
    ],
    titleTails: [
      "am Fluß", "über München", "im Nebel", "von Köln", "ohne Türen", "nach Mitternacht",
    ],
    cities: ["Köln", "Görlitz", "Lübeck", "Gießen"])

  private static let denmark = LocaleWords(
    country: "DK", currency: "DKK",
    given: ["Søren", "Bjørn", "Kåre", "Birthe", "Jørgen", "Åse", "Maren", "Frederik"],
    family: ["Østergaard", "Kjær", "Nørgaard", "Sørensen", "Højlund", "Ågård", "Bruun"],
    titleHeads: ["Pigen", "Den sidste færge", "Mørket", "Børnene", "En sommer", "Fyrtårnet"],
    titleTails: ["på øen", "i Århus", "under sneen", "før daggry", "ved åen", "uden ord"],
    cities: ["Århus", "Ålborg", "Helsingør", "Køge"])

  private static let spain = LocaleWords(
    country: "ES", currency: "EUR",
    given: ["Íñigo", "Begoña", "Andrés", "Lucía", "Ramón", "Inés", "Óscar", "Pilar"],
    family: ["Núñez", "Ibáñez", "Martínez", "Peña", "Gutiérrez", "Cañizares", "Solís"],
    titleHeads: ["La señora", "El corazón", "Los años", "El último tren", "La niña", "El jardín"],
    titleTails: [
      "de Córdoba", "sin mañana", "del río", "en agosto", "de los espejos", "que nadie soñó",
    ],
    cities: ["Córdoba", "León", "Logroño", "Cádiz"])

  private static let france = LocaleWords(
    country: "FR", currency: "EUR",
    given: ["Zoé", "Étienne", "Hélène", "François", "Anaïs", "Benoît", "Océane", "Jérôme"],
    family: ["Lefèvre", "Béranger", "Gérôme", "Dûment", "Chênevert", "Marçais", "Saint-Aubin"],
    titleHeads: ["L'été", "La maison", "Les enfants", "Le silence", "Une nuit", "Le café"],
    titleTails: [
      "de Zoé", "du désert", "sans fenêtres", "à Besançon", "de l'île", "après la fête",
    ],
    cities: ["Besançon", "Orléans", "Nîmes", "Sète"])

  private static let britain = LocaleWords(
    country: "GB", currency: "GBP",
    given: ["Imogen", "Rhys", "Zoë", "Alasdair", "Bronwen", "Callum", "Philippa", "Tobias"],
    family: ["Ashdown", "Pryce-Jones", "Fairweather", "Okonkwo", "Thistlewood", "Marsh", "Brontë"],
    titleHeads: [
      "The Quiet Harbour", "A Letter", "The Clockmaker", "Seven Winters", "The Glass House",
    ],
    titleTails: ["of Whitby", "for Eleanor", "at Low Tide", "in Grey", "Beyond the Fen", "Unsent"],
    cities: ["Whitby", "Aberystwyth", "Leeds", "Dundee"])

  private static let hungary = LocaleWords(
    country: "HU", currency: "HUF",
    given: ["Ágnes", "Győző", "Gergő", "Zsófia", "Ödön", "Réka", "Bálint", "Mária"],
    family: ["Kőszegi", "Szűcs", "Fehér", "Vörös", "Őry", "Bárány", "Török"],
    titleHeads: ["Az őszi nap", "A tükör", "Hűvös éj", "A vőlegény", "Két húr", "Az örök út"],
    titleTails: ["Győrben", "a hídon", "szürkületkor", "hó alatt", "szavak nélkül", "a kútnál"],
    cities: ["Győr", "Pécs", "Kőszeg", "Vác"])

  private static let ireland = LocaleWords(
    country: "IE", currency: "EUR",
    given: ["Siobhán", "Seán", "Gráinne", "Cillian", "Róisín", "Tadhg", "Bríd", "Oisín"],
    family: ["Ó Briain", "Ní Dhónaill", "Mac Cába", "O'Rourke", "Ó Súilleabháin", "Keane"],
    titleHeads: ["The Ferryman", "A Field", "The Long Wake", "The Salt Road", "An Oíche"],
    titleTails: [
      "of Inis Mór", "of Crows", "Before Lent", "in Connemara", "Fhada", "Without Gate",
    ],
    cities: ["Dún Laoghaire", "Galway", "Cork", "Sligo"])

  private static let iceland = LocaleWords(
    country: "IS", currency: "ISK",
    given: ["Þóra", "Björk", "Guðrún", "Hörður", "Sæunn", "Ýmir", "Ægir", "Ástríður"],
    family: ["Þórsdóttir", "Sæmundsson", "Guðmundsdóttir", "Ólafsson", "Örvarsson", "Jónsdóttir"],
    titleHeads: ["Húsið", "Ljósið", "Hægur vindur", "Síðasta bréfið", "Þögnin", "Hrafninn"],
    titleTails: ["við sjóinn", "á heiðinni", "í þokunni", "frá Höfn", "undir ísnum", "fyrir jól"],
    cities: ["Reykjavík", "Höfn", "Ísafjörður", "Húsavík"])

  private static let italy = LocaleWords(
    country: "IT", currency: "EUR",
    given: ["Niccolò", "Loredana", "Cosimo", "Fiammetta", "Ettore", "Noè", "Ginevra", "Zaira"],
    family: ["Forlì", "Bellincioni", "Abbà", "Cantù", "D'Amico", "Sforzin", "Paternò"],
    titleHeads: ["La città", "Il caffè", "Perché la notte", "Gli anni", "La felicità", "Il ladro"],
    titleTails: ["di Forlì", "non c'è più", "della virtù", "a metà", "senza età", "sul Po"],
    cities: ["Forlì", "Cantù", "Torino", "Bari"])

  private static let japan = LocaleWords(
    country: "JP", currency: "JPY",
    given: ["Yūko", "Shirō", "Kōhei", "Sayuri", "Jun", "Mayumi", "Ryō", "Tōru"],
    family: ["Ōshima", "Satō", "Kurosawa", "Itō", "Katō", "Endō", "Mizushima"],
    titleHeads: ["東京の", "夏の", "雨の", "海の", "最後の", "遠い"],
    titleTails: ["夜", "庭", "窓", "記憶", "手紙", "橋"],
    cities: ["Kyōto", "Ōsaka", "Kōbe", "Tōkyō"])

  private static let mexico = LocaleWords(
    country: "MX", currency: "MXN",
    given: ["María José", "Adrián", "Xóchitl", "Raúl", "Itzel", "Ángel", "Sofía", "Martín"],
    family: ["Hernández", "Ordóñez", "Villaseñor", "Chávez", "Xicoténcatl", "Muñoz", "Zúñiga"],
    titleHeads: ["La sombra", "El maíz", "Cien caminos", "La canción", "El niño", "Las mañanas"],
    titleTails: [
      "de Oaxaca", "del cañón", "a Mérida", "del volcán", "sin dueño", "de papel picado",
    ],
    cities: ["Mérida", "Oaxaca", "León", "Torreón"])

  private static let poland = LocaleWords(
    country: "PL", currency: "PLN",
    given: ["Łukasz", "Grażyna", "Bożena", "Stanisław", "Małgorzata", "Michał", "Jagoda", "Paweł"],
    family: ["Wójcik", "Żuławski", "Łoziński", "Piątek", "Dąbrowska", "Świerczewska", "Król"],
    titleHeads: ["Żółty dom", "Cisza", "Ostatni świadek", "Śnieg", "Dziewczęta", "Wąż"],
    titleTails: ["nad Łódką", "w Krakowie", "po północy", "bez końca", "za ścianą", "z Gdyni"],
    cities: ["Łódź", "Kraków", "Gdańsk", "Poznań"])

  private static let portugal = LocaleWords(
    country: "PT", currency: "EUR",
    given: ["Gonçalo", "Leonor", "Simão", "Mafalda", "Estêvão", "Catarina", "Lourenço", "Graça"],
    family: ["Mourão", "Simões", "Calção", "Valadão", "Fogaça", "Câmara", "Gusmão"],
    titleHeads: ["O Verão", "A Mão", "Três Manhãs", "O Leão", "A Lição", "Os Limões"],
    titleTails: ["de Évora", "à Janela", "sem Mar", "do Alentejo", "que Não Há", "em Setúbal"],
    cities: ["Évora", "Setúbal", "Porto", "Guimarães"])

  private static let sweden = LocaleWords(
    country: "SE", currency: "SEK",
    given: ["Åke", "Märta", "Göran", "Hjördis", "Östen", "Linnéa", "Ingmar", "Pär"],
    family: ["Sjöström", "Åkerlund", "Björklund", "Öberg", "Nyström", "Lindqvist", "Hjälm"],
    titleHeads: ["Sommaren", "Älskade vän", "Ön", "Våren", "Det sjätte huset", "Fågeln"],
    titleTails: ["i Malmö", "på Öland", "utan ände", "före snön", "vid sjön", "och båten"],
    cities: ["Malmö", "Göteborg", "Växjö", "Örebro"])

  private static let turkey = LocaleWords(
    country: "TR", currency: "TRY",
    given: ["Ayşe", "İbrahim", "Gülşah", "Çağlar", "Ömer", "Işıl", "Şule", "Oğuz"],
    family: ["Yılmaz", "Çelik", "Öztürk", "Şahin", "Güneş", "Kılıç", "Doğan"],
    titleHeads: ["Kış", "Çınar", "Üç gün", "Işık", "Gece yağmuru", "Küçük şehir"],
    titleTails: ["uykusu", "gölgesi", "İzmir'de", "ve deniz", "şarkısı", "öncesi"],
    cities: ["İzmir", "Eskişehir", "Muğla", "Iğdır"])

  private static let america = LocaleWords(
    country: "US", currency: "USD",
    given: ["Dolores", "Marcus", "Renée", "Theodore", "Chloë", "Hank", "Josefina", "Wendell"],
    family: ["Delacroix", "Whitlock", "Nakamura", "O'Hara", "Peñaloza", "Burroughs", "Lindgren"],
    titleHeads: [
      "Midnight", "The Last Diner", "Copper Sky", "Goodbye", "The Motel", "Two Strangers",
    ],
    titleTails: [
      "in Santa Fé", "on Route 9", "Over Omaha", "Mr. Whitlock", "and the Coyote", "at Dawn",
    ],
    cities: ["Santa Fé", "Omaha", "Duluth", "Baton Rouge"])
}
