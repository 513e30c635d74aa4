import Filtering
import Model

/// What a read shows of entities: the fields of a view or all of them, and the relationships whose
/// entities it nests.
final class EntityForm: Sendable {
  /// The fields by concrete type; nil for all fields.
  private let selections: [String: ObjectSelection]?
  /// By concrete type of the owner.
  private let relationships: [String: [NestedRelationship]]
  /// Whether the key is shown even if a view does not select it: that of every nested entity is.
  let showsKey: Bool
  /// The number of entities that can be nested in one.
  let nestedCountMax: Int
  /// The types of all entities that it shows or orders by besides the ones that are read: the caller must
  /// be allowed to read them.
  let reachedTypes: Set<String>

  init(
    selections: [String: ObjectSelection]? = nil,
    relationships: [String: [NestedRelationship]] = [:], showsKey: Bool = false
  ) {
    self.selections = selections
    self.relationships = relationships.filter { !$0.value.isEmpty }
    self.showsKey = showsKey
    let all = relationships.values
    nestedCountMax =
      all.map { $0.reduce(0) { $0 + $1.limit * (1 + $1.form.nestedCountMax) } }.max() ?? 0
    reachedTypes = all.joined().reduce(into: []) { types, relationship in
      types.formUnion(relationship.types)
      types.formUnion(relationship.order.reachedTypes)
      types.formUnion(relationship.form.reachedTypes)
    }
  }

  /// All fields, without nested entities.
  static let whole = EntityForm()

  var nests: Bool { !relationships.isEmpty }

  func selection(of type: String) -> ObjectSelection? { selections?[type] }

  func relationships(of type: String) -> [NestedRelationship] { relationships[type] ?? [] }
}

/// A relationship whose entities are nested in their owners.
final class NestedRelationship: Sendable {
  /// The field, or the name that settings define.
  let name: String
  /// The member that shows it.
  let responseName: String
  /// The stored field with a view's arguments; nil for all stored lists of the field.
  let storageName: String?
  let isToMany: Bool
  /// The members' type and the field that names their owner, if settings define the relationship.
  let link: Link?
  /// The types of the nested entities.
  let types: [String]
  /// The number of entities nested in one; 1 for a to-one relationship.
  let limit: Int
  let order: EntityOrder
  let form: EntityForm

  struct Link: Sendable {
    let type: EntityType
    let column: String

    /// The value that members of an owner have in the column; nil if none can have it.
    func value(naming owner: EntityKey) -> FilterValue? {
      guard type.columns.contains(where: { $0.name == column && $0.kind == .integer }) else {
        return .text(owner.key)
      }
      return Int64(owner.key).map { .integer($0) }
    }
  }

  init(
    name: String, responseName: String, storageName: String? = nil, isToMany: Bool,
    link: Link? = nil, types: [String], limit: Int, order: EntityOrder, form: EntityForm
  ) {
    self.name = name
    self.responseName = responseName
    self.storageName = storageName
    self.isToMany = isToMany
    self.link = link
    self.types = types
    self.limit = limit
    self.order = order
    self.form = form
  }
}

/// The entities of one relationship as a document shows them.
struct NestedContent: Sendable {
  enum Value: Sendable {
    case entity(EntityDocument)
    case null
    /// The relationship was never fetched.
    case missing
    /// The entity that it leads to is not stored: its key.
    case unstored(EntityDocument)
    case list([EntityDocument], hasMore: Bool)
  }

  let name: String
  let value: Value
}
