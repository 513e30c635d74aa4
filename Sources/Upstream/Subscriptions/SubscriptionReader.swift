import LosslessJSON
import Model
import Synchronization

/// Reads the payloads of one subscription, and checks them like responses.
final class SubscriptionReader: Sendable {
  private struct State {
    /// Follows the event that was returned last.
    var pending: SubscriptionEvent?
    var hasNext = false
    var unusable = 0
  }

  private let buffer: SubscriptionBuffer
  private let selection: FieldSelection
  private let reader: UpstreamResponseReader
  private let unusableMax: Int
  private let meters: SubscriptionMeters
  private let state = Mutex(State())

  init(
    _ buffer: SubscriptionBuffer, selection: FieldSelection, reader: UpstreamResponseReader,
    unusableMax: Int, meters: SubscriptionMeters
  ) {
    self.buffer = buffer
    self.selection = selection
    self.reader = reader
    self.unusableMax = unusableMax
    self.meters = meters
  }

  func next() async -> SubscriptionEvent? {
    if let pending = state.withLock({ $0.pending.take() }) { return pending }
    switch await buffer.next() {
    case nil: return nil
    case .established(let afterGap): return .established(afterGap: afterGap)
    case .interrupted(let failure): return .interrupted(failure)
    case .complete: return .complete
    case .failed(let failure): return .failed(failure)
    case .next(let payload): return read(payload)
    }
  }

  private func read(_ payload: SubscriptionPayload) -> SubscriptionEvent {
    do throws(UpstreamFailure) {
      let response = try reader.read(payload: payload.range, of: payload.message)
        .checked(against: selection)
      let isFirst = state.withLock { state in
        defer { state.hasNext = true }
        state.unusable = 0
        return !state.hasNext
      }
      // Some servers report like this what `error` is for: the subscription was never executed.
      if isFirst, response.kind == .requestError { return fail(response.rejection) }
      return .next(response)
    } catch {
      return lose(error)
    }
  }

  /// An event that cannot be used is a lost one.
  private func lose(_ failure: UpstreamFailure) -> SubscriptionEvent {
    let isLast = state.withLock { state in
      state.unusable += 1
      if state.unusable >= unusableMax { return true }
      state.pending = .established(afterGap: true)
      return false
    }
    if isLast { return fail(failure) }
    meters.noteGap()
    return .interrupted(failure)
  }

  private func fail(_ failure: UpstreamFailure) -> SubscriptionEvent {
    if case .refused(.unauthenticated) = failure { meters.noteRefusal() }
    buffer.end()
    return .failed(failure)
  }
}

extension UpstreamResponse {
  /// The failure of a subscription that upstream answered with errors.
  var rejection: UpstreamFailure {
    if let permission { return .refused(permission) }
    let message = errors.flatMap {
      Array($0.elements).lazy.compactMap { $0["message"]?.string }.first
    }
    guard let message else { return .rejected(reason: "upstream gave no reason") }
    return .rejected(reason: String(message.prefix(SubscriptionFault.messageCharactersMax)))
  }
}
