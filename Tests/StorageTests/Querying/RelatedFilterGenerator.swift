import Filtering
import LosslessJSON
import TestSupport

/// Random filters on films of ``RelatedWorld``, each with its meaning as a function of the entity: true,
/// false, or nil for unknown.
struct RelatedFilterGenerator {
  typealias Row = RelatedWorld.Row
  typealias Meaning = (RelatedWorld, Row) -> Bool?

  struct Generated {
    let text: String
    let meaning: Meaning
  }

  var random: SeededGenerator

  static let textPaths = [
    "title", "director.name", "director.studio.name", "director.mentor.name",
    "director.mentor.studio.name", "subject.name", "subject.mentor.name",
  ]
  static let numberPaths = ["year", "director.born", "director.mentor.born", "subject.born"]
  static let otherPaths = [
    "director", "director.studio", "director.mentor.studio", "subject", "subject.mentor",
  ]

  mutating func filter(depth: Int = 2) -> Generated {
    switch depth == 0 ? 0 : Int.random(in: 0..<6, using: &random) {
    case 1:
      let (left, right) = (filter(depth: depth - 1), filter(depth: depth - 1))
      return Generated(text: "(\(left.text)) AND (\(right.text))") { world, row in
        switch (left.meaning(world, row), right.meaning(world, row)) {
        case (false, _), (_, false): false
        case (true, true): true
        default: nil
        }
      }
    case 2:
      let (left, right) = (filter(depth: depth - 1), filter(depth: depth - 1))
      return Generated(text: "(\(left.text)) OR (\(right.text))") { world, row in
        switch (left.meaning(world, row), right.meaning(world, row)) {
        case (true, _), (_, true): true
        case (false, false): false
        default: nil
        }
      }
    case 3:
      let inner = filter(depth: depth - 1)
      return Generated(text: "NOT (\(inner.text))") { inner.meaning($0, $1).map { !$0 } }
    default: return predicate()
    }
  }

