/// Where a mutation stands; the raw value is the API's.
package enum MutationState: String, Hashable, Sendable, CaseIterable {
  case queued
  case inflight
  case applied
  case rejected
  /// Another went in its stead; its outcome is that one's.
  case superseded
  /// It and its opposite met before either was sent.
  case annihilated
  /// It waits for the client's or an operator's word, and blocks what meets it.
  case parked
  /// Forced and never sent by its deadline, or its credential was refused: the same key arms it.
  case expired
  case cancelled
  case discarded

  /// Nothing more comes of it, unless its key arms it again.
  package var isFinished: Bool {
    switch self {
    case .queued, .inflight, .parked: false
    case .applied, .rejected, .superseded, .annihilated, .expired, .cancelled, .discarded: true
    }
  }

  /// Whether its optimistic fields show to its device. Those of a superseded one are its
  /// successor's to show; those of an applied one stay as long as the answer does not cover them.
  package var showsOverlay: Bool { !isFinished }
}
