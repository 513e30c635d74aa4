import GraphQL
import Model
import Upstream

/// What upstream's present schema changes for the operations, which were checked against a schema file.
///
/// The file is what responses are read by: a field that has another type now makes every response with
/// it unusable, although its operations are still valid.
struct SchemaDrift {
  /// The maximum number of differences that are named.
  static let shownMax = 5

  private let sources: [UpstreamSources]
  private let registry: OperationRegistry

  /// - Parameters:
  ///   - sources: of all upstreams.
  ///   - registry: the operations as they were checked.
  init(sources: [UpstreamSources], registry: OperationRegistry) {
    self.sources = sources
    self.registry = registry
  }

  /// Returns the differences that break operations of one upstream, each a clause.
  ///
  /// - Parameter sdl: upstream's present schema.
  func differences(of upstream: UpstreamName, to sdl: String) -> [String] {
    guard let own = sources.first(where: { $0.settings.upstream == upstream }) else { return [] }
    let present = SourceFile(path: "upstream", text: sdl)
    let faults = own.faults(against: present).map(\.description)
    guard faults.isEmpty else { return faults }
    return changedFields(
      Self.schema(of: own.schemaSources), Self.schema(of: [present]), own.settings.storedTypes)
  }

  private static func schema(of sources: [SourceFile]) -> Schema {
    let documents = sources.map {
      Parser.parseRecovering(Source(name: $0.path, body: $0.text)).0
    }
    return Schema.buildRecovering(documents, tolerating: [.knownDirectives]).schema
  }

  /// The selected fields whose type is another one. A field that can be null now breaks the operations of
  /// a schema in which it cannot.
  private func changedFields(
    _ known: Schema, _ present: Schema, _ names: StoredTypeNames
  ) -> [String] {
    var clauses: [String] = []
    for type in known.types.sorted(by: { $0.name < $1.name }) {
      guard let shape = registry.catalogue.shapes[names[type.name]],
        let other = present.type(named: type.name)
      else { continue }
      for name in shape.fields.keys.sorted() {
        guard let field = type.fields[name], let now = other.fields[name],
          Self.breaks(field.type, now.type)
        else { continue }
        clauses.append(
          "\(type.name).\(name) is \(now.type), but \(field.type) in the schema file")
      }
    }
    return clauses
  }

  private static func breaks(_ known: TypeReference, _ now: TypeReference) -> Bool {
    if known.isNonNull, !now.isNonNull { return true }
    switch (known.item, now.item) {
    case (let known?, let now?): return breaks(known, now)
    case (nil, nil): return known.name.value != now.name.value
    default: return true
    }
  }
}
