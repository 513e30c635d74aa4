import DequeModule
import Synchronization

/// Turns for work, a few at a time in each lane and in all lanes together. Lanes that wait take turns, so
/// that one with thousands of waiting parts delays another by one part of each lane.
///
/// Synchronisation: the mutex guards the state. Each step is O(1), whatever waits.
final class LaneTurns<Lane: Hashable & Sendable>: Sendable {
  private struct Queue {
    var running = 0
    /// First in, first out.
    var waiting: Deque<CheckedContinuation<Void, Never>> = []
    /// Whether the lane is among those that can have the next turn.
    var isListed = false

    var load: Int { running + waiting.count }
  }

  private struct State {
    var running = 0
    var lanes: [Lane: Queue] = [:]
    /// Lanes with waiting parts and a free place, each once; a served lane goes to the end.
    var order: Deque<Lane> = []
  }

  private let laneMax: Int
  private let max: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - laneMax: parts of one lane at a time.
  ///   - max: parts at a time.
  init(laneMax: Int, max: Int) {
    self.laneMax = laneMax
    self.max = max
  }

  /// Runs a part in its lane's turn: of several lanes that it belongs to, in the least busy one.
  func run<Value>(
    _ lanes: [Lane], _ body: () async -> Value
  ) async -> Value {
    let lane = await take(lanes)
    defer { if let lane { release(lane) } }
    return await body()
  }

  /// Parts that run or wait.
  var count: Int { state.withLock { state in state.lanes.values.reduce(0) { $0 + $1.load } } }

  private func take(_ lanes: [Lane]) async -> Lane? {
    guard let first = lanes.first else { return nil }
    let (lane, begins) = state.withLock { state -> (Lane, Bool) in
      let lane = lanes.min { (state.lanes[$0]?.load ?? 0) < (state.lanes[$1]?.load ?? 0) } ?? first
      let queue = state.lanes[lane] ?? Queue()
      guard state.running < max, queue.running < laneMax, queue.waiting.isEmpty else {
        return (lane, false)
      }
      state.running += 1
      state.lanes[lane, default: Queue()].running += 1
      return (lane, true)
    }
    if begins { return lane }
    await withCheckedContinuation { continuation in
      let next = state.withLock { state in
        state.lanes[lane, default: Queue()].waiting.append(continuation)
        Self.list(lane, laneMax, in: &state)
        // A place can have become free in between.
        return begin(&state)
      }
      next?.resume()
    }
    return lane
  }

  /// Frees a place and begins the next part.
  private func release(_ lane: Lane) {
    let next = state.withLock { state in
      state.running -= 1
      state.lanes[lane]?.running -= 1
      Self.list(lane, laneMax, in: &state)
      return begin(&state)
    }
    next?.resume()
  }

  /// Puts a lane among those that can have the next turn, or forgets it if it has nothing.
  private static func list(_ lane: Lane, _ laneMax: Int, in state: inout State) {
    guard let queue = state.lanes[lane] else { return }
    if queue.load == 0 {
      state.lanes[lane] = nil
    } else if !queue.isListed, !queue.waiting.isEmpty, queue.running < laneMax {
      state.lanes[lane]?.isListed = true
      state.order.append(lane)
    }
  }

  /// Takes the next part, if there is a place for it. One place becomes free at a time, so one part begins.
  private func begin(_ state: inout State) -> CheckedContinuation<Void, Never>? {
    guard state.running < max, let lane = state.order.popFirst() else { return nil }
    state.lanes[lane]?.isListed = false
    guard let next = state.lanes[lane]?.waiting.popFirst() else { return nil }
    state.running += 1
    state.lanes[lane]?.running += 1
    Self.list(lane, laneMax, in: &state)
    return next
  }
}
