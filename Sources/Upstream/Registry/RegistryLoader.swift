import GraphQL
import Model

/// Reads and validates operations and schema of one upstream, and collects all findings.
///
/// ``read(_:)`` comes first for every upstream, since operations can name those of others.
struct RegistryLoader {
  let settings: RegistrySettings
  private(set) var findings: [Finding] = []
  /// Nil if the schema has faults.
  private(set) var schema: Schema?
  private(set) var document = Document(definitions: [])
  /// The files of a manifest.
  private var manifest: [SourceFile] = []
  /// Empty without a schema.
  private(set) var keys = EntityKeys([:])

  init(settings: RegistrySettings) {
    self.settings = settings
  }

  mutating func read(_ sources: UpstreamSources) {
    // A missing file is reported by its reader; the names of the operations still count.
    if !sources.schemaSources.isEmpty { schema = schema(from: sources.schemaSources) }
    var reduced = ManifestFragments()
    document = Document(
      joining: sources.files.map { file in
        let (document, isWhole) = parse(file)
        if isWhole, document.definitions.isEmpty { warnOfEmpty(file) }
        return reduced.reduce(document, of: file, isWhole: isWhole)
      })
    findings += reduced.findings
    manifest = sources.files.filter { $0.documentID != nil }
    guard let schema else { return }
    checkNames(document)
    validate(document, against: schema)
    checkTypeSettings(schema)
    var reader = EntityKeyReader(schema: schema, settings: settings)
    keys = reader.read()
    findings += reader.findings
  }

  /// Builds the registry.
  ///
  /// - Parameters:
  ///   - names: of the operations of all upstreams.
  ///   - foreign: the key rules of types that other upstreams store.
  /// - Returns: nil if there is a fault, or no schema.
  mutating func build(
    names: EffectTargetReader.Names, foreign: [String: EntityKeyRule]
  ) -> OperationRegistry? {
    guard let schema else { return nil }
    keys = keys.adding(foreign: foreign)
    var names = names
    names.fragments = self.names.fragments
    let registry = registry(of: document, schema: schema, names: names)
    return findings.contains { $0.severity == .fault } ? nil : registry
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }

  private mutating func fault(_ message: String, setting: String) {
    findings.append(Finding(.fault, message, setting: setting))
  }

  /// The root types of the schema.
  var rootNames: Set<String> {
    guard let schema else { return [] }
    return Set(OperationType.allCases.compactMap { schema.rootName(for: $0) })
  }

  // MARK: Parsing

  /// - Returns: also whether the whole file could be parsed.
  fileprivate mutating func parse(_ file: SourceFile) -> (document: Document, isWhole: Bool) {
    let source = Source(name: file.path, body: file.text)
    // A file with only comments is an empty file, not a faulty one.
    if Self.isBlank(file.text) { return (Document(definitions: []), true) }
    let (document, faults) = Parser.parseRecovering(source)
    findings += faults.map { Finding($0) }
    return (document, faults.isEmpty)
  }

  private mutating func warnOfEmpty(_ file: SourceFile) {
    findings.append(
      Finding(
        severity: .warning,
        message: "has neither an operation nor a fragment; write one, or delete the file",
        path: file.path))
  }

  private static func isBlank(_ text: String) -> Bool {
    text.split(whereSeparator: \.isNewline).allSatisfy { line in
      line.first { $0 != " " && $0 != "\t" && $0 != "," && $0 != "\u{FEFF}" }.map { $0 == "#" }
        ?? true
    }
  }

