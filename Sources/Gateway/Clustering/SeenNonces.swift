package import Model
import Synchronization

/// The nonces of the forwarded requests that this node has accepted, as long as their signatures count: a
/// request that was recorded on the way is not accepted a second time.
///
/// There are two generations, each for at least ``NodeSignature/window`` twice, since a signature can be of
/// a clock that is ahead. Only nodes of the cluster can fill them: a nonce is noted after its signature was
/// checked.
package final class SeenNonces: Sendable {
  /// The most nonces of one generation; beyond it the older generation is dropped early.
  private static let noncesMax = 500_000
  private static let generationLength = NodeSignature.window * 2

  private struct State {
    var young: Set<String> = []
    var old: Set<String> = []
    var began: Timestamp?
  }

  private let state = Mutex(State())

  package init() {}

  /// Notes a nonce.
  ///
  /// - Returns: false if it was noted before.
  package func note(_ nonce: String, at now: Timestamp) -> Bool {
    state.withLock { state in
      let began = state.began ?? now
      if state.young.count >= Self.noncesMax
        || began.elapsed(until: now) > Self.generationLength
      {
        state.old = state.young
        state.young = []
        state.began = now
      } else {
        state.began = began
      }
      guard !state.old.contains(nonce) else { return false }
      return state.young.insert(nonce).inserted
    }
  }
}
