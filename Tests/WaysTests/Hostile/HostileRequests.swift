import HTTPWire
import LosslessJSON
import TestSupport

/// The requests to a route: each of its parameters with each hostile value.
struct HostileRequests {
  let route: HostileRoute
  let names: HostileNames
  let world: HostileWorld
  /// Half of all values, about 180; the next route gets the other half.
  private let values: [String]

  /// - Parameter turn: the route's number among all routes.
  init(route: HostileRoute, names: HostileNames, world: HostileWorld, turn: Int) {
    self.route = route
    self.names = names
    self.world = world
    values = HostileValues.all.enumerated().filter { ($0.offset + turn) % 2 == 0 }.map(\.element)
  }

  /// A request before it is serialised.
  struct Draft {
    var path: [String: String] = [:]
    var query: [QueryString.Parameter] = []
    var headers: [(String, String)] = []
    var body: [UInt8]?
  }

  /// Values that are tried alone: those that ended programs before, and one of each kind.
  private static let worst = [
    "1e-9223372036854775808", "1e9223372036854775807", "-9223372036854775808",
    "-9223372036854775809", "9223372036854775807", "9223372036854775808", "9223372036854775",
    "18446744073709551615", "2147483648", "-1", "0", "-0", "1e400", "1e-400", "1.5",
    "NaN", "0x1p99999", "+1", "", "\0", "%", "\"", "a:b", "[]", "{}", "null", "*", "..",
    "9999-12-31T23:59:60.999999999-23:59", "e\u{301}", "bytes=9223372036854775807-",
    String(repeating: "9", count: 400),
  ]

  var drafts: [Draft] {
    paths + queries + bodies + heads
  }

  // MARK: Paths

  /// Each parameter of the path with each value, the others with valid values.
  private var paths: [Draft] {
    route.pathNames.flatMap { name in
      values.map { value in
        var draft = base
        draft.path[name] = value
        return draft
      }
    }
  }

  // MARK: Queries

  /// Each documented parameter alone with the worst values, and all parameters that any route has at once,
  /// rotated so that each parameter gets each value.
  private var queries: [Draft] {
    let alone = route.queryNames.flatMap { name in
      Self.worst.map { value in
        var draft = base
        draft.query.removeAll { $0.name == name }
        draft.query.append(QueryString.Parameter(name: name, value: value))
        return draft
      }
    }
    let together = values.indices.map { turn in
      var draft = base
      draft.query = turned(route.queryNames, turn, bytesMax: 2_000).map {
        QueryString.Parameter(name: $0, value: $1)
      }
      return draft
    }
    let undocumented = values.indices.map { turn in
      var draft = base
      draft.query += turned(names.members, turn, bytesMax: 24).prefix(60).map {
        QueryString.Parameter(name: $0, value: $1)
      }
      return draft
    }
    return alone + (route.queryNames.isEmpty ? [] : together) + undocumented
  }

  /// Names with values, rotated by one for each turn.
  private func turned(
    _ names: [String], _ turn: Int, bytesMax: Int
  ) -> [(String, String)] {
    names.enumerated().compactMap { place, name in
      let value = values[(turn + place * 31) % values.count]
      return value.utf8.count <= bytesMax ? (name, value) : nil
    }
  }

  // MARK: Bodies

  private var takesBody: Bool { ["POST", "PUT", "PATCH"].contains(route.method) }

  private var bodies: [Draft] {
    guard takesBody else { return [] }
    var values: [JSONValue] = []
    let schema = route.body ?? [:]
    var places = route.bodyPlaces
    if places.isEmpty, route.body != nil { places = HostileWorld.fields.map { [$0] } }
    for place in places {
      for text in Self.worst {
        for value in Self.forms(of: text) {
          values.append(Self.filled(schema, setting: place[...], to: value))
        }
      }
    }
    let members = names.members + HostileWorld.fields
    for turn in values.indices {
      let together = turned(members, turn, bytesMax: 2_000).enumerated().map {
        let forms = Self.forms(of: $1.1)
        return JSONMember($1.0, forms[(turn + $0) % forms.count])
      }
      values.append(.object(together))
    }
    return values.map { value in
      var draft = base
      draft.body = value.bytes
      return draft
    }
      + Self.texts.map { text in
        var draft = base
        draft.body = Array(text.utf8)
        return draft
      }
  }

  private static func forms(of text: String) -> [JSONValue] {
    let number = JSONNumber(digits: text).map { [JSONValue.number($0)] } ?? []
    return [.string(text), .array([.string(text)]), ["x": .string(text)]] + number
      + number.map { .array([$0]) }
  }

