import GraphQL
import Model

/// Loads the operations of all upstreams as one registry, and reports the findings of all at once.
struct RegistryLoading {
  private let sources: [UpstreamSources]
  private var loaders: [RegistryLoader]
  private var findings: [Finding] = []

  init(_ sources: [UpstreamSources]) {
    self.sources = sources
    loaders = sources.map { RegistryLoader(settings: $0.settings) }
  }

  mutating func load() -> LoadedRegistry {
    for index in loaders.indices { loaders[index].read(sources[index]) }
    checkKeySettings()
    checkOperationNames()
    let names = loaders.reduce(into: EffectTargetReader.Names()) { $0.add($1.names) }
    var parts: [RegistryMerger.Part] = []
    for index in loaders.indices {
      let foreign = foreignRules(of: index)
      if let registry = loaders[index].build(names: names, foreign: foreign) {
        parts.append(
          RegistryMerger.Part(
            registry: registry, settings: loaders[index].settings,
            rules: loaders[index].keys.storedRules, rootNames: loaders[index].rootNames))
      }
    }
    let isWhole = parts.count == loaders.count
    var registry: OperationRegistry?
    if parts.count == 1 {
      registry = parts[0].registry
    } else {
      var merger = RegistryMerger(parts)
      registry = merger.merge()
      findings += merger.findings
    }
    let all = sorted(findings + loaders.flatMap(\.findings))
    let hasFault = all.contains { $0.severity == .fault }
    return LoadedRegistry(registry: hasFault || !isWhole ? nil : registry, findings: all)
  }

  /// The rules of the other upstreams' types, by the name that they are stored under.
  private func foreignRules(of own: Int) -> [String: EntityKeyRule] {
    var rules: [String: EntityKeyRule] = [:]
    for index in loaders.indices where index != own {
      rules.merge(loaders[index].keys.storedRules) { first, _ in first }
    }
    return rules
  }

  // MARK: Across upstreams

  /// Reports `types.T.key` for a type of no schema. Without all schemas nothing is unknown.
  private mutating func checkKeySettings() {
    let schemas = loaders.compactMap(\.schema)
    guard schemas.count == loaders.count, let first = loaders.first else { return }
    var known: Set<String> = []
    for (loader, schema) in zip(loaders, schemas) {
      known.formUnion(
        schema.types.filter(\.isComposite).map { loader.settings.storedTypes[$0.name] })
    }
    for name in first.settings.keys.keys.sorted() where !known.contains(name) {
      let hint = NearestNames.didYouMean(name, among: known.sorted())
      findings.append(
        Finding(
          .fault, "types.\(name).key is set for an unknown type.\(hint)",
          setting: "types.\(name).key"))
    }
  }

  /// An operation's name is that of its endpoint, whichever upstream runs it. Names within one
  /// upstream are checked with its documents.
  private mutating func checkOperationNames() {
    var seen: [String: UpstreamName] = [:]
    for loader in loaders {
      let upstream = loader.settings.upstream
      for operation in loader.document.operations {
        guard let name = operation.name else { continue }
        if let other = seen[name.value], other != upstream {
          findings.append(
            Finding(
              .fault,
              "The upstream \(other) has an operation named \(name.value) too; names must be unique "
                + "among the operations of all upstreams.", at: name.location))
        }
        seen[name.value] = seen[name.value] ?? upstream
      }
    }
  }

  private func sorted(_ findings: [Finding]) -> [Finding] {
    // Without a schema, findings have the order in which they were found.
    guard loaders.allSatisfy({ $0.schema != nil }) else { return findings }
    let order = Dictionary(
      sources.flatMap(\.files).enumerated().map { ($1.path, $0) },
      uniquingKeysWith: { first, _ in first })
    return findings.enumerated().sorted { left, right in
      let (a, b) = (left.element, right.element)
      return (order[a.path] ?? -1, a.line, a.column, left.offset)
        < (order[b.path] ?? -1, b.line, b.column, right.offset)
    }.map(\.element)
  }
}
