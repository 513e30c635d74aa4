/// The selection of an operation at one composite position, for every concrete type possible
/// there, with the request's variables already applied (`@skip`, `@include`, arguments).
///
/// The normaliser, the store's loader and the renderer walk the same value, so they cannot
/// disagree about which member of a response is which stored field.
package final class FieldSelection: Sendable {
  /// By concrete type. A position of an object type holds exactly one.
  package let types: [String: ObjectSelection]
  /// The only member of ``types`` if the position's type is an object type.
  package let single: ObjectSelection?
  /// The response name of the concrete type's `__typename`; nil where ``single`` names the type.
  package let typenameResponseName: String?

  package init(types: [ObjectSelection], typenameResponseName: String?) {
    self.types = Dictionary(types.map { ($0.type, $0) }, uniquingKeysWith: { first, _ in first })
    single = typenameResponseName == nil ? types.first : nil
    self.typenameResponseName = typenameResponseName
  }

  /// Returns the selection on the type that a response names in `__typename`.
  package func object(typename: String) -> ObjectSelection? {
    if let named = types[typename], named.typename == typename { return named }
    return types.values.first { $0.typename == typename }
  }
}

/// The fields selected on one concrete type, in the order of the operation's response.
package final class ObjectSelection: Sendable {
  /// The name that the type is stored under.
  package let type: String
  /// The type's name in responses; other than ``type`` if the settings of one of several upstreams
  /// rename it.
  package let typename: String
  package let fields: [SelectedField]
  /// The key's fields in a response, in declared order; nil for an embedded (keyless) object.
  package let key: [KeyField]?

  package init(
    type: String, typename: String? = nil, fields: [SelectedField], key: [KeyField]?
  ) {
    self.type = type
    self.typename = typename ?? type
    self.fields = fields
    self.key = key
  }
}

/// One field of a key in a response.
package struct KeyField: Hashable, Sendable {
  package enum Canonical: Hashable, Sendable {
    /// `ID`, `String`, enums and custom scalars: a JSON string's content, or another value's text.
    case text
    /// `Int` and number scalars: digits without sign of plus or leading zeros.
    case integer
  }

  /// The schema name of the field.
  package let name: String
  package let responseName: String
  package let canonical: Canonical

  package init(name: String, responseName: String, canonical: Canonical) {
    self.name = name
    self.responseName = responseName
    self.canonical = canonical
  }
}

/// One field of an ``ObjectSelection``: its name in the response, its name in the store, and the kind
/// of its value.
package struct SelectedField: Sendable {
  package enum Value: Sendable {
    /// A scalar or an enum; a `__typename` is a leaf as well.
    case leaf
    case object(FieldSelection)
  }

  /// The JSON kinds allowed for a leaf of a built-in scalar or an enum.
  package enum LeafKind: Hashable, Sendable {
    /// A custom scalar: any value.
    case any
    case text
    case number
    case boolean
    /// `ID`, which servers send as text or number.
    case textOrNumber
  }

  /// A page of a list that upstream paginates (`first/after`, `limit/offset`).
  package struct Page: Hashable, Sendable {
    /// The storage name without the paging arguments: the same for all pages of one list.
    package let family: String
    package let isFirst: Bool

    package init(family: String, isFirst: Bool) {
      self.family = family
      self.isFirst = isFirst
    }
  }

  /// The alias or name of the field in responses.
  package let responseName: String
  /// The schema name.
  package let name: String
  /// See ``StoredForm``.
  package let storageName: String
  /// The innermost named type; empty if values of the field are not checked.
  package let typeName: String
  package let leafKind: LeafKind
  /// Whether Larder added the field (a key field, `__typename`); left out of rendered responses.
  package let isAdded: Bool
  package let value: Value
  /// Non-null flags from the outside in, one for each list level and one for the innermost value:
  /// `[Film!]!` is `[true, true]`, `[Film]` is `[false, false]`, `Film` is `[false]`.
  package let nonNull: [Bool]
  package let page: Page?
  /// Whether the unpaginated list names every member (`@complete`).
  package let isComplete: Bool
  /// The entity that this field looks up by key with these variables; nil for other fields. A null
  /// without an error then means that the entity is deleted.
  package let lookup: EntityKey?
  /// Whether one such null is enough (`@authoritative`); otherwise two are needed.
  package let isAuthoritative: Bool

  package init(
    responseName: String,
    name: String,
    storageName: String,
    typeName: String = "",
    leafKind: LeafKind = .any,
    isAdded: Bool = false,
    value: Value = .leaf,
    nonNull: [Bool] = [false],
    page: Page? = nil,
    isComplete: Bool = false,
    lookup: EntityKey? = nil,
    isAuthoritative: Bool = false
  ) {
    self.responseName = responseName
    self.name = name
    self.storageName = storageName
    self.typeName = typeName
    self.leafKind = leafKind
    self.isAdded = isAdded
    self.value = value
    self.nonNull = nonNull
    self.page = page
    self.isComplete = isComplete
    self.lookup = lookup
    self.isAuthoritative = isAuthoritative
  }

  /// How many lists enclose the innermost value.
  package var listDepth: Int { nonNull.count - 1 }

  /// Returns the type at a list level in schema notation: `[Film!]!` at level 0, `Film!` at level 1.
  package func typeText(at level: Int = 0) -> String {
    let inner = level < listDepth ? "[\(typeText(at: level + 1))]" : typeName
    return level < nonNull.count && nonNull[level] ? inner + "!" : inner
  }
}
