/// The sentences of synopses, taglines and biographies. Placeholders in braces are `{name}`, `{city}`
/// and `{year}`, identified by their first letter.
///
/// Some hold what a careless encoder breaks on: straight quotes, a backslash, a line break, a tab,
/// characters outside the basic plane.
enum Prose {
  static let openings = [
    "When {name} comes back to {city} after many years, nobody remembers the house by the river.",
    "{name}, a piano tuner in {city}, finds a letter that was never meant to be read.",
    "In the winter of {year}, the ferry to {city} leaves without {name}.",
    "Nobody in {city} asks {name} about the fire of {year}.",
    "{name} inherits a cinema in {city} – and the debts of three generations.",
    "A telephone rings in {city}. {name} says only: \"Not today.\"",
    "{name} has ten days to learn what {city} has kept silent since {year}.",
    "Every morning {name} photographs the same street corner of {city}.",
  ]

  static let middles = [
    "What begins as a favour for an old friend turns into a journey across half the continent.",
    "Between the harbour and the railway yards, a friendship grows that should not exist.",
    "Little by little, the neighbours start to tell another story.",
    "The map says C:\\archive\\reel-7; the cellar says otherwise.",
    "Then the snow comes, and with it a stranger who speaks of “naïveté” and café debts.",
    "Her sister's diary holds the one page that was thought lost.",
    "It costs him his naïve trust in señor Ibáñez, and nearly his life.",
    "🎞️ Found footage from the family's own camera carries the second half.",
  ]

  static let endings = [
    "A quiet film about what is left unsaid.",
    "Shot in one summer with players from the town.",
    "The last reel was long believed lost.\nRestored from the negative.",
    "With a score for zither and two cellos.",
    "Not everyone will be on the morning train.",
    "Half comedy, half requiem.",
  ]

  static let taglines = [
    "Some doors only open inwards.", "Nobody leaves before the thaw.", "She kept the receipt.",
    "Tonight,\tthe tide decides.", "One town. Two truths.", "He said he would call.",
    "Love is a long lease.", "The truth wore a borrowed coat.", "It was never about the money.",
  ]

  static let lives = [
    "Grew up in {city}, came to film by way of the theatre there.",
    "Trained as a watchmaker in {city} before a first role in {year}.",
    "Known in {city} for one long shot and a short temper.",
    "Began as a projectionist in {city} in {year}.",
  ]

  static let roles = [
    "the narrator", "the stranger", "the sister", "the ferryman", "Dr. Weiß", "the landlady",
    "Señor Ibáñez", "the boy", "the notary", "Mme Lefèvre", "a neighbour", "the inspector",
  ]

  static func filled(_ sentence: String, name: String, city: String, year: Int) -> String {
    var text = ""
    text.reserveCapacity(sentence.utf8.count + 24)
    var rest = sentence.utf8[...]
    while let open = rest.firstIndex(of: UInt8(ascii: "{")),
      let close = rest[open...].firstIndex(of: UInt8(ascii: "}"))
    {
      text += Substring(rest[..<open])
      switch rest[rest.index(after: open)] {
      case UInt8(ascii: "n"): text += name
      case UInt8(ascii: "c"): text += city
      default: text += String(year)
      }
      rest = rest[rest.index(after: close)...]
    }
    return text + Substring(rest)
  }
}
