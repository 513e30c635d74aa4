import Model

/// The operations of the exhaustive check: one object that exists, one that is created.
enum ExploredKind: UInt8, CaseIterable {
  case updateOld, deleteOld, steadyOld, forceOld, tagOld
  case create, updateNew, deleteNew, steadyNew, forceNew, link, forceCreate, independentNew

  /// Those that the tables tell apart most.
  static let essential: [ExploredKind] = [
    .updateOld, .steadyOld, .create, .deleteNew, .forceNew,
  ]

  static let old = EntityKey.film("9")
  static let newID = TemporaryID.test(1)
  static let new = EntityKey.film(newID.value)
  static let real = EntityKey.film("77")

  /// Creates the new object, which at most one operation of a run does.
  var isCreate: Bool { self == .create || self == .forceCreate }
  var needsNew: Bool {
    switch self {
    case .updateNew, .deleteNew, .steadyNew, .forceNew, .link, .independentNew: true
    default: false
    }
  }

  var asked: QueueFixture.Asked {
    var asked = QueueFixture.Asked(object: Self.old, rule: .sendAgain)
    switch self {
    case .updateOld: break
    case .deleteOld: asked = .delete(Self.old)
    case .steadyOld: asked = .steady(Self.old)
    case .forceOld: asked.mode = .force
    case .tagOld: asked.operation = "TagFilm"
    case .create: asked = .create(Self.newID)
    case .forceCreate: asked = .create(Self.newID, mode: .force)
    case .updateNew: asked.object = Self.new
    case .deleteNew: asked = .delete(Self.new)
    case .steadyNew: asked = .steady(Self.new)
    case .forceNew:
      asked.object = Self.new
      asked.mode = .force
    case .link: asked.mentions = [Self.newID]
    case .independentNew:
      asked.object = Self.new
      asked.mode = .force
      asked.overtakesAll = true
    }
    if isCreate { asked.rule = .verify(operation: "FilmByTitle") }
    return asked
  }
}
