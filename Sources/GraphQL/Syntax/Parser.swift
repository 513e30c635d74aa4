/// A parser of executable and type-system documents (specification, October 2021).
///
/// Recursive descent with one token of look-ahead. Every opening bracket counts against
/// `ParserLimits.depthMax`, which limits the recursion of the parser and of all later traversals.
package struct Parser {
  private var lexer: Lexer
  private let limits: ParserLimits
  private var tokenCount = 0
  private var depth = 0
  private(set) var token = Token(kind: .endOfFile, start: 0, end: 0)
  private var previousEnd = 0

  private init(_ source: Source, limits: ParserLimits) {
    lexer = Lexer(source)
    self.limits = limits
  }

  /// Parses a document, or throws every fault found.
  package static func parse(
    _ source: Source, limits: ParserLimits = ParserLimits()
  ) throws(Faults) -> Document {
    let (document, faults) = parseRecovering(source, limits: limits)
    guard faults.isEmpty else { throw Faults(faults) }
    return document
  }

  /// Parses as much as possible: after a fault it continues at the next definition that begins a line.
  /// The document holds the definitions without a fault.
  package static func parseRecovering(
    _ source: Source, limits: ParserLimits = ParserLimits()
  ) -> (document: Document, faults: [Fault]) {
    var parser = Parser(source, limits: limits)
    return parser.document()
  }

  /// Parses one value literal without variables, such as a default value of introspection.
  package static func parseConstValue(
    _ source: Source, limits: ParserLimits = ParserLimits()
  ) throws(Fault) -> Value {
    var parser = Parser(source, limits: limits)
    try parser.advance()
    let value = try parser.value(isConst: true)
    guard parser.token.kind == .endOfFile else { throw parser.unexpected() }
    return value
  }

  /// Parses one type such as `[Film!]!`.
  package static func parseType(
    _ source: Source, limits: ParserLimits = ParserLimits()
  ) throws(Fault) -> TypeReference {
    var parser = Parser(source, limits: limits)
    try parser.advance()
    let type = try parser.typeReference()
    guard parser.token.kind == .endOfFile else { throw parser.unexpected() }
    return type
  }
}

extension Parser {
  private mutating func document() -> (document: Document, faults: [Fault]) {
    var definitions: [Definition] = []
    var faults: [Fault] = []
    do throws(Fault) {
      try advance()
      if token.kind == .endOfFile { throw unexpected() }
    } catch {
      faults.append(error)
      skipToDefinition()
    }
    while token.kind != .endOfFile, faults.count < limits.faultsMax {
      do throws(Fault) {
        definitions.append(try definition())
      } catch {
        faults.append(error)
        skipToDefinition()
      }
    }
    let location = Location(source: lexer.source, start: 0, end: lexer.bytes.count)
    return (Document(definitions: definitions, location: location), faults)
  }

  /// Skips to the next definition keyword at the start of a line, past the current token.
  private mutating func skipToDefinition() {
    depth = 0
    var isFound = false
    repeat {
      do throws(Fault) {
        try advance()
        isFound = token.kind == .endOfFile || isAtDefinitionKeyword
      } catch {
        // Invalid text here is part of the reported fault; past the token limit parsing ends.
        guard tokenCount > limits.tokensMax else { continue }
        token = Token(kind: .endOfFile, start: lexer.bytes.count, end: lexer.bytes.count)
        isFound = true
      }
    } while !isFound
  }

  private var isAtDefinitionKeyword: Bool {
    guard token.kind == .name else { return false }
    let beginsLine = token.start == 0 || lexer.bytes[token.start - 1].isLineEnd
    return beginsLine && Self.definitionKeywords.contains(text(of: token))
  }

  private static let definitionKeywords: Set<String> = [
    "query", "mutation", "subscription", "fragment", "schema", "scalar", "type", "interface",
    "union", "enum", "input", "directive", "extend",
  ]
}

extension Parser {
  mutating func advance() throws(Fault) {
    previousEnd = token.end
    token = try lexer.next()
    tokenCount += 1
    if tokenCount > limits.tokensMax, token.kind != .endOfFile {
      throw fault("The document has more than \(limits.tokensMax) tokens.", at: token)
    }
  }

  func text(of token: Token) -> String {
    String(decoding: lexer.bytes[token.start..<token.end], as: UTF8.self)
  }

  /// From the first byte of `start` to the end of the last consumed token.
  func location(from start: Token) -> Location {
    Location(source: lexer.source, start: start.start, end: previousEnd)
  }

  func fault(_ message: String, at token: Token) -> Fault {
    Fault(
      .syntax, message,
      at: Location(source: lexer.source, start: token.start, end: token.end))
  }

  func unexpected(_ token: Token? = nil) -> Fault {
    fault("Unexpected \(label(of: token ?? self.token)).", at: token ?? self.token)
  }

  private func label(of token: Token) -> String {
    switch token.kind {
    case .name, .int, .float: "\(token.kind.label) \"\(text(of: token))\""
    default: token.kind.label
    }
  }

  mutating func expect(_ kind: Token.Kind) throws(Fault) {
    guard token.kind == kind else {
      throw fault("Expected \(kind.label), found \(label(of: token)).", at: token)
    }
    try advance()
  }

  /// Consumes the token if it is of this kind.
  mutating func skip(_ kind: Token.Kind) throws(Fault) -> Bool {
    guard token.kind == kind else { return false }
    try advance()
    return true
  }

  /// Consumes an opening bracket; every `open` is matched by a `close` that returns true.
  mutating func open(_ kind: Token.Kind) throws(Fault) {
    if token.kind == kind {
      depth += 1
      if depth > limits.depthMax {
        throw fault("The document nests deeper than \(limits.depthMax) levels.", at: token)
      }
    }
    try expect(kind)
  }

  /// Consumes the closing bracket if it is next.
  mutating func close(_ kind: Token.Kind) throws(Fault) -> Bool {
    guard token.kind == kind else { return false }
    depth -= 1
    try advance()
    return true
  }

  func isAt(keyword: String) -> Bool {
    token.kind == .name && lexer.bytes[token.start..<token.end].elementsEqual(keyword.utf8)
  }

  mutating func expect(keyword: String) throws(Fault) {
    guard isAt(keyword: keyword) else {
      throw fault("Expected \"\(keyword)\", found \(label(of: token)).", at: token)
    }
    try advance()
  }

  mutating func skip(keyword: String) throws(Fault) -> Bool {
    guard isAt(keyword: keyword) else { return false }
    try advance()
    return true
  }

  mutating func name() throws(Fault) -> Name {
    let start = token
    try expect(.name)
    return Name(text(of: start), location: location(from: start))
  }
}

/// Limits of the parser, so that no text can exhaust the stack or the memory.
package struct ParserLimits: Hashable, Sendable {
  /// Nesting of brackets of any kind. The parser and every later traversal recurse once per level;
  /// hand-written documents stay below 30.
  package var depthMax: Int
  /// Tokens of one document. A schema of 64 MiB without descriptions has about 12 million.
  package var tokensMax: Int
  /// Faults reported for one document before parsing stops.
  package var faultsMax: Int

  package init(depthMax: Int = 200, tokensMax: Int = 16_000_000, faultsMax: Int = 50) {
    self.depthMax = depthMax
    self.tokensMax = tokensMax
    self.faultsMax = faultsMax
  }
}
