import Logging
import Model
import Storage
import Upstream

/// Answers as one device sees them: what its queue is expected to do lies over what all of a scope
/// share.
///
/// An overlay changes what entities show, never which of them upstream's answer names. So an entity
/// that exists on the device alone stands in no operation's list, unless an overlay refers to it;
/// one that is to be deleted leaves every list.
struct OverlaidReader: Sendable {
  let store: ReadSession
  let cache: RenderedCache
  let overlaid: OverlaidEntities
  let logger: Logger

  /// What lies under the caller's overlays; nil for nearly everybody. To be asked before the shared
  /// answer is read: an overlay that goes meanwhile goes with the write that it gives way to, and
  /// what is then read from the store has that.
  func entities(for caller: Caller) -> Set<EntityKey>? {
    caller.device.flatMap { overlaid.entities(of: $0.id) }
  }

  /// Another number once what the caller's device has laid over entities is another.
  func version(for caller: Caller) -> UInt64 {
    caller.device.map { overlaid.version(of: $0.id) } ?? 0
  }

  /// The answer with the overlays of the caller's device, if any of them is over something in it.
  ///
  /// - Parameter entities: what lay under them before the answer was read.
  func lay(
    _ entities: Set<EntityKey>, over shared: RenderedResponse, request: ReadRequest
  ) async -> RenderedResponse {
    guard let device = request.caller.device?.id,
      entities.contains(where: { shared.dependencies.types.contains($0.type) })
    else { return shared }
    do {
      if let answer = shared.unkept {
        return try await passing(answer, entities, over: shared, request, device: device)
      }
      guard shared.dependencies.entities.contains(where: entities.contains) else { return shared }
      let key = request.key(overlaidBy: device)
      if let known = cache.answer(for: key), known.basis == shared.tag { return known }
      return try await stored(over: shared, request, device: device)
    } catch {
      logger.error(
        "overlays could not be read",
        metadata: ["operation": "\(request.operation.name)", "cause": "\(error)"])
      return shared
    }
  }

  private func stored(
    over shared: RenderedResponse, _ request: ReadRequest, device: String
  ) async throws(StorageError) -> RenderedResponse {
    let ticket = cache.ticket()
    let selection = request.operation.selection(for: request.variables)
    let snapshot: ResultSnapshot?
    do throws(StorageError) {
      snapshot = try await store.result(
        request.key, selection: selection, viewer: request.viewer(overlaidBy: device))
    } catch {
      cache.release(ticket)
      throw error
    }
    guard let snapshot,
      let (answer, hasGaps) = render(snapshot, selection, over: shared, request, device: device)
    else {
      cache.release(ticket)
      return shared
    }
    // What an overlay leads to and is not stored may come without touching what is here.
    if shared.isCurrent, !answer.hasErrors, !hasGaps {
      cache.remember(answer, ticket: ticket)
    } else {
      cache.release(ticket)
      answer.expire()
    }
    return answer
  }

  private func passing(
    _ answer: UpstreamResponse, _ entities: Set<EntityKey>, over shared: RenderedResponse,
    _ request: ReadRequest, device: String
  ) async throws(StorageError) -> RenderedResponse {
    let selection = request.operation.selection(for: request.variables)
    let normalised = Normaliser.normalise(
      answer, of: request.operation, variables: request.variables, selection: selection,
      context: UpstreamCallContext(
        call: CallNumber(0), horizon: CallNumber(0), received: shared.received,
        scope: request.scope)
    ).answer
    guard normalised.entities.contains(where: { entities.contains($0.key) }),
      let snapshot = try await store.result(
        passing: normalised, selection: selection, viewer: request.viewer(overlaidBy: device)),
      let (overlaid, _) = render(snapshot, selection, over: shared, request, device: device)
    else { return shared }
    overlaid.expire()
    return overlaid
  }

  private func render(
    _ snapshot: ResultSnapshot, _ selection: Selection, over shared: RenderedResponse,
    _ request: ReadRequest, device: String
  ) -> (answer: RenderedResponse, hasGaps: Bool)? {
    let result = ResultRenderer.render(
      snapshot, selection: selection,
      onError: shared.unkept == nil ? request.policy.onError : .partial, showsPending: true)
    guard result.isComplete else { return nil }
    var policy = request.policy
    // A queue's next step takes it back: no cache on the way may give it again unasked.
    policy.maxAge = .zero
    let body =
      shared.presentErrors.map { RenderedResponse.body(result.body, showing: $0) } ?? result.body
    let answer = RenderedResponse(
      key: request.key(overlaidBy: device), body: body, received: shared.received,
      policy: policy,
      dependencies: RenderedResponse.Dependencies(
        request.operation, entities: Array(snapshot.entities.keys), device: device),
      hasErrors: snapshot.errors != nil || shared.presentErrors != nil, basis: shared.tag,
      basisKey: shared.key, unkept: nil)
    return (answer, result.pendingGaps > 0)
  }
}

extension ReadRequest {
  /// What all see who share the result.
  var sharedViewer: Viewer { caller.viewer(of: scope) }

  /// That, under what a device's queue is expected to do.
  func viewer(overlaidBy device: String) -> Viewer {
    Viewer(layers: [.ownData(ofDevice: device)] + sharedViewer.layers)
  }

  /// Those that a list the caller was given may have been of.
  var sights: [Viewer] {
    (caller.device.map { [viewer(overlaidBy: $0.id)] } ?? []) + [sharedViewer]
  }

  /// Of what the device alone sees of the result. No stored result has a device's scope.
  func key(overlaidBy device: String) -> ResultKey {
    let shared = "\(scope.kind.rawValue) \(scope.subject.utf8.count):\(scope.subject)"
    return ResultKey(
      operation: operation.name, variables: variables.canonical,
      scope: .device(device, partition: shared + scope.partition))
  }
}
