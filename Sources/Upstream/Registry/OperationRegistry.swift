package import Model

/// All operations that the service offers, of all upstreams: a closed world, built once at start.
package final class OperationRegistry: Sendable {
  /// In alphabetical order.
  package let operations: [RegisteredOperation]
  package let catalogue: EntityCatalogue
  /// Views by fragment name.
  package let views: [String: EntityView]
  /// The input object types, for reading variables.
  let inputObjects: InputObjectTypes
  /// The schema's object types; nil unless ``RegistrySettings/keepsOutline`` is set.
  package let outline: SchemaOutline?
  /// Nil unless ``RegistrySettings/describesInterface`` is set.
  package let interface: ClientInterface?
  private let byName: [String: RegisteredOperation]

  init(
    operations: [RegisteredOperation], catalogue: EntityCatalogue, views: [String: EntityView],
    inputObjects: InputObjectTypes, outline: SchemaOutline? = nil, interface: ClientInterface? = nil
  ) {
    self.outline = outline
    self.interface = interface
    self.operations = operations.sorted { $0.name < $1.name }
    self.catalogue = catalogue
    self.views = views
    self.inputObjects = inputObjects
    byName = Dictionary(operations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The claims that operations share responses by, in alphabetical order.
  package var sharedClaims: [String] { Set(operations.compactMap(\.claim)).sorted() }

  /// The roles that operations with `@access` store their responses for.
  package var storedRoles: Set<Role> {
    Set(operations.filter { $0.claim == nil }.compactMap { $0.access.role?.demanded })
  }

  /// The upstreams whose operations store entities of each type.
  package var upstreamsOfTypes: [String: Set<UpstreamName>] {
    operations.reduce(into: [:]) { found, operation in
      for type in operation.entityTypes { found[type, default: []].insert(operation.upstream) }
    }
  }

  package func operation(named name: String) -> RegisteredOperation? { byName[name] }
}

/// The result of loading the operations.
package struct LoadedRegistry: Sendable {
  /// Nil if any finding is a fault.
  package let registry: OperationRegistry?
  /// All findings, in the order of files and lines.
  package let findings: [Finding]

  package var faults: [Finding] { findings.filter { $0.severity == .fault } }
  package var warnings: [Finding] { findings.filter { $0.severity == .warning } }
}

extension OperationRegistry {
  /// Reads operations and validates them against a schema. It opens no files.
  ///
  /// - Parameters:
  ///   - files: the operations' documents; fragments are shared between them.
  ///   - schemaSources: the upstream schema as SDL, in one or more texts.
  package static func load(
    files: [SourceFile], schemaSources: [SourceFile], settings: RegistrySettings
  ) -> LoadedRegistry {
    load([UpstreamSources(files: files, schemaSources: schemaSources, settings: settings)])
  }

  /// Reads the operations of several upstreams, each validated against its own schema, as one
  /// registry.
  package static func load(_ sources: [UpstreamSources]) -> LoadedRegistry {
    var loading = RegistryLoading(sources)
    return loading.load()
  }
}

/// The operations and the schema of one upstream.
package struct UpstreamSources: Sendable {
  package let files: [SourceFile]
  package let schemaSources: [SourceFile]
  package let settings: RegistrySettings

  package init(
    files: [SourceFile], schemaSources: [SourceFile], settings: RegistrySettings
  ) {
    self.files = files
    self.schemaSources = schemaSources
    self.settings = settings
  }
}

/// A view of entities, defined by a fragment.
package struct EntityView: Sendable {
  /// The fragment's name.
  package let name: String
  /// The type condition: an entity type, or an abstract type that entities belong to.
  package let typeCondition: String
  /// The fragment's fields for each concrete type.
  package let selection: FieldSelection
}

/// The name and the kind of an operation as a manifest of Apollo writes them; nil if it does not.
struct DeclaredOperation: Hashable, Sendable {
  let name: String?
  let kind: String?
}

/// A GraphQL text and the path it is reported under. Composition reads the file.
package struct SourceFile: Hashable, Sendable {
  package let path: String
  package let text: String
  /// The id of its one operation in a manifest; nil for a text of a folder.
  package let documentID: String?
  /// What a manifest says of the operation besides its id.
  let declared: DeclaredOperation?

  package init(path: String, text: String, documentID: String? = nil) {
    self.init(path: path, text: text, documentID: documentID, declared: nil)
  }

  init(path: String, text: String, documentID: String?, declared: DeclaredOperation?) {
    self.declared = declared
    self.path = path
    self.text = text
    self.documentID = documentID
  }
}
