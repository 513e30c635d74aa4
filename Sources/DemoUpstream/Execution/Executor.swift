import GraphQL
import LosslessJSON

/// Answers GraphQL requests over one schema.
struct Executor: Sendable {
  let schema: Schema
  let limits: ExecutionLimits

  init(schema: Schema, limits: ExecutionLimits = ExecutionLimits()) {
    self.schema = schema
    self.limits = limits
  }

  /// Bounds on a document; the demo's own operations have a few hundred tokens.
  private static let parserLimits = ParserLimits(depthMax: 100, tokensMax: 20_000, faultsMax: 10)

  /// Everything that can be said about a request before the first field is resolved
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
        .operation, "There are no \(operation.operation.rawValue) operations.", code: "BAD_REQUEST")
    }
    let fragments = Dictionary(
      document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    try checkDepth(operation, fragments)
    let variables = VariableCoercion(
      operation.variableDefinitions, given: request.variables, schema: schema)
    guard variables.errors.isEmpty else { throw RequestRejection(.variables, variables.errors) }
    return PreparedOperation(
      operation: operation, rootType: rootType,
      collector: FieldCollector(
        schema: schema, fragments: fragments,
        coercion: InputCoercion(schema: schema, variables: variables.values)))
  }

  /// Runs an operation. A mutation changes the resolver, unless the answer had to be given up.
  ///
  /// - Parameter brokenFields: `Type.field` coordinates that fail instead of being resolved.
  func run<R: Resolver>(
    _ prepared: PreparedOperation, with resolver: inout R, brokenFields: Set<String> = []
  ) throws(RequestRejection) -> ExecutionResult {
    var execution = Execution(
      schema: schema, collector: prepared.collector, limits: limits, brokenFields: brokenFields,
      resolver: resolver)
    execution.run(prepared.operation, on: prepared.rootType)
    guard !execution.isExhausted else {
      throw RequestRejection(
        .tooCostly, "The answer has more than \(limits.fieldsMax) fields.",
        code: "QUERY_TOO_COMPLEX")
    }
    resolver = execution.resolver
    let answer = ResponseText.whole(data: execution.answer.bytes, errors: execution.errors)
    return ExecutionResult(bytes: answer.bytes, errorCount: execution.errors.count)
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
        ?? "Say which operation of the document is meant."
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
  /// An answer's body: `data` unless the request was rejected, then `errors` if there are any.
  static func whole(data: [UInt8]?, errors: [ExecutionError]) -> ResponseText {
    var answer = ResponseText()
    answer.append("{")
    if let data {
      answer.append(raw: "\"data\":")
      answer.append(raw: data)
    }
    if !errors.isEmpty {
      answer.append(raw: data == nil ? "\"errors\":" : ",\"errors\":")
      answer.append(raw: JSONValue.array(errors.map(\.json)).text)
    }
    answer.append("}")
    return answer
  }
}