  /// Nil if the schema has faults: findings about operations would then be noise.
  fileprivate mutating func schema(from sources: [SourceFile]) -> Schema? {
    let faultsBefore = findings.count
    let parsed = sources.map { parse($0) }
    let isWhole = parsed.allSatisfy(\.isWhole)
    var documents = parsed.map(\.document)
    for index in documents.indices {
      documents[index].definitions.removeAll { isHidden($0) }
    }
    let declared = Set(documents.flatMap { Self.directiveNames(in: $0) })
    documents.append(ClientDirectives.document(without: declared))
    // Vendors' exports apply directives that they do not declare.
    let (schema, faults) = Schema.buildRecovering(documents, tolerating: [.knownDirectives])
    // What is missing as a whole, such as the type Query, can be in the part that was not parsed.
    findings += faults.filter { isWhole || !$0.locations.isEmpty }
      .map { Finding($0).placed(in: sources.first?.path ?? "") }
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

  fileprivate mutating func validate(_ document: Document, against schema: Schema) {
    // An unused fragment can be a view; anonymous operations are reported already.
    let rules = Rule.executable.subtracting([.noUnusedFragments, .loneAnonymousOperation])
    findings += Validator.validate(document, against: schema, rules: rules).map { Finding($0) }
  }

  /// Reports renamed and shared types that the schema does not have, and types stored under one name.
  private mutating func checkTypeSettings(_ schema: Schema) {
    let section = "\(settings.section).types"
    let types = schema.types.filter(\.isComposite).map(\.name)
    let renamed = settings.storedTypes.renamed.keys.map { ($0, "as") }
    let shared = settings.sharedTypes.map { ($0, "shared") }
    for (name, setting) in (renamed + shared).sorted(by: { $0 < $1 })
    where schema.type(named: name)?.isComposite != true {
      let reason =
        schema.type(named: name) == nil
        ? "an unknown type." + NearestNames.didYouMean(name, among: types)
        : "\(name), which has no fields: it is neither an object nor an interface nor a union."
      fault(
        "\(section).\(name).\(setting) is set for \(reason)",
        setting: "\(section).\(name).\(setting)")
    }
    for (stored, names) in Dictionary(grouping: types, by: { settings.storedTypes[$0] })
      .sorted(by: { $0.key < $1.key }) where names.count > 1
    {
      let renamed = names.sorted().first { settings.storedTypes.renamed[$0] != nil }
      fault(
        "\(section) stores \(names.sorted().joined(separator: " and ")) under the one name \(stored).",
        setting: renamed.map { "\(section).\($0).as" } ?? section)
    }
  }

  private mutating func registry(
    of document: Document, schema: Schema, names: EffectTargetReader.Names
  ) -> OperationRegistry? {
    let inputTypes = InputTypes(schema: schema, scalarNumbers: settings.scalarNumbers)

    var checker = SelectionChecker(schema: schema, keys: keys)
    for operation in document.operations { checker.check(operation) }
    for fragment in document.fragments { checker.check(fragment) }
    findings += checker.findings

    var reader = OperationReader(
      schema: schema, keys: keys, inputTypes: inputTypes, names: names, settings: settings)
    let readings = document.operations.filter { $0.name != nil }.map { reader.read($0) }
    findings += reader.findings
    checkRoutes(readings)
    checkVerification(readings, names)
    // Planning requires valid fragments and fields.
    guard !findings.contains(where: { $0.severity == .fault }) else { return nil }
    var builder = RegistryBuilder(
      schema: schema, keys: keys, inputTypes: inputTypes, settings: settings,
      fragments: document.fragments, manifest: manifest)
    let registry = builder.build(readings)
    findings += builder.findings
    return registry
  }

  /// The names that operations of all upstreams can refer to.
  var names: EffectTargetReader.Names {
    var names = EffectTargetReader.Names()
    for operation in document.operations {
      if let name = operation.name { names.operations.insert(name.value) }
      if let directive = operation.directives.directive(named: ClientDirectives.cache) {
        names.tags.formUnion(DirectiveArguments(directive).strings("tags").map(\.text))
      }
    }
    for fragment in document.fragments { names.fragments[fragment.name.value] = fragment }
    return names
  }

  // MARK: Across operations

  /// Reports routes that no request could distinguish.
  private mutating func checkRoutes(_ readings: [OperationReader.Reading]) {
    var seen: [[RouteTemplate.Segment]: [OperationReader.Reading]] = [:]
    for reading in readings {
      guard let route = reading.route else { continue }
      let shape = route.segments.map { segment -> RouteTemplate.Segment in
        if case .parameter = segment { .parameter("") } else { segment }
      }
      if let other = seen[shape]?.first(where: {
        ($0.kind == .mutation) == (reading.kind == .mutation)
      }) {
        let place = other.routeLocation
        let shown = place.source.map { " (\($0.name):\($0.position(at: place.start)))" } ?? ""
        fault(
          "The route \(route.path) conflicts with the route of \(other.name)\(shown); change one of them.",
          at: reading.routeLocation)
      }
      seen[shape, default: []].append(reading)
    }
  }

  /// The query that verifies a mutation is called with the mutation's variables.
  private mutating func checkVerification(
    _ readings: [OperationReader.Reading], _ names: EffectTargetReader.Names
  ) {
    for reading in readings {
      guard let name = reading.sync?.verify,
        let directive = reading.definition.directives.directive(named: ClientDirectives.sync)
      else { continue }
      let location = DirectiveArguments(directive).location("verify")
      guard let verifier = readings.first(where: { $0.name == name }) else {
        if names.operations.contains(name) {
          fault(
            "@sync(verify:) must name a query of the same upstream; \(name) belongs to another.",
            at: location)
        }
        continue
      }
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
}

extension RegistryLoader {
  /// Returns the faults of documents against another schema than their own, by GraphQL's rules alone: keys
  /// and other directives are only in the own one.
  fileprivate static func faults(
    of sources: UpstreamSources, against other: SourceFile
  ) -> [Finding] {
    var loader = RegistryLoader(settings: sources.settings)
    if let schema = loader.schema(from: [other]) {
      var reduced = ManifestFragments()
      let document = Document(
        joining: sources.files.map { file in
          let (document, isWhole) = loader.parse(file)
          return reduced.reduce(document, of: file, isWhole: isWhole)
        })
      loader.validate(document, against: schema)
    }
    return loader.findings.filter { $0.severity == .fault }
  }
}

extension UpstreamSources {
  /// The faults of the operations against another schema, such as upstream's present one.
  package func faults(against schema: SourceFile) -> [Finding] {
    RegistryLoader.faults(of: self, against: schema)
  }
}

extension OperationReader.Reading {
  /// The place of the operation's `@route`.
  fileprivate var routeLocation: Location {
    definition.directives.directive(named: ClientDirectives.route)?.location ?? definition.location
  }
}