  private mutating func predicate() -> Generated {
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      return state(pick(Self.textPaths + Self.numberPaths + Self.otherPaths + ["cast", "about"]))
    case 1: return count()
    case 2, 3: return quantified()
    case 4: return field(pick(Self.numberPaths), isText: false)
    default: return field(pick(Self.textPaths), isText: true)
    }
  }

  private mutating func state(_ path: String) -> Generated {
    let names = path.split(separator: ".").map(String.init)
    let isMissing = Bool.random(using: &random)
    let isNegated = Bool.random(using: &random)
    let text = "\(path) IS \(isNegated ? "NOT " : "")\(isMissing ? "MISSING" : "NULL")"
    return Generated(text: text) { world, row in
      let found = world.find(names, from: row)
      if isMissing { return (found == .missing) != isNegated }
      return found == .missing ? nil : (found == .null) != isNegated
    }
  }

  private mutating func count() -> Generated {
    let path = pick(["cast", "director.films", "about", "subject.films"])
    let names = path.split(separator: ".").map(String.init)
    let (sign, compare) = comparison()
    let number = Int64.random(in: 0...3, using: &random)
    return Generated(text: "\(path).count \(sign) \(number)") { world, row in
      world.members(names, from: row).map { compare(.integer(Int64($0.count)), .integer(number)) }
    }
  }

  private mutating func quantified() -> Generated {
    let (members, fields): (String, [String]) =
      switch Int.random(in: 0..<4, using: &random) {
      case 0: ("cast", ["name", "studio.name", "mentor.name"])
      case 1: ("about", ["name", "mentor.name"])
      case 2: ("subject.films", ["title"])
      default: ("director.films", ["title"])
      }
    let field = pick(fields)
    let inner = self.field(field, isText: true)
    let isNone = Bool.random(using: &random)
    let names = members.split(separator: ".").map(String.init)
    let text =
      inner.text.hasPrefix("lower(") || inner.text.hasPrefix("length(")
      ? inner.text.replacing("(", with: "(\(members).", maxReplacements: 1)
      : "\(members).\(inner.text)"
    return Generated(text: "\(isNone ? "NONE" : "ANY") \(text)") { world, row in
      guard var rows = world.members(names, from: row) else { return nil }
      // Members of a type without the field are passed over.
      if field.hasPrefix("mentor") { rows.removeAll { $0.type == "Studio" } }
      let found = rows.map { inner.meaning(world, $0) }
      let any: Bool? = found.contains(true) ? true : found.contains(nil) ? nil : false
      return isNone ? any.map { !$0 } : any
    }
  }

  private mutating func field(_ path: String, isText: Bool) -> Generated {
    let names = path.split(separator: ".").map(String.init)
    func about(
      _ text: String, _ test: @escaping (FilterValue) -> Bool
    ) -> Generated {
      Generated(text: text) { world, row in world.find(names, from: row).value.map(test) }
    }
    let (sign, compare) = comparison()
    guard isText else {
      let number = Int64.random(in: 1926...1995, using: &random)
      return about("\(path) \(sign) \(number)") { compare($0, .integer(number)) }
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let text = pick(RelatedWorld.texts)
      return about("\(path) \(sign) '\(text)'") { compare($0, .text(text)) }
    case 1:
      let text = pick(RelatedWorld.texts.map(Self.lower))
      return about("lower(\(path)) = '\(text)'") {
        FilterValue.text(Self.lower(Self.text($0))) == .text(text)
      }
    case 2:
      let length = Int64.random(in: 0...8, using: &random)
      return about("length(\(path)) \(sign) \(length)") {
        compare(.integer(Int64(Self.text($0).unicodeScalars.count)), .integer(length))
      }
    default:
      let word = pick(["CONTAINS", "BEGINSWITH", "ENDSWITH"])
      let folding = pick(["", "[c]", "[cd]"])
      let part = pick(["ag", "AG", "\u{E8}", "e", "ES", "SS", "\u{DF}", "o", "\u{F6}", "", "Varda"])
      return about("\(path) \(word)\(folding) '\(part)'") {
        let whole = Array(Self.folded(Self.text($0), folding).unicodeScalars)
        let part = Array(Self.folded(part, folding).unicodeScalars)
        return switch word {
        case "BEGINSWITH": whole.starts(with: part)
        case "ENDSWITH": whole.reversed().starts(with: part.reversed())
        default: (0...whole.count).contains { whole[$0...].starts(with: part) }
        }
      }
    }
  }

  private mutating func comparison() -> (String, (FilterValue, FilterValue) -> Bool) {
    let signs: [(String, (FilterValue, FilterValue) -> Bool)] = [
      ("=", { $0 == $1 }), ("!=", { $0 != $1 }), ("<", { $0.isBefore($1) }),
      (">", { $1.isBefore($0) }), ("<=", { !$1.isBefore($0) }), (">=", { !$0.isBefore($1) }),
    ]
    return signs[Int.random(in: 0..<signs.count, using: &random)]
  }

  private mutating func pick(_ choices: [String]) -> String {
    choices[Int.random(in: 0..<choices.count, using: &random)]
  }

  // MARK: Texts

  private static func text(_ value: FilterValue) -> String {
    if case .text(let text) = value { text } else { "" }
  }

  /// The small letters of the few texts that occur here, by hand.
  static func lower(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "A"..."Z": String(Unicode.Scalar(UInt8(scalar.value + 32)))
      case "\u{D6}": "\u{F6}"
      default: String(scalar)
      }
    }.joined()
  }

  static func folded(_ text: String, _ folding: String) -> String {
    if folding.isEmpty { return text }
    let small = lower(text).unicodeScalars.map { $0 == "\u{DF}" ? "ss" : String($0) }.joined()
    if folding == "[c]" { return small }
    return small.unicodeScalars.map { scalar in
      switch scalar {
      case "\u{E8}": "e"
      case "\u{F6}": "o"
      default: String(scalar)
      }
    }.joined()
  }
}
