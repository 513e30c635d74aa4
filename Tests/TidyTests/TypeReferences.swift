/// The types that one Swift file declares and names, found without a compiler: comments and string
/// literals are skipped, and a word in upper camel case is the name of a type.
///
/// It reads bytes: a debug build needs less than a second for all sources.
struct TypeReferences {
  /// The top-level types that other files can name.
  private(set) var declared: Set<String> = []
  /// The types that the file names and does not declare itself, at any depth. A word after a dot is a
  /// member of another type.
  private(set) var named: Set<String> = []

  private static let keywords: Set<String> = [
    "struct", "class", "enum", "protocol", "actor", "typealias",
  ]

  init(_ text: String) {
    var text = text
    var own: Set<String> = []
    var depth = 0
    var isDeclaration = false
    var isPrivate = false
    text.withUTF8 { bytes in
      var scanner = WordScanner(bytes: bytes)
      while let token = scanner.next() {
        switch token {
        case .open: depth += 1
        case .close:
          depth -= 1
          isPrivate = false
        case .word(let range, let isMember):
          if isMember && !isDeclaration { continue }
          let first = bytes[range.lowerBound]
          let isUpper = first >= UInt8(ascii: "A") && first <= UInt8(ascii: "Z")
          // Of the words in lower case only keywords matter, the longest of which has 11 bytes.
          if !isUpper && !isDeclaration && range.count > 11 { continue }
          let word = String(decoding: bytes[range], as: UTF8.self)
          if isDeclaration {
            isDeclaration = false
            own.insert(word)
            if depth == 0 && !isPrivate { declared.insert(word) }
            isPrivate = false
          } else if isUpper {
            named.insert(word)
          } else if Self.keywords.contains(word) {
            isDeclaration = true
          } else if depth == 0 {
            if word == "private" || word == "fileprivate" {
              isPrivate = true
            } else if ["let", "var", "func", "extension", "import"].contains(word) {
              isPrivate = false
            }
          }
        }
      }
    }
    named.subtract(own)
  }
}

/// A scanner for the words and braces of Swift source.
private struct WordScanner {
  enum Token {
    case open, close
    case word(Range<Int>, isMember: Bool)
  }

  let bytes: UnsafeBufferPointer<UInt8>
  private var place = 0

  init(bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  mutating func next() -> Token? {
    let count = bytes.count
    while place < count {
      let byte = bytes[place]
      if Self.isWord(byte) {
        let start = place
        while place < count, Self.isWord(bytes[place]) { place += 1 }
        let isMember = start > 0 && bytes[start - 1] == UInt8(ascii: ".")
        return .word(start..<place, isMember: isMember)
      }
      switch byte {
      case UInt8(ascii: "{"):
        place += 1
        return .open
      case UInt8(ascii: "}"):
        place += 1
        return .close
      case UInt8(ascii: "/"): skipComment()
      case UInt8(ascii: "\""): skipString(hashes: 0)
      case UInt8(ascii: "#"):
        let start = place
        while peek(0) == UInt8(ascii: "#") { place += 1 }
        if peek(0) == UInt8(ascii: "\"") { skipString(hashes: place - start) }
      default: place += 1
      }
    }
    return nil
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    // Letters in both cases, then digits, the underscore, and all that is not ASCII.
    let lower = byte | 0x20
    return lower >= 0x61 && lower <= 0x7A || byte >= 0x30 && byte <= 0x39 || byte == 0x5F
      || byte >= 0x80
  }

  private func peek(_ offset: Int) -> UInt8 {
    place + offset < bytes.count ? bytes[place + offset] : 0
  }

  /// Skips a comment, or a slash that begins none. Block comments nest.
  private mutating func skipComment() {
    let (slash, star) = (UInt8(ascii: "/"), UInt8(ascii: "*"))
    if peek(1) == slash {
      while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
      return
    }
    guard peek(1) == star else {
      place += 1
      return
    }
    var depth = 0
    repeat {
      if peek(0) == slash, peek(1) == star {
        depth += 1
        place += 2
      } else if peek(0) == star, peek(1) == slash {
        depth -= 1
        place += 2
      } else {
        place += 1
      }
    } while depth > 0 && place < bytes.count
  }

  /// Skips a string literal with its interpolations, from its first quotation mark.
  ///
  /// - Parameter hashes: the number of `#` before it, 0 unless it is a raw string.
  private mutating func skipString(hashes: Int) {
    let quote = UInt8(ascii: "\"")
    let quotes = peek(1) == quote && peek(2) == quote ? 3 : 1
    place += quotes
    while place < bytes.count {
      let byte = bytes[place]
      if byte == quote, isRun(of: quote, quotes, at: 0),
        isRun(of: UInt8(ascii: "#"), hashes, at: quotes)
      {
        place += quotes + hashes
        return
      }
      if byte == UInt8(ascii: "\\"), isRun(of: UInt8(ascii: "#"), hashes, at: 1) {
        place += 1 + hashes
        if peek(0) == UInt8(ascii: "(") { skipInterpolation() } else { place += 1 }
      } else {
        place += 1
      }
    }
  }

  private mutating func skipInterpolation() {
    var depth = 0
    repeat {
      switch bytes[place] {
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"): depth -= 1
      case UInt8(ascii: "\""):
        skipString(hashes: 0)
        continue
      default: break
      }
      place += 1
    } while depth > 0 && place < bytes.count
  }

  private func isRun(of byte: UInt8, _ count: Int, at offset: Int) -> Bool {
    for index in 0..<count where peek(offset + index) != byte { return false }
    return true
  }
}
