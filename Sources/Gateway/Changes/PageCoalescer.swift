import Model
import Storage
import Synchronization

/// Coalesces reads of the change log: a page that several readers request at the same time is read
/// and rendered once.
///
/// The head at the time of the request is part of the key: a request after a commit never gets a
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

  /// The maximum number of pages kept for slightly later readers. A page's size is bounded, so this
  /// cache is too.
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
