/// A pattern of `LIKE`, matched in one pass over the text.
///
/// SQLite's `LIKE` backtracks at every `%`, and one comparison cannot be interrupted: a caller's pattern and
/// text could keep it busy for any length of time. Here the pattern is an automaton with a state for each
/// character, and a step moves all states at once, 64 in a machine word (the Shift-And algorithm of
/// Baeza-Yates and Gonnet, 1992; a `%` is a state that stays active). So the time is proportional to the
/// text's length, and to the pattern's length divided by 64.
///
/// The semantics are SQLite's: `%` matches any characters, `_` one, case is ignored for ASCII letters only.
struct LikePattern {
  /// Bytes of text between two checks of the deadline.
  private static let bytesBetweenLooks = 16 * 1024

  private let words: Int
  /// The state after the last character, in the last word.
  private let accepting: UInt64
  /// States with a `%`, which stay active for every character.
  private let staying: [UInt64]
  /// The states that each character advances, by row; row 0 is for characters that the pattern does not name.
  private var rows: [UInt64]
  private var asciiRows = [Int](repeating: 0, count: 128)
  private var otherRows: [UInt32: Int] = [:]

  /// - Parameter escape: the character that makes a following `%`, `_` or itself literal.
  init(_ pattern: UnsafeBufferPointer<UInt8>, escape: UInt32? = nil) {
    // Nil stands for `_`.
    var characters: [UInt32?] = []
    var staysAt: Set<Int> = []
    var index = 0
    while index < pattern.count {
      let next = Self.scalar(pattern, &index)
      if next == escape {
        // In SQLite nothing matches a pattern that ends with its escape character.
        let escaped = index < pattern.count ? Self.scalar(pattern, &index) : Self.noScalar
        characters.append(Self.folded(escaped))
      } else if next == UInt32(UInt8(ascii: "%")) {
        staysAt.insert(characters.count)
      } else if next == UInt32(UInt8(ascii: "_")) {
        characters.append(nil)
      } else {
        characters.append(Self.folded(next))
      }
    }
    let words = characters.count / 64 + 1
    self.words = words
    accepting = 1 << UInt64(characters.count % 64)
    var staying = [UInt64](repeating: 0, count: words)
    for state in staysAt { staying[state / 64] |= 1 << UInt64(state % 64) }
    self.staying = staying
    rows = [UInt64](repeating: 0, count: words)
    for (state, character) in characters.enumerated() where character == nil {
      rows[state / 64] |= 1 << UInt64(state % 64)
    }
    let unnamed = rows
    for (state, character) in characters.enumerated() {
      guard let character else { continue }
      let row = known(character) ?? add(character, unnamed)
      rows[row * words + state / 64] |= 1 << UInt64(state % 64)
    }
  }

  private func known(_ character: UInt32) -> Int? {
    let row = character < 128 ? asciiRows[Int(character)] : otherRows[character] ?? 0
    return row == 0 ? nil : row
  }

  private mutating func add(_ character: UInt32, _ unnamed: [UInt64]) -> Int {
    let row = rows.count / words
    rows += unnamed
    if character < 128 {
      asciiRows[Int(character)] = row
      // Rows are looked up by the text's characters, which can be upper case.
      if character >= 0x61, character <= 0x7A { asciiRows[Int(character) - 0x20] = row }
    } else {
      otherRows[character] = row
    }
    return row
  }

  /// - Parameter mayGoOn: called every few thousand steps; false stops the match.
  /// - Returns: nil if it was stopped.
  func matches(_ text: UnsafeBufferPointer<UInt8>, mayGoOn: () -> Bool) -> Bool? {
    words == 1 ? matchesShort(text, mayGoOn) : matchesLong(text, mayGoOn)
  }

  private func matchesShort(
    _ text: UnsafeBufferPointer<UInt8>, _ mayGoOn: () -> Bool
  ) -> Bool? {
    let stays = staying[0]
    let end = accepting & stays
    var states: UInt64 = 1
    var index = 0
    var look = Self.bytesBetweenLooks
    while index < text.count {
      let row = self.row(text, &index)
      states = (states & rows[row]) << 1 | states & stays
      if states == 0 { return false }
      // After a final `%` any text matches.
      if states & end != 0 { return true }
      if index >= look {
        guard mayGoOn() else { return nil }
        look = index + Self.bytesBetweenLooks
      }
    }
    return states & accepting != 0
  }

  private func matchesLong(
    _ text: UnsafeBufferPointer<UInt8>, _ mayGoOn: () -> Bool
  ) -> Bool? {
    var states = [UInt64](repeating: 0, count: words)
    states[0] = 1
    let end = accepting & staying[words - 1]
    let bytesBetweenLooks = max(Self.bytesBetweenLooks / words, 1)
    var index = 0
    var look = bytesBetweenLooks
    while index < text.count {
      let row = self.row(text, &index) * words
      var carry: UInt64 = 0
      var any: UInt64 = 0
      for word in 0..<words {
        let moving = states[word] & rows[row + word]
        states[word] = moving << 1 | carry | states[word] & staying[word]
        carry = moving >> 63
        any |= states[word]
      }
      if any == 0 { return false }
      if states[words - 1] & end != 0 { return true }
      if index >= look {
        guard mayGoOn() else { return nil }
        look = index + bytesBetweenLooks
      }
    }
    return states[words - 1] & accepting != 0
  }

  private func row(_ text: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> Int {
    let byte = text[index]
    if byte < 0x80 {
      index += 1
      return asciiRows[Int(byte)]
    }
    let scalar = Self.scalar(text, &index)
    return otherRows.isEmpty ? 0 : otherRows[scalar] ?? 0
  }

  // MARK: Characters

  /// A value that no text contains.
  private static let noScalar = UInt32.max

  /// Reads one UTF-8 character as leniently as SQLite: a lead byte and its continuation bytes.
  private static func scalar(_ text: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> UInt32 {
    let lead = text[index]
    index += 1
    guard lead >= 0xC0 else { return UInt32(lead) }
    var value = UInt32(lead & (lead < 0xE0 ? 0x1F : lead < 0xF0 ? 0x0F : 0x07))
    while index < text.count, text[index] & 0xC0 == 0x80 {
      value = value << 6 | UInt32(text[index] & 0x3F)
      index += 1
    }
    return value
  }

  private static func folded(_ character: UInt32) -> UInt32 {
    (0x41...0x5A).contains(character) ? character + 0x20 : character
  }
}

extension LikePattern {
  /// Returns the character of a text that has exactly one; nil for any other text.
  static func onlyScalar(of text: UnsafeBufferPointer<UInt8>) -> UInt32? {
    guard !text.isEmpty else { return nil }
    var index = 0
    let scalar = scalar(text, &index)
    return index == text.count ? scalar : nil
  }
}