  /// A body by its schema, with one member replaced.
  private static func filled(
    _ schema: JSONValue, setting place: ArraySlice<String>, to value: JSONValue
  ) -> JSONValue {
    guard let name = place.first else { return value }
    if let choices = schema["oneOf"]?.array ?? schema["anyOf"]?.array {
      let choice = choices.first { name == "0" ? $0["items"] != nil : $0["properties"] != nil }
      return filled(choice ?? [:], setting: place, to: value)
    }
    if let items = schema["items"], name == "0" {
      return .array([filled(items, setting: place.dropFirst(), to: value)])
    }
    let needed = (schema["required"]?.array ?? []).compactMap(\.string)
    var members: [JSONMember] = []
    for member in schema["properties"]?.members ?? [] where needed.contains(member.name) {
      members.append(JSONMember(member.name, sample(member.value, named: member.name)))
    }
    members.removeAll { $0.name == name }
    let inner = schema["properties"]?[name] ?? [:]
    return .object(
      members + [JSONMember(name, filled(inner, setting: place.dropFirst(), to: value))])
  }

  private static func sample(_ schema: JSONValue, named name: String) -> JSONValue {
    switch name {
    case "operation": return "UpdateFilm"
    case "type": return "Note"
    case "email": return "a@example.com"
    default: break
    }
    if let choice = schema["enum"]?.array?.first { return choice }
    switch schema["type"]?.string ?? schema["type"]?[0]?.string {
    case "integer", "number": return 1
    case "boolean": return true
    case "array": return []
    case "object": return [:]
    default: return "x"
    }
  }

  /// Bodies that are not an object, or not readable.
  private static let texts = [
    "", " ", "null", "0", "-0", "1e-9223372036854775808", "\"\"", "[]", "[null]", "[[]]", "[{}]",
    "{", "}", "{}", "{}{}", "[{},{}", "{\"a\":}", "{\"a\":1,\"a\":2}", "{\"\":{\"\":{}}}",
    "\u{FEFF}{}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\u0000\"}", "{\"\\u0000\":1}",
    String(repeating: "[", count: 200), String(repeating: "{\"a\":", count: 200),
    String(repeating: "[", count: 127) + String(repeating: "]", count: 127),
    "[" + String(repeating: "{},", count: 1500) + "{}]", "nul", "0x1", "'a'", "{a:1}",
  ]

  // MARK: Heads

  /// All header fields at once, rotated over the values; credentials every other time.
  private var heads: [Draft] {
    let credentials: Set = ["authorization", "device-token", "cookie"]
    let fields = names.fields + route.fieldNames.filter { !names.fields.contains($0) }
    return values.indices.map { turn in
      var draft = base
      for (name, value) in turned(fields, turn, bytesMax: 500)
      where (turn % 2 == 0 || !credentials.contains(name))
        && value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
      {
        draft.headers.removeAll { $0.0.lowercased() == name }
        draft.headers.append((name, value))
      }
      return draft
    }
  }

  // MARK: Serialising

  /// A request with valid values only.
  private var base: Draft {
    var draft = Draft()
    for name in route.pathNames { draft.path[name] = world.good(name) }
    draft.query = route.neededQueryNames.map {
      QueryString.Parameter(name: $0, value: world.good($0))
    }
    draft.headers = world.headers(for: route.path)
    if takesBody { draft.body = Array("{}".utf8) }
    return draft
  }

  /// - Parameter number: the number of the request; it makes its idempotency key unique.
  func bytes(_ draft: Draft, number: Int) -> [UInt8] {
    var path = route.path
    for (name, value) in draft.path {
      path = path.replacing("{\(name)}", with: PercentCoding.encode(value))
    }
    let query = draft.query.map {
      "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))"
    }.joined(separator: "&")
    var headers = draft.headers
    func add(_ name: String, _ value: String) {
      guard !headers.contains(where: { $0.0.lowercased() == name }) else { return }
      headers.append((name, value))
    }
    if draft.body != nil { add("content-type", "application/json") }
    if route.fieldNames.contains("idempotency-key") { add("idempotency-key", "\"k\(number)\"") }
    if path.hasPrefix("/s3"), !headers.contains(where: { $0.0 == "authorization" }) {
      headers.removeAll { ["x-amz-date", "x-amz-content-sha256"].contains($0.0) }
      headers += world.signed(
        route.method, path, query: draft.query, headers: headers, body: draft.body ?? [])
    }
    var head = "\(route.method) \(path)\(query.isEmpty ? "" : "?\(query)") HTTP/1.1\r\n"
    head += "host: localhost\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let body = draft.body { head += "content-length: \(body.count)\r\n" }
    return Array("\(head)\r\n".utf8) + (draft.body ?? [])
  }
}
