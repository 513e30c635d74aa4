import Model
import SyncScheduler

/// The operations of the exhaustive check: one object that exists, one that is created.
enum ExploredKind: UInt8, CaseIterable {
  case updateOld, deleteOld, steadyOld, forceOld, tagOld
  case create, updateNew, deleteNew, steadyNew, forceNew, link, forceCreate, independentNew

  /// The most distinctive kinds.
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

/// One step of a walk with its predecessors, described only when a fault is reported.
final class ExploredStep {
  enum What {
    case arrived(ExploredKind, MutationID)
    case claimed(MutationID)
    case ended(MutationID, SendOutcome)
    case command(String, MutationID)
    case happened(String)
  }

  private let what: What
  private let before: ExploredStep?

  init(what: What, before: ExploredStep?) {
    self.what = what
    self.before = before
  }

  var description: String {
    let here =
      switch what {
      case .arrived(let kind, let id): "\(kind) as \(id)"
      case .claimed(let id): "claim \(id)"
      case .ended(let id, let outcome): "\(id) ends \(outcome)"
      case .command(let command, let id): "\(command) \(id)"
      case .happened(let event): event
      }
    return before.map { "\($0.description); \(here)" } ?? here
  }
}
