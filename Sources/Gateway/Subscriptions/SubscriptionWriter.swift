import Logging
import Metrics
import Model
import Storage
import Upstream

/// Writes what a subscription brings to the store, like responses to requests, and renders it.
///
/// An event has no beginning: it counts as of its arrival. A call that began before it cannot bring older
/// values back; the values of an event that was delayed upstream can replace newer ones until the next
/// event comes.
struct SubscriptionWriter: Sendable {
  let store: Store
  let calls: CallSequence
  let epoch: MutationEpoch
  let clock: WallClock
  let logger: Logger
  private let keyless = Counter(label: "larder.keyless.entities")

  init(
    store: Store, calls: CallSequence, epoch: MutationEpoch, clock: WallClock, logger: Logger
  ) {
    self.store = store
    self.calls = calls
    self.epoch = epoch
    self.clock = clock
    self.logger = logger
  }

  /// Writes events in one transaction, in their order. Those without data are not stored.
  ///
  /// What upstream reports to the service itself, and not to one caller, is news for everyone: all other
  /// copies of the entities become due.
  ///
  /// - Returns: false if an event could not be stored.
  func write(_ responses: [UpstreamResponse], of request: ReadRequest) async -> Bool {
    let kept = responses.filter { $0.data != nil && $0.permission == nil }
    guard !kept.isEmpty else { return true }
    let run = calls.beginRun(of: kept.count)
    defer { calls.end(run) }
    let isOfService = request.scope.kind == .public || request.scope.kind == .role
    let selection = request.operation.selection(for: request.variables)
    let normalised = kept.enumerated().map { index, response in
      let place = run[index]
      let outcome = Normaliser.normalise(
        response, of: request.operation, variables: request.variables, selection: selection,
        context: UpstreamCallContext(
          call: place.call, horizon: place.horizon, received: clock.now(), scope: request.scope))
      if outcome.keylessEntities > 0 { keyless.increment(by: outcome.keylessEntities) }
      var answer = outcome.answer
      answer.otherCopies = isOfService ? .all : .none
      answer.marksPublicCopies = isOfService
      return answer
    }
    let isStored = await apply(normalised, of: request)
    if normalised.contains(where: { !$0.deletions.isEmpty || !$0.invalidations.isEmpty }) {
      epoch.advance()
    }
    return isStored
  }

  /// Applies the responses together; if that fails, each by itself, so that one of them cannot keep the
  /// others out of the store.
  ///
  /// - Returns: false if one of them could not be stored.
  private func apply(
    _ responses: [NormalisedResponse], of request: ReadRequest
  ) async -> Bool {
    do throws(StorageError) {
      try await store.apply(responses)
      return true
    } catch {
      guard responses.count > 1, !error.isOfStore else {
        log(error, of: request)
        return false
      }
    }
    var isStored = true
    for response in responses {
      do throws(StorageError) {
        _ = try await store.apply(response)
      } catch {
        log(error, of: request)
        isStored = false
      }
    }
    return isStored
  }

  private func log(_ error: StorageError, of request: ReadRequest) {
    logger.error(
      "a subscription's event could not be stored",
      metadata: ["operation": "\(request.operation.name)", "cause": "\(error)"])
  }

  /// Returns the body that clients get.
  func render(_ response: UpstreamResponse, of request: ReadRequest) -> [UInt8] {
    response.data == nil
      ? UpstreamResponseRenderer.renderErrors(response)
      : UpstreamResponseRenderer.render(
        response, selection: request.operation.selection(for: request.variables))
  }

  /// Marks everything that the subscription's events show or declare as due for a refetch: events were
  /// lost.
  ///
  /// - Parameter everywhere: whether in every scope, not only in the subscription's own.
  /// - Returns: false if the store did not take it: it must be tried again.
  @discardableResult
  func markDue(_ request: ReadRequest, everywhere: Bool) async -> Bool {
    let operation = request.operation
    var targets = operation.entityTypes.map { InvalidationTarget.type($0) }
    for target in operation.affectedTargets(with: request.variables)
    where !targets.contains(target) {
      targets.append(target)
    }
    guard !targets.isEmpty else { return true }
    let number = calls.begin()
    defer { calls.end(number) }
    defer { epoch.advance() }
    do throws(StorageError) {
      _ = try await store.invalidate(
        targets, in: everywhere ? nil : request.scope, call: number,
        horizon: calls.horizon(of: number))
      return true
    } catch {
      logger.error(
        "lost events could not be noted in the store",
        metadata: ["operation": "\(operation.name)", "cause": "\(error)"])
      return false
    }
  }
}

extension StorageError {
  /// Whether it concerns the store and not one command.
  fileprivate var isOfStore: Bool {
    if case .failed = self { false } else { true }
  }
}
