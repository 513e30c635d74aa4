package import LosslessJSON

/// One change of `@sync(optimistic:)`: what a mutation is expected to do to an entity, in terms of its
/// variables. `merge Film:$id {rating: $stars}`.
package struct OptimisticRule: Hashable, Sendable {
  package enum Action: String, Hashable, Sendable, CaseIterable {
    case create
    case merge
    case delete
  }

  package indirect enum Value: Hashable, Sendable {
    case constant(JSONValue)
    /// The path begins with the variable's name.
    case variable([String])
    case list([Value])
    case object([Member])
  }

  package struct Member: Hashable, Sendable {
    package let name: String
    package let value: Value

    package init(name: String, value: Value) {
      self.name = name
      self.value = value
    }
  }

  package let action: Action
  /// The name that the type is stored under.
  package let type: String
  /// The entity, always an entity target; nil for the object that the request names, which has a
  /// temporary id.
  package let target: EffectTarget?
  /// None for a deletion.
  package let fields: [Member]

  package init(action: Action, type: String, target: EffectTarget?, fields: [Member] = []) {
    self.action = action
    self.type = type
    self.target = target
    self.fields = fields
  }

  /// Returns the fields with the variables of a call. A field whose variable is unset is left out.
  package func fields(with variables: Variables) -> [JSONMember] {
    Self.members(fields, with: variables)
  }

  private static func members(_ members: [Member], with variables: Variables) -> [JSONMember] {
    members.compactMap { member in
      value(member.value, with: variables).map { JSONMember(member.name, $0) }
    }
  }

  private static func value(_ value: Value, with variables: Variables) -> JSONValue? {
    switch value {
    case .constant(let constant): constant
    case .variable(let path): variables.value(at: path)
    case .list(let elements): .array(elements.map { Self.value($0, with: variables) ?? .null })
    case .object(let members): .object(Self.members(members, with: variables))
    }
  }
}

/// Parses the text of an ``OptimisticRule``, without knowledge of types and variables.
///
/// Values are written as in GraphQL; a variable can have a path (`$input.title`).
struct OptimisticSyntax {
  /// A fault of the text, to follow "@sync(optimistic:)".
  struct Fault: Error, Hashable {
    let message: String
  }

  /// The nesting of values.
  private static let depthMax = 16

  private(set) var action = OptimisticRule.Action.merge
  private(set) var type = ""
  /// The path of the variable that names the entity; nil without one.
  private(set) var path: [String]?
  private(set) var fields: [OptimisticRule.Member] = []
  /// The paths of all variables in the fields.
  private(set) var variables: [[String]] = []
  private var rest: Substring.UTF8View

  init(parsing text: String) throws(Fault) {
    rest = Substring(text).utf8
    let word = name() ?? ""
    guard let action = OptimisticRule.Action(rawValue: word) else {
      throw Fault(message: "must begin with create, merge or delete, not \"\(word)\"")
    }
    self.action = action
    guard let type = name() else { throw Fault(message: "must name a type after \(word)") }
    self.type = type
    if take(":") {
      guard take("$"), let path = variablePath() else {
        throw Fault(message: "must name the entity as \(type):$variable")
      }
      self.path = path
    } else if action != .create {
      throw Fault(message: "must name the entity: \(word) \(type):$variable")
    }
    if take("{") { fields = try members(depth: 1) }
    skip()
    guard rest.isEmpty else {
      throw Fault(message: "has something after its end: \"\(String(Substring(rest)))\"")
    }
    if action == .delete, !fields.isEmpty { throw Fault(message: "cannot have fields to delete") }
    if action == .merge, fields.isEmpty { throw Fault(message: "must have fields to merge") }
  }

  private mutating func members(depth: Int) throws(Fault) -> [OptimisticRule.Member] {
    var members: [OptimisticRule.Member] = []
    while !take("}") {
      guard let name = name(), take(":") else {
        throw Fault(message: "must have \"name: value\" in braces")
      }
      guard !members.contains(where: { $0.name == name }) else {
        throw Fault(message: "names \(name) twice")
      }
      members.append(OptimisticRule.Member(name: name, value: try value(depth: depth)))
    }
    return members
  }

  private mutating func value(depth: Int) throws(Fault) -> OptimisticRule.Value {
    guard depth <= Self.depthMax else {
      throw Fault(message: "is nested more than \(Self.depthMax) deep")
    }
    if take("$") {
      guard let path = variablePath() else { throw Fault(message: "has a $ without a name") }
      variables.append(path)
      return .variable(path)
    }
    if take("{") { return .object(try members(depth: depth + 1)) }
    if take("[") {
      var elements: [OptimisticRule.Value] = []
      while !take("]") { elements.append(try value(depth: depth + 1)) }
      return .list(elements)
    }
    if let word = name() {
      switch word {
      case "true": return .constant(true)
      case "false": return .constant(false)
      case "null": return .constant(.null)
      default: return .constant(.string(word))
      }
    }
    return .constant(try literal())
  }

  /// A string or a number, whose texts are those of JSON.
  private mutating func literal() throws(Fault) -> JSONValue {
    let start = rest
    if rest.first == UInt8(ascii: "\"") {
      rest = rest.dropFirst()
      var isEscaped = false
      while let byte = rest.popFirst(), isEscaped || byte != UInt8(ascii: "\"") {
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      }
    } else {
      rest = rest.drop { Self.isWord($0) || [UInt8(ascii: "-"), 0x2B, 0x2E].contains($0) }
    }
    let text = Array(start[start.startIndex..<rest.startIndex])
    guard !text.isEmpty, let value = try? JSONValue(parsing: text) else {
      let end = text.isEmpty ? "an end of the text" : "\"\(String(decoding: text, as: UTF8.self))\""
      throw Fault(message: "must have a value in place of \(end)")
    }
    return value
  }

  // MARK: Tokens

  /// A name (GraphQL section 2.1.9), after ignored characters; nil at anything else.
  private mutating func name() -> String? {
    skip()
    guard let first = rest.first, Self.isWord(first), !Self.isDigit(first) else { return nil }
    let end = rest.firstIndex { !Self.isWord($0) } ?? rest.endIndex
    let text = String(Substring(rest[rest.startIndex..<end]))
    rest = rest[end...]
    return text
  }

  /// Names joined by points, without anything between.
  private mutating func variablePath() -> [String]? {
    var path: [String] = []
    repeat {
      guard let first = rest.first, Self.isWord(first), let name = name() else { return nil }
      path.append(name)
      guard rest.first == 0x2E else { return path }
      rest = rest.dropFirst()
    } while true
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skip()
    guard rest.first == UInt8(ascii: character) else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// Skips blanks, line ends and commas.
  private mutating func skip() {
    rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D, 0x2C].contains($0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == UInt8(ascii: "_")
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte >= 0x41
  }
}
