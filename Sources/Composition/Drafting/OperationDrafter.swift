import GraphQL

/// Drafts an operation for each root field of a schema.
struct OperationDrafter {
  struct Result: Sendable {
    var operations: [DraftedOperation] = []
    var omitted: [OmittedField] = []
  }

  /// The windows of drafted queries, in seconds.
  static let maxAge = 60
  static let staleWhileRevalidate = 600
  static let staleIfError = 86_400

  private let schema: Schema
  private let arguments: ArgumentDrafter
  private var selections: SelectionDrafter
  private var result = Result()
  /// In lower case: files of two names that differ in case are one on some systems.
  private var names: Set<String> = []
  /// `query` or `mutation` and the path with empty parameters: no request tells two such routes apart.
  private var routes: Set<String> = []

  private init(_ schema: Schema) {
    self.schema = schema
    arguments = ArgumentDrafter(schema)
    selections = SelectionDrafter(schema, arguments: arguments)
  }

  static func draft(_ schema: Schema) -> Result {
    var drafter = OperationDrafter(schema)
    for kind in [OperationType.query, .mutation, .subscription] {
      for field in schema.rootType(for: kind)?.fields ?? NamedList() { drafter.draft(field, kind) }
    }
    return drafter.result
  }

  private mutating func omit(_ field: SchemaField, _ kind: OperationType, _ reason: String) {
    result.omitted.append(OmittedField(kind: kind, field: field.name, reason: reason))
  }

  private mutating func draft(_ field: SchemaField, _ kind: OperationType) {
    if let reason = field.deprecationReason {
      let line = reason.prefix { !$0.isNewline }
      return omit(field, kind, line.isEmpty ? "it is deprecated" : "it is deprecated: \(line)")
    }
    // Apollo Federation's fields are for its router alone.
    guard !["_entities", "_service"].contains(field.name) else {
      return omit(field, kind, "it belongs to Apollo Federation")
    }
    guard let type = schema.type(of: field.type) else {
      return omit(field, kind, "its type is unknown")
    }
    let isPage = selections.isPage(type)
    let isList = field.type.item != nil || isPage
    let item = !isList && type.isComposite ? type : nil
    let drafted: DraftedArguments
    do throws(ArgumentDrafter.Refusal) {
      drafted = try arguments.draft(field, item: kind == .query ? item : nil)
    } catch {
      return omit(field, kind, error.reason)
    }
    var set: SelectionSet?
    if type.isComposite {
      let isPayload = kind == .mutation && item != nil && type.fields["id"] == nil
      let isItem = kind == .query && item != nil
      set = selections.draft(type, lists: isPayload ? .all : isItem ? .bounded : .none)
      guard set != nil else {
        return omit(field, kind, "no field of \(type.name) can be selected without arguments")
      }
    }
    let name = name(of: field, kind)
    let route = route(of: field, kind, drafted, isItem: item != nil, isList: isList)
    let definition = OperationDefinition(
      description: field.description.map { Description($0) }, operation: kind, name: Name(name),
      variableDefinitions: drafted.variables,
      selectionSet: SelectionSet([
        .field(
          Field(name: Name(field.name), arguments: drafted.arguments, selectionSet: set))
      ]))
    let lookup = lookup(drafted, item)
    let omitted = type.isComposite ? selections.omitted : []
    let text = OperationText(
      definition: definition, route: route, drafted: drafted, lookup: lookup, omitted: omitted
    ).text
    result.operations.append(
      DraftedOperation(
        name: name, kind: kind, field: field.name, route: route, fileName: "\(name).graphql",
        text: text, isList: isList, needsNoVariable: drafted.needsNoVariable,
        sizeVariable: drafted.sizeVariable, lookup: lookup,
        typeName: (isPage ? selections.elementType(of: type)?.name : nil) ?? type.name,
        omitted: omitted))
  }

  private func lookup(
    _ drafted: DraftedArguments, _ item: NamedType?
  ) -> DraftedOperation.Lookup? {
    guard let item, drafted.keys.count == 1, let key = drafted.keys.first else { return nil }
    let field = item.fields[key.argument] != nil ? key.argument : "id"
    guard item.fields[field] != nil else { return nil }
    return DraftedOperation.Lookup(variable: key.variable, type: item.name, keyField: field)
  }

  private mutating func name(of field: SchemaField, _ kind: OperationType) -> String {
    let plain = FieldWords(field.name).operationName
    var candidates = [plain]
    if kind != .query {
      candidates.append(plain + kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst())
    }
    var number = 2
    while true {
      for name in candidates where names.insert(name.lowercased()).inserted { return name }
      candidates = ["\(plain)\(number)"]
      number += 1
    }
  }

  /// The path of `@route`, nil if other operations have all that fit.
  private mutating func route(
    of field: SchemaField, _ kind: OperationType, _ drafted: DraftedArguments, isItem: Bool,
    isList: Bool
  ) -> String? {
    let words = FieldWords(field.name)
    let keys = drafted.keys.map { "/{\($0.variable)}" }.joined()
    var candidates: [String] = []
    switch kind {
    case .mutation: candidates = ["/\(words.segment)"]
    case .subscription: candidates = ["/\(words.segment)\(keys)"]
    case .query:
      if isItem, !keys.isEmpty {
        candidates.append("/\(words.itemSegment(keys: drafted.keys.map(\.argument)))\(keys)")
      } else if isList {
        candidates.append("/\(words.listSegment)\(keys)")
      }
      candidates.append("/\(words.segment)\(keys)")
    }
    for path in candidates {
      let segments = path.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : String($0) }
      guard !segments.contains(where: { ["diff", "from", "stream"].contains($0) }) else { continue }
      let shape =
        (kind == .mutation ? "mutation " : "query ") + segments.joined(separator: "/")
      if routes.insert(shape).inserted { return path }
    }
    return nil
  }
}
