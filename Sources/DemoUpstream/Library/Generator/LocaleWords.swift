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

  /// - Parameter lines: the table's lines for one country, split into words.
  private init(_ lines: [[String]]) {
    func words(_ place: Int) -> [String] { lines.indices.contains(place) ? lines[place] : [] }
    (country, currency) = (words(0).first ?? "", words(0).last ?? "")
    (given, family) = (words(1), words(2))
    (titleHeads, titleTails) = (words(3), words(4))
    cities = words(5)
  }
}

extension LocaleWords {
  /// One for each value of the schema's `Country`, in its order.
  static let all: [LocaleWords] = table.split(separator: "\n\n").map { rows in
    LocaleWords(
      rows.split(separator: "\n").map { $0.split(separator: "/").map(String.init) })
  }

  /// Per country, a line each: code and currency, given names, family names, first parts of titles,
  /// second parts, cities.
  private static let table = """
    BR/BRL
    João/Conceição/Caetano/Inês/Thaís/Otávio/Luíza/Sebastião
    Magalhães/Guimarães/Araújo/Brandão/Nogueira/Falcão/Queirós
    O Coração/A Estação/As Irmãs/O Sertão/A Última Canção/Os Pássaros
    de São Luís/do Amanhã/sem Perdão/da Paixão/em Março/do Avô
    São Paulo/Belém/Florianópolis/Maceió

    CZ/CZK
    Jiří/Božena/Tomáš/Zdeňka/Matěj/Růžena/Ondřej/Kateřina
    Dvořák/Žižka/Kolář/Říha/Němec/Šťastný/Čapková/Vlček
    Tichý dům/Žlutá řeka/Poslední vlak/Kočky/Malý kouzelník/Sníh
    u Ústí/v Plzni/na konci léta/bez oken/pod věží/za řekou
    Plzeň/Ústí nad Labem/Třebíč/České Budějovice

    DE/EUR
    Jürgen/Käthe/Götz/Änne/Björn/Sören/Mathilda/Friederike
    Müller/Groß/Schäfer/Böhm/Weiß/Köhler/Lindenthal/Krämer
    Die Brücke/Das Mädchen/Der Schlüssel/Fräulein Süß/Der Lügner/Die Küche
    am Fluß/über München/im Nebel/von Köln/ohne Türen/nach Mitternacht
    Köln/Görlitz/Lübeck/Gießen

    DK/DKK
    Søren/Bjørn/Kåre/Birthe/Jørgen/Åse/Maren/Frederik
    Østergaard/Kjær/Nørgaard/Sørensen/Højlund/Ågård/Bruun
    Pigen/Den sidste færge/Mørket/Børnene/En sommer/Fyrtårnet
    på øen/i Århus/under sneen/før daggry/ved åen/uden ord
    Århus/Ålborg/Helsingør/Køge

    ES/EUR
    Íñigo/Begoña/Andrés/Lucía/Ramón/Inés/Óscar/Pilar
    Núñez/Ibáñez/Martínez/Peña/Gutiérrez/Cañizares/Solís
    La señora/El corazón/Los años/El último tren/La niña/El jardín
    de Córdoba/sin mañana/del río/en agosto/de los espejos/que nadie soñó
    Córdoba/León/Logroño/Cádiz

    FR/EUR
    Zoé/Étienne/Hélène/François/Anaïs/Benoît/Océane/Jérôme
    Lefèvre/Béranger/Gérôme/Dûment/Chênevert/Marçais/Saint-Aubin
    L'été/La maison/Les enfants/Le silence/Une nuit/Le café
    de Zoé/du désert/sans fenêtres/à Besançon/de l'île/après la fête
    Besançon/Orléans/Nîmes/Sète

    GB/GBP
    Imogen/Rhys/Zoë/Alasdair/Bronwen/Callum/Philippa/Tobias
    Ashdown/Pryce-Jones/Fairweather/Okonkwo/Thistlewood/Marsh/Brontë
    The Quiet Harbour/A Letter/The Clockmaker/Seven Winters/The Glass House
    of Whitby/for Eleanor/at Low Tide/in Grey/Beyond the Fen/Unsent
    Whitby/Aberystwyth/Leeds/Dundee

    HU/HUF
    Ágnes/Győző/Gergő/Zsófia/Ödön/Réka/Bálint/Mária
    Kőszegi/Szűcs/Fehér/Vörös/Őry/Bárány/Török
    Az őszi nap/A tükör/Hűvös éj/A vőlegény/Két húr/Az örök út
    Győrben/a hídon/szürkületkor/hó alatt/szavak nélkül/a kútnál
    Győr/Pécs/Kőszeg/Vác

    IE/EUR
    Siobhán/Seán/Gráinne/Cillian/Róisín/Tadhg/Bríd/Oisín
    Ó Briain/Ní Dhónaill/Mac Cába/O'Rourke/Ó Súilleabháin/Keane
    The Ferryman/A Field/The Long Wake/The Salt Road/An Oíche
    of Inis Mór/of Crows/Before Lent/in Connemara/Fhada/Without Gate
    Dún Laoghaire/Galway/Cork/Sligo

    IS/ISK
    Þóra/Björk/Guðrún/Hörður/Sæunn/Ýmir/Ægir/Ástríður
    Þórsdóttir/Sæmundsson/Guðmundsdóttir/Ólafsson/Örvarsson/Jónsdóttir
    Húsið/Ljósið/Hægur vindur/Síðasta bréfið/Þögnin/Hrafninn
    við sjóinn/á heiðinni/í þokunni/frá Höfn/undir ísnum/fyrir jól
    Reykjavík/Höfn/Ísafjörður/Húsavík

    IT/EUR
    Niccolò/Loredana/Cosimo/Fiammetta/Ettore/Noè/Ginevra/Zaira
    Forlì/Bellincioni/Abbà/Cantù/D'Amico/Sforzin/Paternò
    La città/Il caffè/Perché la notte/Gli anni/La felicità/Il ladro
    di Forlì/non c'è più/della virtù/a metà/senza età/sul Po
    Forlì/Cantù/Torino/Bari

    JP/JPY
    Yūko/Shirō/Kōhei/Sayuri/Jun/Mayumi/Ryō/Tōru
    Ōshima/Satō/Kurosawa/Itō/Katō/Endō/Mizushima
    東京の/夏の/雨の/海の/最後の/遠い
    夜/庭/窓/記憶/手紙/橋
    Kyōto/Ōsaka/Kōbe/Tōkyō

    MX/MXN
    María José/Adrián/Xóchitl/Raúl/Itzel/Ángel/Sofía/Martín
    Hernández/Ordóñez/Villaseñor/Chávez/Xicoténcatl/Muñoz/Zúñiga
    La sombra/El maíz/Cien caminos/La canción/El niño/Las mañanas
    de Oaxaca/del cañón/a Mérida/del volcán/sin dueño/de papel picado
    Mérida/Oaxaca/León/Torreón

    PL/PLN
    Łukasz/Grażyna/Bożena/Stanisław/Małgorzata/Michał/Jagoda/Paweł
    Wójcik/Żuławski/Łoziński/Piątek/Dąbrowska/Świerczewska/Król
    Żółty dom/Cisza/Ostatni świadek/Śnieg/Dziewczęta/Wąż
    nad Łódką/w Krakowie/po północy/bez końca/za ścianą/z Gdyni
    Łódź/Kraków/Gdańsk/Poznań

    PT/EUR
    Gonçalo/Leonor/Simão/Mafalda/Estêvão/Catarina/Lourenço/Graça
    Mourão/Simões/Calção/Valadão/Fogaça/Câmara/Gusmão
    O Verão/A Mão/Três Manhãs/O Leão/A Lição/Os Limões
    de Évora/à Janela/sem Mar/do Alentejo/que Não Há/em Setúbal
    Évora/Setúbal/Porto/Guimarães

    SE/SEK
    Åke/Märta/Göran/Hjördis/Östen/Linnéa/Ingmar/Pär
    Sjöström/Åkerlund/Björklund/Öberg/Nyström/Lindqvist/Hjälm
    Sommaren/Älskade vän/Ön/Våren/Det sjätte huset/Fågeln
    i Malmö/på Öland/utan ände/före snön/vid sjön/och båten
    Malmö/Göteborg/Växjö/Örebro

    TR/TRY
    Ayşe/İbrahim/Gülşah/Çağlar/Ömer/Işıl/Şule/Oğuz
    Yılmaz/Çelik/Öztürk/Şahin/Güneş/Kılıç/Doğan
    Kış/Çınar/Üç gün/Işık/Gece yağmuru/Küçük şehir
    uykusu/gölgesi/İzmir'de/ve deniz/şarkısı/öncesi
    İzmir/Eskişehir/Muğla/Iğdır

    US/USD
    Dolores/Marcus/Renée/Theodore/Chloë/Hank/Josefina/Wendell
    Delacroix/Whitlock/Nakamura/O'Hara/Peñaloza/Burroughs/Lindgren
    Midnight/The Last Diner/Copper Sky/Goodbye/The Motel/Two Strangers
    in Santa Fé/on Route 9/Over Omaha/Mr. Whitlock/and the Coyote/at Dawn
    Santa Fé/Omaha/Duluth/Baton Rouge
    """
}
