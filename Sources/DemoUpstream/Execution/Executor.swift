import GraphQL
import LosslessJSON

/// Executes GraphQL requests on one schema.
struct Executor: Sendable {
  let schema: Schema
  let limits: ExecutionLimits

  init(schema: Schema, limits: ExecutionLimits = ExecutionLimits()) {
    self.schema = schema
    self.limits = limits
  }

  /// Limits of a document; the demo's own operations have a few hundred tokens.
  private static let parserLimits = ParserLimits(depthMax: 100, tokensMax: 20_000, faultsMax: 10)

  /// Parses, validates and coerces a request, as far as possible before the first field is resolved
  /// (specification 6.1).
  func prepare(_ request: GraphQLRequest) throws(RequestRejection) -> PreparedOperation {
    let document = try parse(request.query)
    let faults = Validator.validate(document, against: schema)
    guard faults.isEmpty else {
      throw RequestRejection(
        .validation, faults.map { ExecutionError($0, code: "GRAPHQL_VALIDATION_FAILED") })
    }
    let operation = try choose(request.operationName, of: document.operations)
    guard let rootType = schema.rootType(for: operation.operation) else {
      throw RequestRejection(
        .operation, "The schema has no \(operation.operation.rawValue) operations.",
        code: "BAD_REQUEST")
    }
    let fragments = Dictionary(
      document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    try checkDepth(operation, fragments)
    let variables = VariableCoercion(
      operation.variableDefinitions, given: request.variables, schema: schema)
    guard variables.errors.isEmpty else { throw RequestRejection(.variables, variables.errors) }
    return PreparedOperation(
      operation: operation, rootType: rootType,
      collector: DemoFieldCollector(
        schema: schema, fragments: fragments,
        coercion: InputCoercion(schema: schema, variables: variables.values)))
  }

  /// Executes an operation. A mutation changes the resolver, unless the response is discarded.
  ///
  /// - Parameter brokenFields: `Type.field` coordinates that fail instead of being resolved.
  /// - Returns: the whole response body.
  func run<R: FieldResolver>(
    _ prepared: PreparedOperation, with resolver: inout R, brokenFields: Set<String> = []
  ) throws(RequestRejection) -> [UInt8] {
    var execution = Execution(
      schema: schema, collector: prepared.collector, limits: limits, brokenFields: brokenFields,
      resolver: resolver)
    execution.run(prepared.operation, on: prepared.rootType)
    guard !execution.isExhausted else {
      throw RequestRejection(
        .tooCostly, "The response has more than \(limits.fieldsMax) fields.",
        code: "QUERY_TOO_COMPLEX")
    }
    resolver = execution.resolver
    return ResponseText.whole(data: execution.response.bytes, errors: execution.errors).bytes
  }

  private func parse(_ text: String) throws(RequestRejection) -> Document {
    do throws(Faults) {
      return try Parser.parse(Source(body: text), limits: Self.parserLimits)
    } catch {
      throw RequestRejection(
        .syntax, error.all.map { ExecutionError($0, code: "GRAPHQL_PARSE_FAILED") })
    }
  }

  private func choose(
    _ name: String?, of operations: [OperationDefinition]
  ) throws(RequestRejection) -> OperationDefinition {
    let chosen =
      if let name { operations.first { $0.name?.value == name } } else {
        operations.count == 1 ? operations.first : nil
      }
    guard let chosen else {
      let message =
        name.map { "The document has no operation named \"\($0)\"." }
        ?? "The document has several operations; set `operationName`."
      throw RequestRejection(.operation, message, code: "OPERATION_RESOLUTION_FAILURE")
    }
    return chosen
  }

  private func checkDepth(
    _ operation: OperationDefinition, _ fragments: [String: FragmentDefinition]
  ) throws(RequestRejection) {
    var depth = SelectionDepth(fragments: fragments)
    guard depth.levels(in: operation.selectionSet) <= limits.depthMax else {
      throw RequestRejection(
        .tooCostly, "The operation nests more than \(limits.depthMax) levels.",
        code: "QUERY_TOO_DEEP")
    }
  }
}

extension ResponseText {
  /// The response body: `data` unless the request was rejected, then `errors` if there are any.
  static func whole(data: [UInt8]?, errors: [ExecutionError]) -> ResponseText {
    var response = ResponseText()
    response.append("{")
    if let data {
      response.append(raw: "\"data\":")
      response.append(raw: data)
    }
    if !errors.isEmpty {
      response.append(raw: data == nil ? "\"errors\":" : ",\"errors\":")
      response.append(raw: JSONValue.array(errors.map(\.json)).text)
    }
    response.append("}")
    return response
  }
}

/// The parameters of a GraphQL request, from the query string or the body.
struct GraphQLRequest: Sendable {
  var query: String
  var operationName: String?
  /// An object; empty without variables.
  var variables: JSONValue = .object([])

