import Filtering
import LosslessJSON
package import Model
package import Upstream

/// The entity types by name, upstream and local ones, with their relationships and views.
package struct EntityDirectory: Sendable {
  package let descriptions: [EntityTypeDescription]
  private let types: [String: EntityType]
  private let shapes: [String: ObjectShape]
  private let views: [String: EntityView]
  /// Concrete entity types by union or interface.
  private let possibleTypes: [String: [String]]
  private let local: [String: LocalType]
  private let links: [EntityLink]
  /// The types and relationships that filters and orders can name.
  let graph: EntityGraph

  /// - Parameters:
  ///   - registry: the registry, with the local types in its catalogue.
  ///   - links: relationships that settings define, between types of the catalogue.
  package init(registry: OperationRegistry, local: LocalSchema, links: [EntityLink] = []) {
    self.links = links
    let catalogue = registry.catalogue
    graph = EntityGraph(catalogue, links: links)
    let views = registry.views
    self.views = views
    self.local = local.types
    shapes = catalogue.shapes
    possibleTypes = catalogue.possibleTypes
    types = Dictionary(
      catalogue.types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    descriptions = catalogue.types.map { type in
      let fields = catalogue.shapes[type.name]?.fields ?? [:]
      return EntityTypeDescription(
        type: type,
        relationships: fields.sorted { $0.key < $1.key }.compactMap { name, field in
          guard let isToMany = field.isToMany, case .object(let declared, _, _) = field.value
          else { return nil }
          return .init(name: name, type: declared, isToMany: isToMany)
        }
          + links.filter { $0.owner == type.name }.map {
            .init(name: $0.name, type: $0.type, isToMany: true)
          },
        views: views.values.filter { $0.selection.types[type.name] != nil }.map(\.name).sorted(),
        isLocal: local.types[type.name] != nil)
    }
  }

  func type(named name: String) throws(Failure) -> EntityType {
    if let found = types[name] { return found }
    if case .types(let possible)? = source(ofAll: name) {
      throw Failure(
        .notFound,
        "\(name) is an interface or a union, whose entities are named by their own types: "
          + possible.joined(separator: ", ") + ".")
    }
    throw Failure(
      .notFound,
      "There is no entity type \(name); there are "
        + descriptions.map(\.type.name).joined(separator: ", ") + ".")
  }

  /// Returns a local type; nil for upstream's types.
  func localType(named name: String) -> LocalType? { local[name] }

  /// Returns the subject of the collection of all entities of a type, an interface or a union.
  func subject(ofAll name: String) throws(Failure) -> CollectionRequest.Subject {
    if types[name] == nil, let mixed = subject(declared: name, members: [], owner: nil) {
      return mixed
    }
    return CollectionRequest.Subject(try type(named: name))
  }

  /// Returns the types of the entities of an interface or a union; nil for a type.
  func source(ofAll name: String) -> MixedQuery.Source? {
    guard types[name] == nil,
      let possible = possibleTypes[name]?.filter({ types[$0] != nil }), !possible.isEmpty
    else { return nil }
    return .types(possible)
  }

  /// Returns the types of the entities of an interface or a union; the name itself for any other.
  func concreteTypes(of name: String) -> [String] {
    if case .types(let possible)? = source(ofAll: name) { possible } else { [name] }
  }

  /// Writes the interfaces and unions, whose collections are mixed lists; nothing if there are none.
  ///
  /// - Parameter known: the types that the caller may read; those of each must be among them.
  func writeMixed(of known: Set<String>, to writer: inout JSONWriter) {
    let shown = possibleTypes.keys.sorted().compactMap { name in
      subject(declared: name, members: [], owner: nil).flatMap {
        types[name] == nil && known.isSuperset(of: $0.shown) ? $0 : nil
      }
    }
    guard !shown.isEmpty else { return }
    writer.name("mixed")
    writer.beginArray()
    for subject in shown {
      writer.beginObject()
      writer.name("name")
      writer.string(subject.type.name)
      writer.name("types")
      writer.beginArray()
      for name in subject.shown { writer.string(name) }
      writer.endArray()
      writer.name("columns")
      writer.beginArray()
      for column in subject.type.columns { writer.string(column.name) }
      writer.endArray()
      writer.endObject()
    }
    writer.endArray()
  }

  /// Returns an entity's key as it is stored: the id of a local type can be written in several ways.
  func canonical(_ key: EntityKey) -> EntityKey {
    let id = local[key.type]?.canonicalID(key.key)
    return id.map { EntityKey(type: key.type, key: $0) } ?? key
  }

  /// Returns a relationship's field; nil if the type has no such relationship.
  func relationship(_ name: String, of type: String) -> ObjectShape.Field? {
    guard let field = shapes[type]?.fields[name], field.isToMany != nil else { return nil }
    return field
  }

  /// Returns a relationship that settings define; nil for any other.
  func link(_ name: String, of type: String) -> EntityLink? {
    links.first { $0.owner == type && $0.name == name }
  }

  /// Returns the types of the entities that a relationship can refer to; none if there is no such
  /// relationship.
  func types(ofRelationship name: String, of type: String) -> [String] {
    if let link = link(name, of: type) { return [link.type] }
    guard let field = relationship(name, of: type), case .object(let declared, _, _) = field.value
    else { return [] }
    return types[declared] == nil
      ? (possibleTypes[declared] ?? []).filter { types[$0] != nil } : [declared]
  }

  /// Returns whether a name is that of an entity type.
  func isEntity(_ name: String) -> Bool { types[name] != nil }

  /// Returns the names of a type's relationships.
  func relationshipNames(of type: String) -> [String] {
    descriptions.first { $0.type.name == type }?.relationships.map(\.name) ?? []
  }

  /// Returns the type of a relationship's members, or the columns that all their types have; nil if
  /// there is no such relationship.
  func commonType(ofRelationship name: String, of type: String) -> EntityType? {
    if let link = link(name, of: type) { return types[link.type] }
    guard let field = relationship(name, of: type), case .object(let declared, _, _) = field.value
    else { return nil }
    return subject(declared: declared, members: [], owner: "")?.type
  }

  /// Returns the subject of a to-many relationship's list without its members; nil for any other
  /// relationship.
  func subject(ofRelationship name: String, of type: String) -> CollectionRequest.Subject? {
    if let link = link(name, of: type) { return types[link.type].map { .init($0) } }
    guard let field = relationship(name, of: type), field.isToMany == true,
      case .object(let declared, _, _) = field.value
    else { return nil }
    return subject(declared: declared, members: [], owner: "")
  }

  /// Returns the subject of a collection of a relationship's members; nil for a declared type that
  /// no operation reaches.
  func subject(declared name: String, members: [EntityKey], owner: String?) -> CollectionRequest
    .Subject?
  {
    if let type = types[name] {
      return CollectionRequest.Subject(type, members: members.map(\.key), owner: owner)
    }
    let concrete = (possibleTypes[name] ?? []).compactMap { types[$0] }
    guard let first = concrete.first else { return nil }
    let common = first.columns.filter { column in
      concrete.allSatisfy { $0.columns.contains(column) }
    }
    return CollectionRequest.Subject(
      common: EntityType(
        name: name, keyFields: [], columns: common,
        lists: first.lists.filter { list in concrete.allSatisfy { $0.lists.contains(list) } }),
      shown: concrete.map(\.name), owner: owner)
  }

  /// Returns a view; its selection can cover several types.
  func view(named name: String) -> EntityView? { views[name] }

  /// Returns the names of the views that cover all the types.
  func viewNames(of types: [String]) -> [String] {
    views.values.filter { view in types.allSatisfy { view.selection.types[$0] != nil } }
      .map(\.name).sorted()
  }
}

/// An entity type as `GET /v1/entities` describes it.
package struct EntityTypeDescription: Sendable {
  package struct Relationship: Sendable {
    package let name: String
    /// The declared type, which can be a union or an interface.
    package let type: String
    package let isToMany: Bool
  }

  package let type: EntityType
  package let relationships: [Relationship]
  /// The names of the fragments on it, in alphabetical order.
  package let views: [String]
  /// Whether it is a local type, which is stored only here and written by clients.
  package let isLocal: Bool

  func write(count: Int?, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("name")
    writer.string(type.name)
    if let count {
      writer.name("count")
      writer.int(count)
    }
    writer.name("local")
    writer.bool(isLocal)
    writer.name("key")
    write(type.keyFields, to: &writer)
    writer.name("columns")
    writer.beginArray()
    for column in type.columns {
      writer.beginObject()
      writer.name("name")
      writer.string(column.name)
      writer.name("kind")
      writer.string(column.dates == nil ? column.kind.rawValue : "date")
      if let dates = column.dates {
        writer.name("format")
        writer.string(dates.name)
      }
      writer.name("indexed")
      writer.bool(type.indexes.contains(column.name))
      if type.hasLocalField(column.name) {
        writer.name("local")
        writer.bool(true)
      }
      writer.endObject()
    }
    writer.endArray()
    writer.name("relationships")
    writer.beginArray()
    for relationship in relationships {
      writer.beginObject()
      writer.name("name")
      writer.string(relationship.name)
      writer.name("type")
      writer.string(relationship.type)
      writer.name("many")
      writer.bool(relationship.isToMany)
      writer.endObject()
    }
    writer.endArray()
    writer.name("views")
    write(views, to: &writer)
    writer.endObject()
  }

  private func write(_ names: [String], to writer: inout JSONWriter) {
    writer.beginArray()
    for name in names { writer.string(name) }
    writer.endArray()
  }
}
