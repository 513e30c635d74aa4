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
  func prepare(_ request: ExecutionRequest) throws(RequestRejection) -> PreparedOperation {
    let document = try parse(request.query)
    let faults = Validator.validate(document, against: schema)
    guard faults.isEmpty else {
      throw RequestRejection(
        .validation, faults.map { .error($0, code: "GRAPHQL_VALIDATION_FAILED") })
    }
    let operation = try choose(request.operationName, of: document.operations)
    guard let rootType = schema.rootType(for: operation.operation) else {
      throw RequestRejection(
        .operation, "The schema has no \(operation.operation.rawValue) operations.",
        code: "BAD_REQUEST")
    }
    let fragments = Dictionary(
      document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    var depth = SelectionDepth(fragments: fragments)
    guard depth.levels(in: operation.selectionSet) <= limits.depthMax else {
      throw RequestRejection(
        .tooCostly, "The operation nests more than \(limits.depthMax) levels.",
        code: "QUERY_TOO_DEEP")
    }
    var coercion = InputCoercion(schema: schema)
    let errors = coercion.setVariables(
      operation.variableDefinitions, given: request.variables)
    guard errors.isEmpty else { throw RequestRejection(.variables, errors) }
    return PreparedOperation(
      operation: operation, rootType: rootType,
      planner: FieldPlanner(schema: schema, fragments: fragments, coercion: coercion))
  }

  /// Executes an operation. A mutation changes the resolver, unless the response is discarded.
  ///
  /// - Parameter brokenFields: `Type.field` coordinates that fail instead of being resolved.
  /// - Returns: the whole response body.
  func run<R: FieldResolver>(
    _ prepared: PreparedOperation, with resolver: inout R, brokenFields: Set<String> = []
  ) throws(RequestRejection) -> [UInt8] {
    var execution = Execution(
      schema: schema, planner: prepared.planner, limits: limits, brokenFields: brokenFields,
      resolver: resolver)
    execution.run(prepared.operation, on: prepared.rootType)
    guard !execution.isExhausted else {
      throw RequestRejection(
        .tooCostly, "The response has more than \(limits.fieldsMax) fields.",
        code: "QUERY_TOO_COMPLEX")
    }
    resolver = execution.resolver
    let errors = execution.errors
    let tail = errors.isEmpty ? "}" : ",\"errors\":\(JSONValue.array(errors).text)}"
    return Array("{\"data\":".utf8) + execution.response + tail.utf8
  }

  private func parse(_ text: String) throws(RequestRejection) -> Document {
    do throws(Faults) {
      return try Parser.parse(Source(body: text), limits: Self.parserLimits)
    } catch {
      throw RequestRejection(
        .syntax, error.all.map { .error($0, code: "GRAPHQL_PARSE_FAILED") })
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
}

/// The parameters of a GraphQL request, from the query string or the body.
struct ExecutionRequest: Sendable {
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
  let planner: FieldPlanner

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
  /// The elements of `errors`; at least one.
  let errors: [JSONValue]

  init(_ reason: Reason, _ errors: [JSONValue]) {
    self.reason = reason
    self.errors = errors
  }

  init(_ reason: Reason, _ message: String, code: String) {
    self.init(reason, [.error(message, extensions: [JSONMember("code", .string(code))])])
  }

  /// The whole response body.
  var bytes: [UInt8] { (["errors": .array(errors)] as JSONValue).bytes }
}

/// Limits of one request, so that no query can occupy the server.
struct ExecutionLimits: Sendable, Hashable {
  /// Maximum levels of fields. The usual introspection query has 14.
  var depthMax = 20
  /// Maximum fields of one response; enough for a page of 1,000 films with 40 fields and a cast.
  var fieldsMax = 250_000
}