  init(query: String, operationName: String? = nil, variables: JSONValue = .object([])) {
    self.query = query
    self.operationName = operationName
    self.variables = variables
  }

  /// - Returns: nil if the JSON is not a well-formed request. Null counts as absent, unknown members
  ///   are ignored.
  init?(_ json: JSONValue) {
    guard json.members != nil, let query = json["query"]?.string else { return nil }
    self.query = query
    switch json["operationName"] {
    case nil, .null?: break
    case .string(let name)?: operationName = name
    default: return nil
    }
    switch json["variables"] {
    case nil, .null?: break
    case .object(let members)?: variables = .object(members)
    default: return nil
    }
    if let extensions = json["extensions"], !extensions.isNull, extensions.members == nil {
      return nil
    }
  }
}

/// An executable operation: parsed, validated, selected by name, with its variables coerced.
struct PreparedOperation {
  let operation: OperationDefinition
  let rootType: NamedType
  let collector: DemoFieldCollector

  var kind: OperationType { operation.operation }
  var name: String? { operation.name?.value }
}

/// The reason why a request is not executed: its response has `errors` and no `data`.
struct RequestRejection: Error, Sendable {
  enum Reason: Sendable {
    case syntax
    case validation
    case operation
    case variables
    case tooCostly
  }

  let reason: Reason
  /// The errors; at least one.
  let errors: [ExecutionError]

  init(_ reason: Reason, _ errors: [ExecutionError]) {
    self.reason = reason
    self.errors = errors
  }

  init(_ reason: Reason, _ message: String, code: String) {
    self.init(reason, [ExecutionError(message, extensions: [.init("code", .string(code))])])
  }

  /// The whole response body.
  var bytes: [UInt8] { ResponseText.whole(data: nil, errors: errors).bytes }
}

/// Limits of one request, so that no query can occupy the server.
struct ExecutionLimits: Sendable, Hashable {
  /// Maximum levels of fields. The usual introspection query has 14.
  var depthMax = 20
  /// Maximum fields of one response; enough for a page of 1,000 films with 40 fields and a cast.
  var fieldsMax = 250_000
}

/// The nesting depth of an operation's fields. Each fragment is measured once, so that fragments that
/// spread each other many times cost nothing.
struct SelectionDepth {
  private let fragments: [String: FragmentDefinition]
  private var measured: [String: Int] = [:]

  init(fragments: [String: FragmentDefinition]) {
    self.fragments = fragments
  }

  /// - Precondition: validation has found no fragment cycle.
  mutating func levels(in set: SelectionSet) -> Int {
    set.selections.reduce(0) { deepest, selection in
      max(deepest, levels(in: selection))
    }
  }

  private mutating func levels(in selection: Selection) -> Int {
    switch selection {
    case .field(let field): return 1 + (field.selectionSet.map { levels(in: $0) } ?? 0)
    case .inlineFragment(let fragment): return levels(in: fragment.selectionSet)
    case .fragmentSpread(let spread):
      let name = spread.name.value
      if let known = measured[name] { return known }
      let depth = fragments[name].map { levels(in: $0.selectionSet) } ?? 0
      measured[name] = depth
      return depth
    }
  }
}
