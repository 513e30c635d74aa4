package import GraphQL
package import LosslessJSON

/// An operation that a double was sent: parsed strictly, and executed by projecting values that a test
/// gives onto its selections.
package struct FakeOperation: Sendable {
  package struct Fault: Error, Sendable {
    package let message: String

    package init(message: String) {
      self.message = message
    }
  }

  package let kind: OperationType
  package let name: String?
  package let variables: JSONValue
  /// The fields at the root, fragments resolved.
  package let roots: [Field]
  private let fragments: [String: FragmentDefinition]

  /// - Parameter payload: `query`, and perhaps `variables` and `operationName`.
  package init(_ payload: JSONValue) throws(Fault) {
    guard let query = payload["query"]?.string else { throw Fault(message: "query is no string") }
    variables = payload["variables"] ?? [:]
    guard variables.members != nil || variables.isNull else {
      throw Fault(message: "variables is no object")
    }
    guard let document = try? Parser.parse(Source(body: query)) else {
      throw Fault(message: "query is no GraphQL document")
    }
    guard document.operations.count == 1, let operation = document.operations.first else {
      throw Fault(message: "the document has \(document.operations.count) operations")
    }
    if let given = payload["operationName"]?.string, given != operation.name?.value {
      throw Fault(message: "there is no operation \(given)")
    }
    kind = operation.operation
    name = operation.name?.value
    fragments = Dictionary(
      document.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    roots = Self.fields(of: operation.selectionSet, fragments)
  }

  /// The arguments of a field with the variables in place.
  package func arguments(of field: Field) -> JSONValue {
    .object(field.arguments.map { JSONMember($0.name.value, value($0.value)) })
  }

  /// `{"data":…}` with the selections of the values that `resolve` returns for the root fields.
  package func execute(_ resolve: (_ field: String, _ arguments: JSONValue) -> JSONValue)
    -> JSONValue
  {
    [
      "data": .object(
        roots.map { field in
          JSONMember(
            field.responseKey,
            project(resolve(field.name.value, arguments(of: field)), field.selectionSet))
        })
    ]
  }

  private func project(_ value: JSONValue, _ set: SelectionSet?) -> JSONValue {
    guard let set else { return value }
    switch value {
    case .array(let elements): return .array(elements.map { project($0, set) })
    case .object:
      return .object(
        Self.fields(of: set, fragments).map { field in
          JSONMember(
            field.responseKey, project(value[field.name.value] ?? .null, field.selectionSet))
        })
    default: return value
    }
  }

  private static func fields(
    of set: SelectionSet, _ fragments: [String: FragmentDefinition]
  ) -> [Field] {
    var seen: Set<String> = []
    return set.selections.flatMap { selection -> [Field] in
      switch selection {
      case .field(let field): [field]
      case .inlineFragment(let inner): fields(of: inner.selectionSet, fragments)
      case .fragmentSpread(let spread):
        fragments[spread.name.value].map { fields(of: $0.selectionSet, fragments) } ?? []
      }
    }.filter { seen.insert($0.responseKey).inserted }
  }

  private func value(_ literal: Value) -> JSONValue {
    switch literal.kind {
    case .variable(let name): variables[name] ?? .null
    case .int(let digits), .float(let digits):
      JSONNumber(digits: digits).map { .number($0) } ?? .null
    case .string(let text, _), .enum(let text): .string(text)
    case .boolean(let flag): .bool(flag)
    case .null: .null
    case .list(let items): .array(items.map(value))
    case .object(let fields): .object(fields.map { JSONMember($0.name.value, value($0.value)) })
    }
  }
}
