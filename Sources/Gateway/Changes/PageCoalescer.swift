import Model
import Storage
import Synchronization

/// Pages of changes that several readers ask for at the same time, read and rendered once.
///
/// The head at the time of asking is part of the key: whoever asks after a commit is not given a
/// page from before it.
final class PageCoalescer: Sendable {
  struct Key: Hashable {
    let viewer: Viewer
    let filter: ChangeFilter
    let place: ChangePlace?
    let head: Revision
    let limit: Int
  }

  typealias Outcome = Result<ChangeFeed.Outcome, Failure>

  /// Pages kept for those who come a little later. A page is bounded, so this is too.
  private static let pagesMax = 16

  private struct State {
    var pages: [Key: Task<Outcome, Never>] = [:]
    var order: [Key] = []
  }

  private let state = Mutex(State())

  func page(
    _ key: Key, read: @escaping @Sendable () async -> Outcome
  ) async -> Outcome {
    let task = state.withLock { state in
      if let page = state.pages[key] { return page }
      let page = Task.detached { await read() }
      state.pages[key] = page
      state.order.append(key)
      if state.order.count > Self.pagesMax { state.pages[state.order.removeFirst()] = nil }
      return page
    }
    let outcome = await task.value
    if case .failure = outcome { forget(key) }
    return outcome
  }

  private func forget(_ key: Key) {
    state.withLock { state in
      state.pages[key] = nil
      state.order.removeAll { $0 == key }
    }
  }
}
