import LosslessJSON
package import Model

/// An entity type as `GET /v1/entities` tells it.
package struct EntityTypeDescription: Sendable {
  package struct Relationship: Sendable {
    package let name: String
    /// The declared type, which may be a union or an interface.
    package let type: String
    package let isToMany: Bool
  }

  package let type: EntityType
  package let relationships: [Relationship]
  /// Names of the fragments on it, in alphabetical order.
  package let views: [String]
  /// Lives here alone and is written by clients.
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
