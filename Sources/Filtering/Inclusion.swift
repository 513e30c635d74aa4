import Model

/// A relationship whose entities a read nests: one name of the parameter `include`.
///
/// ```
/// include  = path { "," path }
/// path     = step [ "." step ]
/// step     = name [ "(" argument { "," argument } ")" ]
/// argument = "limit:" number | "order:" term { "," term }
/// ```
///
/// `director,cast(limit: 3, order: name)` nests one level; `cast(limit: 3).films` nests two. The terms of an
/// order are columns and key paths, see ``EntityOrder``.
package struct Inclusion: Hashable, Sendable {
  /// The longest text.
  package static let charactersMax = 2_048
  /// The largest number of paths.
  package static let pathsMax = 32
  /// The largest number of relationships in one path.
  package static let levelsMax = 2
  /// The largest `limit` of a relationship.
  package static let limitMax = 100
  /// The number of nested entities of a to-many relationship without a `limit`.
  package static let limitDefault = 10

  package let name: String
  /// The number of entities at most; nil for the default.
  package fileprivate(set) var limit: Int?
  /// The text of an order, without white space around its terms; nil for the stored order.
  package fileprivate(set) var order: String?
  /// Relationships of the nested entities.
  package fileprivate(set) var inner: [Inclusion] = []

  fileprivate var hasArguments: Bool { limit != nil || order != nil }

  /// Reads the parameter's text.
  ///
  /// - Throws: all faults at once, one for each faulty path at least.
  package static func read(_ text: String) throws(InclusionFaults) -> [Inclusion] {
    guard text.count <= charactersMax else {
      throw InclusionFaults(messages: ["has more than \(charactersMax) characters"])
    }
    let pieces = InclusionReader.pieces(of: Array(text))
    guard pieces.count <= pathsMax else {
      throw InclusionFaults(messages: ["has more than \(pathsMax) paths"])
    }
    var faults: [String] = []
    var all: [Inclusion] = []
    for piece in pieces {
      var reader = InclusionReader(piece)
      do throws(InclusionFaults) {
        merge(try reader.path()[...], into: &all, &faults)
      } catch {
        faults += error.messages
      }
    }
    guard faults.isEmpty else { throw InclusionFaults(messages: faults) }
    return all
  }

  /// Adds a path to the tree. The arguments of a relationship are given once, with any of its paths.
  private static func merge(
    _ path: ArraySlice<Inclusion>, into all: inout [Inclusion], _ faults: inout [String]
  ) {
    guard let step = path.first else { return }
    let rest = path.dropFirst()
    guard let place = all.firstIndex(where: { $0.name.equalsExactly(step.name) }) else {
      var added = step
      merge(rest, into: &added.inner, &faults)
      return all.append(added)
    }
    if rest.isEmpty, all[place].inner.isEmpty || all[place].hasArguments && step.hasArguments {
      faults.append("\(step.name) is named twice")
    } else if step.hasArguments, all[place].hasArguments {
      faults.append("the arguments of \(step.name) are given twice")
    } else if step.hasArguments {
      all[place].limit = step.limit
      all[place].order = step.order
    }
    merge(rest, into: &all[place].inner, &faults)
  }
}

/// Why the text of an inclusion cannot be used.
package struct InclusionFaults: Error, Hashable, Sendable {
  package let messages: [String]
}

/// Reads one path.
private struct InclusionReader {
  struct Piece {
    let characters: ArraySlice<Character>
  }

  private let characters: ArraySlice<Character>
  private var index: Int

  init(_ piece: Piece) {
    characters = piece.characters
    index = piece.characters.startIndex
  }

  /// Splits a text at the commas outside parentheses.
  static func pieces(of characters: [Character]) -> [Piece] {
    var pieces: [Piece] = []
    var (start, depth) = (0, 0)
    for (index, character) in characters.enumerated() {
      switch character {
      case "(": depth += 1
      case ")": depth = max(0, depth - 1)
      case "," where depth == 0:
        pieces.append(Piece(characters: characters[start..<index]))
        start = index + 1
      default: break
      }
    }
    pieces.append(Piece(characters: characters[start...]))
    return pieces
  }

  mutating func path() throws(InclusionFaults) -> [Inclusion] {
    var steps: [Inclusion] = []
    var faults: [String] = []
    repeat {
      var step = Inclusion(name: try name())
      if take("(") { faults += try arguments(of: &step) }
      steps.append(step)
    } while take(".")
    skipSpace()
    guard index == characters.endIndex else { throw fault("a comma, a point or ( must follow") }
    if steps.count > Inclusion.levelsMax {
      let names = steps.map(\.name).joined(separator: ".")
      faults.append("\(names) has more than \(Inclusion.levelsMax) levels")
    }
    guard faults.isEmpty else { throw InclusionFaults(messages: faults) }
    return steps
  }

  private mutating func name() throws(InclusionFaults) -> String {
    skipSpace()
    let start = index
    while index < characters.endIndex, Self.isNameCharacter(characters[index]) { index += 1 }
    guard index > start, !("0"..."9").contains(characters[start]) else {
      index = start
      throw fault("the name of a relationship must be here")
    }
    return String(characters[start..<index])
  }

  /// Reads `limit: 3, order: -year,title)`.
  ///
  /// - Returns: the faults of values; faults of the form are thrown.
  private mutating func arguments(of step: inout Inclusion) throws(InclusionFaults) -> [String] {
    let start = index
    guard let end = characters[start...].firstIndex(of: ")") else {
      throw fault("a ) is missing")
    }
    let chunks = characters[start..<end].split(separator: ",", omittingEmptySubsequences: false)
    index = end + 1
    var found: [(name: String, value: String)] = []
    var faults: [String] = []
    for chunk in chunks {
      if let colon = chunk.firstIndex(of: ":") {
        found.append((Self.trimmed(chunk[..<colon]), Self.trimmed(chunk[(colon + 1)...])))
      } else if let last = found.indices.last, found[last].name == "order" {
        // A further term of the order.
        found[last].value += ",\(Self.trimmed(chunk))"
      } else {
        faults.append(
          "\(step.name)(\(Self.trimmed(chunk))) must have the form (limit: 3, order: name)")
      }
    }
    for (name, value) in found {
      switch name {
      case "limit" where step.limit == nil:
        if let limit = Int(value), (1...Inclusion.limitMax).contains(limit) {
          step.limit = limit
        } else {
          faults.append(
            "the limit of \(step.name) must be a number from 1 to \(Inclusion.limitMax)")
        }
      case "order" where step.order == nil: step.order = value
      case "limit", "order": faults.append("the \(name) of \(step.name) is given twice")
      default:
        faults.append("\(step.name) has no argument \(name); there are limit and order")
      }
    }
    return faults
  }

  // MARK: Characters

  private mutating func take(_ character: Character) -> Bool {
    skipSpace()
    guard index < characters.endIndex, characters[index] == character else { return false }
    index += 1
    return true
  }

  private mutating func skipSpace() {
    while index < characters.endIndex, characters[index].isWhitespace { index += 1 }
  }

  private func fault(_ detail: String) -> InclusionFaults {
    InclusionFaults(messages: ["position \(index + 1): \(detail)"])
  }

  private static func trimmed(_ characters: ArraySlice<Character>) -> String {
    var rest = characters
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
  }

  private static func isNameCharacter(_ character: Character) -> Bool {
    switch character {
    case "a"..."z", "A"..."Z", "0"..."9", "_": character.isASCII
    default: false
    }
  }
}
