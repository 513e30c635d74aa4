import CResources
import GraphQL
import LosslessJSON

/// Files that are part of the binary, by their paths in the sources.
enum DemoResources {
  static func bytes(_ path: String) -> [UInt8] {
    sequence(first: 0) { $0 + 1 }.lazy.map { larder_resource_at($0)?.pointee }
      .prefix { $0 != nil }.compactMap { $0 }
      .first { $0.path.map { String(cString: $0) } == path }
      .map { Array(UnsafeBufferPointer(start: $0.bytes, count: $0.count)) } ?? []
  }
}

/// The type system of the demo: the example's schema.
enum FilmsSchema {
  static let sdl = String(
    decoding: DemoResources.bytes("Examples/films/schema.graphql"), as: UTF8.self)

  /// Built once. The text is sound, as its test checks.
  static let schema: Schema = {
    let source = Source(name: "films.graphql", body: sdl)
    return Schema.buildRecovering([Parser.parseRecovering(source).document]).schema
  }()
}

/// The words and sentences that a library is made of.
///
/// Some hold what a careless encoder breaks on: straight quotes, a backslash, a line break, a tab,
/// characters outside the basic plane.
struct DemoWords: Sendable {
  /// What one country's titles, names and places are made of.
  struct Country: Sendable {
    let code: String
    let currency: String
    let given: [String]
    let family: [String]
    /// Titles are one of the heads, then one of the tails.
    let titleHeads: [String]
    let titleTails: [String]
    let cities: [String]
    var isEnglish: Bool { ["GB", "IE", "US"].contains(code) }
  }

  /// One for each value of the schema's `Country`, in its order.
  let countries: [Country]
  /// Sentences, with `{name}`, `{city}` and `{year}` in their places.
  let openings, middles, endings, lives: [String]
  let taglines, roles: [String]

  /// Read once. The text is sound, as the library's tests check.
  static let all: DemoWords = {
    let bytes = DemoResources.bytes("Sources/CResources/demo-words.json")
    let json = (try? JSONValue(parsing: bytes)) ?? .null
    let words = { (name: String, json: JSONValue) in json[name]?.strings ?? [] }
    return DemoWords(
      countries: (json["countries"]?.array ?? []).map {
        Country(
          code: $0["country"]?.string ?? "", currency: $0["currency"]?.string ?? "",
          given: words("given", $0), family: words("family", $0),
          titleHeads: words("titleHeads", $0), titleTails: words("titleTails", $0),
          cities: words("cities", $0))
      },
      openings: words("openings", json), middles: words("middles", json),
      endings: words("endings", json), lives: words("lives", json),
      taglines: words("taglines", json), roles: words("roles", json))
  }()

  /// A sentence without placeholders, which are identified by their first letter.
  static func filled(_ sentence: String, name: String, city: String, year: Int) -> JSONValue {
    var text = ""
    var rest = sentence[...]
    while let open = rest.utf8.firstIndex(of: UInt8(ascii: "{")),
      let close = rest[open...].utf8.firstIndex(of: UInt8(ascii: "}"))
    {
      text += rest[..<open]
      switch rest.utf8[rest.utf8.index(after: open)] {
      case UInt8(ascii: "n"): text += name
      case UInt8(ascii: "c"): text += city
      default: text += String(year)
      }
      rest = rest[rest.utf8.index(after: close)...]
    }
    return .string(text + rest)
  }
}
