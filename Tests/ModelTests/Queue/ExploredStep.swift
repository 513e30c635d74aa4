import Model

/// One step of a walk and those before it, made into words only where a fault is reported.
final class ExploredStep {
  enum What {
    case arrived(ExploredKind, MutationID)
    case claimed(MutationID)
    case ended(MutationID, SendOutcome)
    case told(String, MutationID)
    case happened(String)
  }

  private let what: What
  private let before: ExploredStep?

  init(what: What, before: ExploredStep?) {
    self.what = what
    self.before = before
  }

  var told: String {
    let here =
      switch what {
      case .arrived(let kind, let id): "\(kind) as \(id)"
      case .claimed(let id): "claim \(id)"
      case .ended(let id, let outcome): "\(id) ends \(outcome)"
      case .told(let command, let id): "\(command) \(id)"
      case .happened(let event): event
      }
    return before.map { "\($0.told); \(here)" } ?? here
  }
}
