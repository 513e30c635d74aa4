import GraphQL
import Model

/// Reads and validates operations and schema, and collects all findings.
struct RegistryLoader {
  let settings: RegistrySettings
  private var findings: [Finding] = []

  init(settings: RegistrySettings) {
    self.settings = settings
  }

  mutating func load(files: [SourceFile], schemaSources: [SourceFile]) -> LoadedRegistry {
    let schema = schema(from: schemaSources)
    let document = Document(joining: files.map { parse($0) })
    guard let schema else { return LoadedRegistry(registry: nil, findings: findings) }
    checkNames(document)
    validate(document, against: schema)
    let registry = registry(of: document, schema: schema)
    let hasFault = findings.contains { $0.severity == .fault }
    return LoadedRegistry(
      registry: hasFault ? nil : registry, findings: Self.sorted(findings, files: files))
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }

  // MARK: Parsing

  private mutating func parse(_ file: SourceFile) -> Document {
    let source = Source(name: file.path, body: file.text)
    // A file with only comments is an empty file, not a faulty one.
    if Self.isBlank(file.text) { return Document(definitions: []) }
    let (document, faults) = Parser.parseRecovering(source)
    findings += faults.map { Finding($0) }
    return document
  }

  private static func isBlank(_ text: String) -> Bool {
    text.split(whereSeparator: \.isNewline).allSatisfy { line in
      line.first { $0 != " " && $0 != "\t" && $0 != "," && $0 != "\u{FEFF}" }.map { $0 == "#" }
        ?? true
    }
  }

  /// Nil if the schema has faults: findings about operations would then be noise.
  private mutating func schema(from sources: [SourceFile]) -> Schema? {
    let faultsBefore = findings.count
    var documents = sources.map { parse($0) }
    for index in documents.indices {
      documents[index].definitions.removeAll { isHidden($0) }
    }
    let declared = Set(documents.flatMap { Self.directiveNames(in: $0) })
    documents.append(ClientDirectives.document(without: declared))
    // Vendors' exports apply directives that they do not declare.
    let (schema, faults) = Schema.buildRecovering(documents, tolerating: [.knownDirectives])
    findings += faults.map { Finding($0) }
    let isFaulty = findings[faultsBefore...].contains { $0.severity == .fault }
    return isFaulty ? nil : schema
  }

  /// Warns of a schema directive with the name of one of ours, which operations cannot use.
  private mutating func isHidden(_ definition: Definition) -> Bool {
    guard case .directive(let directive) = definition,
      ClientDirectives.inOperations.contains(directive.name.value)
    else { return false }
    findings.append(
      Finding(
        .warning, "The schema's @\(directive.name.value) is shadowed by the service's directive.",
        at: directive.location))
    return true
  }

  private static func directiveNames(in document: Document) -> [String] {
    document.definitions.compactMap { definition in
      if case .directive(let directive) = definition { directive.name.value } else { nil }
    }
  }

  // MARK: Documents

  private mutating func checkNames(_ document: Document) {
    for operation in document.operations where operation.name == nil {
      fault(
        "Every operation must have a name; it is the name of its endpoint.", at: operation.location)
    }
  }

  private mutating func validate(_ document: Document, against schema: Schema) {
    // An unused fragment can be a view; anonymous operations are reported already.
    let rules = Rule.executable.subtracting([.noUnusedFragments, .loneAnonymousOperation])
    findings += Validator.validate(document, against: schema, rules: rules).map { Finding($0) }
  }

  private mutating func registry(of document: Document, schema: Schema) -> OperationRegistry? {
    var keyReader = EntityKeyReader(schema: schema, settings: settings)
    let keys = keyReader.read()
    findings += keyReader.findings
    let inputTypes = InputTypes(schema: schema, scalarNumbers: settings.scalarNumbers)

    var checker = SelectionChecker(schema: schema, keys: keys)
    for operation in document.operations { checker.check(operation) }
    for fragment in document.fragments { checker.check(fragment) }
    findings += checker.findings

    var reader = OperationReader(
      schema: schema, keys: keys, inputTypes: inputTypes,
      names: Self.names(in: document), settings: settings)
    let readings = document.operations.filter { $0.name != nil }.map { reader.read($0) }
    findings += reader.findings
    checkRoutes(readings)
    checkVerification(readings)
    // Planning requires valid fragments and fields.
    guard !findings.contains(where: { $0.severity == .fault }) else { return nil }
    var builder = RegistryBuilder(
      schema: schema, keys: keys, inputTypes: inputTypes, settings: settings,
      fragments: document.fragments)
    let registry = builder.build(readings)
    findings += builder.findings
    return registry
  }

  private static func names(in document: Document) -> EffectTargetReader.Names {
    var names = EffectTargetReader.Names()
    for operation in document.operations {
      if let name = operation.name { names.operations.insert(name.value) }
      if let directive = operation.directives.directive(named: ClientDirectives.cache) {
        names.tags.formUnion(DirectiveArguments(directive).strings("tags").map(\.text))
      }
    }
    return names
  }

  // MARK: Across operations

  /// Reports routes that no request could distinguish.
  private mutating func checkRoutes(_ readings: [OperationReader.Reading]) {
    var seen: [[RouteTemplate.Segment]: [(isMutation: Bool, name: String)]] = [:]
    for reading in readings {
      guard let route = reading.route else { continue }
      let shape = route.segments.map { segment -> RouteTemplate.Segment in
        if case .parameter = segment { .parameter("") } else { segment }
      }
      let isMutation = reading.kind == .mutation
      let directive = reading.definition.directives.directive(named: ClientDirectives.route)
      if let other = seen[shape]?.first(where: { $0.isMutation == isMutation }) {
        fault(
          "The route \(route.path) conflicts with the route of \(other.name).",
          at: directive?.location ?? reading.definition.location)
      }
      seen[shape, default: []].append((isMutation, reading.name))
    }
  }

  /// The query that verifies a mutation is called with the mutation's variables.
  private mutating func checkVerification(_ readings: [OperationReader.Reading]) {
    for reading in readings {
      guard let name = reading.sync?.verify,
        let verifier = readings.first(where: { $0.name == name }),
        let directive = reading.definition.directives.directive(named: ClientDirectives.sync)
      else { continue }
      let location = DirectiveArguments(directive).location("verify")
      guard verifier.kind == .query else {
        fault("@sync(verify:) must name a query; \(name) is not a query.", at: location)
        continue
      }
      let own = Set(reading.variables.map(\.name))
      for variable in verifier.variables where variable.isRequired && !own.contains(variable.name) {
        fault(
          "\(name) requires $\(variable.name), which \(reading.name) does not have.", at: location)
      }
    }
  }

  private static func sorted(_ findings: [Finding], files: [SourceFile]) -> [Finding] {
    let order = Dictionary(
      files.enumerated().map { ($1.path, $0) }, uniquingKeysWith: { first, _ in first })
    return findings.enumerated().sorted { left, right in
      let (a, b) = (left.element, right.element)
      return (order[a.path] ?? -1, a.line, a.column, left.offset)
        < (order[b.path] ?? -1, b.line, b.column, right.offset)
    }.map(\.element)
  }
}
