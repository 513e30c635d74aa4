import Synchronization

/// Whether anything met while the store was open says that its file is damaged or gone.
final class StoreDamage: Sendable {
  private struct State {
    var found: StorageError?
    var observer: (@Sendable (StorageError) -> Void)?
  }

  private let state = Mutex(State())

  /// The first that was met; a restart forgets it.
  var found: StorageError? { state.withLock { $0.found } }

  /// - Parameter observer: told once, at once where something was found already.
  func observe(_ observer: @escaping @Sendable (StorageError) -> Void) {
    let found = state.withLock { state in
      state.observer = observer
      return state.found
    }
    if let found { observer(found) }
  }

  func note(_ error: StorageError) {
    switch error {
    case .corrupt, .moved: break
    default: return
    }
    let observer = state.withLock { state in
      guard state.found == nil else { return nil as (@Sendable (StorageError) -> Void)? }
      state.found = error
      return state.observer
    }
    observer?(error)
  }
}
