/// One field of an ``ObjectSelection``: its name in the answer, its name in the store, and what
/// its value is.
package struct SelectedField: Sendable {
  package enum Value: Sendable {
    /// A scalar or an enum; a `__typename` is a leaf as well.
    case leaf
    case object(Selection)
  }

  /// What JSON a leaf of a built-in scalar or an enum may be.
  package enum LeafKind: Hashable, Sendable {
    /// A custom scalar: any value.
    case any
    case text
    case number
    case boolean
    /// `ID`, which servers send as either.
    case textOrNumber
  }

  /// A page of a list that upstream gives in pieces (`first/after`, `limit/offset`).
  package struct Page: Hashable, Sendable {
    /// The storage name without the paging arguments: the same for all pages of one list.
    package let family: String
    package let isFirst: Bool

    package init(family: String, isFirst: Bool) {
      self.family = family
      self.isFirst = isFirst
    }
  }

  /// The alias or name under which answers carry it.
  package let responseName: String
  /// The schema name.
  package let name: String
  /// See ``StoredForm``.
  package let storageName: String
  /// The innermost named type; empty where whoever made the field does not check values.
  package let typeName: String
  package let leafKind: LeafKind
  /// Asked of upstream by Larder alone (key fields, `__typename`) and left out of rendered bodies.
  package let isAdded: Bool
  package let value: Value
  /// Non-null flags from the outside in, one for each list level and one for the innermost value:
  /// `[Film!]!` is `[true, true]`, `[Film]` is `[false, false]`, `Film` is `[false]`.
  package let nonNull: [Bool]
  package let page: Page?
  /// The unpaginated list names every member (`@complete`).
  package let isComplete: Bool
  /// The one entity this field looks up by key with these variables, where it is such a look-up:
  /// a null without an error then says that the entity is gone.
  package let lookup: EntityKey?
  /// One null is enough to believe that (`@authoritative`); otherwise two are needed.
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

  /// How many lists lie around the innermost value.
  package var listDepth: Int { nonNull.count - 1 }

  /// The type at a list level as a schema writes it: `[Film!]!` at level 0, `Film!` at level 1.
  package func typeText(at level: Int = 0) -> String {
    let inner = level < listDepth ? "[\(typeText(at: level + 1))]" : typeName
    return level < nonNull.count && nonNull[level] ? inner + "!" : inner
  }
}
