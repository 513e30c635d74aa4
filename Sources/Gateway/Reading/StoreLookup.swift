import Logging
import Model
import Storage
import Upstream

/// Answers queries that look up one entity from the store while upstream is unavailable
/// (`@cache(lookup:)`).
///
/// Everything that the query selects must be known, from responses in the scope that its own response
/// would have: data of wider scopes can differ from what upstream returns to the caller. An entity that is
/// deleted in the caller's view answers nothing.
struct StoreLookup: Sendable {
  let store: ReadSession
  let clock: WallClock
  let logger: Logger

  /// Returns the response to a request; nil if the store does not have all of it, or something of it is
  /// older than the operation's policy permits.
  ///
  /// - Parameter device: the device whose overlays are applied; nil for none.
  func response(
    to request: ReadRequest, overlaidBy device: String? = nil
  ) async -> RenderedResponse? {
    guard let lookup = request.operation.lookup(with: request.variables) else { return nil }
    let selection = request.operation.selection(for: request.variables)
    let layers = (device.map { [Scope.ownData(ofDevice: $0)] } ?? []) + [request.scope]
    do throws(StorageError) {
      let known = try await store.entity(lookup.key, viewer: request.caller.viewer)
      guard known?.isDeleted != true, known?.isKept != true else { return nil }
      let snapshot = try await store.result(
        of: request.key, root: lookup.root, selection: selection, viewer: Viewer(layers: layers))
      guard snapshot.entities[lookup.key]?.isDeleted == false else { return nil }
      return render(snapshot, selection, request, device: device)
    } catch {
      logger.error(
        "an entity could not be looked up",
        metadata: ["operation": "\(request.operation.name)", "cause": "\(error)"])
      return nil
    }
  }

  private func render(
    _ snapshot: ResultSnapshot, _ selection: FieldSelection, _ request: ReadRequest,
    device: String?
  ) -> RenderedResponse? {
    let age = snapshot.received.distance(to: clock.now())
    guard Freshness(age: age, policy: request.policy, isDue: true) != .expired else { return nil }
    let result = ResultRenderer.render(
      snapshot, selection: selection, onError: .partial, showsPending: device != nil)
    guard result.isComplete else { return nil }
    var policy = request.policy
    // No cache on the way may reuse it: the next response may be upstream's.
    policy.maxAge = .zero
    let rendered = RenderedResponse(
      key: request.key, body: result.body, received: snapshot.received, policy: policy,
      dependencies: RenderedResponse.Dependencies(
        request.operation, entities: Array(snapshot.entities.keys), device: device),
      hasErrors: false)
    // It serves this request alone.
    rendered.expire()
    return rendered
  }
}
