import Filtering
package import Model

/// The list that a client follows: the entities of a type, one entity, or the entities that a
/// relationship refers to.
package enum ListSubject: Sendable {
  case type(String)
  /// A list of one.
  case entity(EntityKey)
  /// To one or to many.
  case relationship(String, of: EntityKey)

  fileprivate var texts: [String] {
    switch self {
    case .type(let type): ["type", type]
    case .entity(let key): ["entity", key.type, key.key]
    case .relationship(let field, let key): ["relationship", key.type, key.key, field]
    }
  }
}

/// A list with its parameters, as a client asks for it.
package struct ListQuestion: Sendable {
  let subject: ListSubject
  let parameters: [CollectionRequest.Parameter]
  /// The same text for the same question.
  let text: ExactText

  package init(_ subject: ListSubject, parameters: [CollectionRequest.Parameter]) {
    self.subject = subject
    self.parameters = parameters
    let texts = subject.texts + parameters.flatMap { [$0.name, $0.value] }
    text = ExactText(texts.map { "\($0.utf8.count):\($0)" }.joined())
  }
}

/// What a list was read from: a commit that touches none of it cannot change the list.
struct ListDependencies: Hashable, Sendable {
  /// Every entity of these types.
  var types: Set<String> = []
  /// Single entities: the one shown, and the one that has the relationship.
  var keys: Set<EntityKey> = []
  /// Whether temporary ids of the caller's device were resolved: they change with its queue.
  var followsDevice = false

  /// Returns these together with others.
  func adding(_ others: ListDependencies) -> ListDependencies {
    ListDependencies(
      types: types.union(others.types), keys: keys.union(others.keys),
      followsDevice: followsDevice || others.followsDevice)
  }
}

/// What a change of single entities makes of a list.
enum ListStep: Sendable {
  /// The list, and everything that is known of it, stays the same.
  case same
  case next(FollowedList)
  /// It must be read whole.
  case unknown
}

/// A list at one moment, with what is needed to read it again after a change.
struct FollowedList: Sendable {
  /// How a page of one type's entities is brought up to date by single rows.
  struct Rows: Sendable {
    let reading: CollectionRequest.Reading
    /// The query as it was run, without the window's spare rows.
    let query: EntityQuery
    /// The index of each member of a relationship; empty for a type's entities.
    let places: [ExactText: Int]
    var window: ListWindow
  }

  /// Without documents once they were dropped.
  private(set) var list: EntityList
  let vector: ListVector
  /// The opaque part of the entity tag that a plain read has.
  let tag: String
  let dependencies: ListDependencies
  /// Nil for a list that is read whole each time.
  private(set) var rows: Rows?

  init(_ list: EntityList, dependencies: ListDependencies, rows: Rows?) {
    self.list = list
    vector =
      rows.map { ListVector(rows: $0.window.shown.map(\.inVector)) } ?? ListVector(list.documents)
    tag = EntityDigest.tag(of: list.body)
    self.dependencies = dependencies
    self.rows = rows
  }

  /// A list of the one entity, which has the entity's own tag, or of none.
  init(of document: EntityDocument?, dependencies: ListDependencies) {
    list = EntityList(documents: document.map { [$0] } ?? [])
    vector = ListVector(list.documents)
    tag = document?.tag ?? EntityDigest.tag(of: list.body)
    self.dependencies = dependencies
    rows = nil
  }

  // MARK: Memory

  /// The approximate memory size of a list's question, its query and its places in the indexes, for each
  /// byte of the question.
  private static let bytesAQuestionByte = 16
  /// The approximate memory size of everything that a list has whatever it shows.
  static let byteCountMin = 2 << 10

  /// The approximate memory size of a list of which nothing was read yet.
  static func byteCount(of question: ListQuestion) -> Int {
    byteCountMin + bytesAQuestionByte * question.text.text.utf8.count
  }

  /// The approximate memory size of what a diff needs: keys, revisions, positions; of the present list and
  /// of the one before it.
  var byteCount: Int {
    2 * vector.byteCount + (rows?.window.byteCount ?? 0) + 96 * (rows?.places.count ?? 0)
      + 128 * dependencies.keys.count
  }

  /// The approximate memory size of the documents; 0 once they were dropped.
  var documentByteCount: Int {
    guard hasDocuments else { return 0 }
    let shown = list.documents.reduce(64) { $0 + $1.body.count + 64 }
    let spare = rows?.window.spareDocumentByteCount ?? 0
    return shown + spare
  }

  /// Whether the whole list can be rendered.
  private(set) var hasDocuments = true

  /// Drops the documents: the list can then tell which changes concern it, and is read whole after one that
  /// does.
  mutating func dropDocuments() {
    hasDocuments = false
    list = EntityList(documents: [])
    rows?.window.dropDocuments()
  }
}
