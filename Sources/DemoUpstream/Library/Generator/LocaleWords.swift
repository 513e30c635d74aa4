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
