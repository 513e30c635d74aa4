/// The score of a text for a search: `hits / (hits + 1 + characters / 200)`, above 0 and below 1.
///
/// It depends on this text alone. Places of words that overlap are one hit, as in FTS5's `highlight`.
struct SearchScore {
  private(set) var hits = 0
  private(set) var characters = 0
  private var column = -1
  private var end = -1

  var value: Double { Double(hits) / (Double(hits) + 1 + Double(characters) / 200) }

  /// Adds the place of a word or a phrase.
  ///
  /// - Parameters:
  ///   - first: the index of its first word in the column's text. Columns come one after the other, the places
  ///     in a column in the order of their first words.
  ///   - count: the number of its words.
  mutating func addPlace(inColumn column: Int, first: Int, count: Int) {
    let last = first + count - 1
    if column == self.column, first <= end {
      end = max(end, last)
    } else {
      hits += 1
      (self.column, end) = (column, last)
    }
  }

  /// Adds the length of a text in UTF-8: every byte but the later ones of a character is counted.
  mutating func addText(_ text: UnsafeBufferPointer<UInt8>) {
    var count = 0
    for byte in text where byte & 0xC0 != 0x80 { count += 1 }
    characters += count
  }
}
