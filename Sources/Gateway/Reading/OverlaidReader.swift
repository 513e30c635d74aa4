import Logging
package import Model
import Storage
import Synchronization
import Upstream

/// Renders results as one device sees them: with the device's overlays applied to the result that
/// its scope shares.
///
/// An overlay changes the content of entities, never which of them upstream's response names. So an
/// entity that exists only on the device is in no operation's list, unless an overlay refers to it;
/// an entity that is to be deleted is removed from every list.
struct OverlaidReader: Sendable {
  let store: ReadSession
  let cache: RenderedCache
  let overlaid: OverlaidEntities
  let logger: Logger

  /// Returns the entities that the caller's device has overlays for; nil for most callers. Must be
  /// called before the shared response is read: an overlay that is removed in between is removed
  /// together with the write that replaces it, and the store then returns that write.
  func entities(for caller: Caller) -> Set<EntityKey>? {
    caller.device.flatMap { overlaid.entities(of: $0.id) }
  }

  /// Returns a number that changes whenever the overlays of the caller's device change.
  func version(for caller: Caller) -> UInt64 {
    caller.device.map { overlaid.version(of: $0.id) } ?? 0
  }

  /// Returns the response with the overlays of the caller's device, or the shared one if none of
  /// them applies to it.
  ///
  /// - Parameter entities: the entities with overlays, determined before the response was read.
  func applyOverlays(
    of entities: Set<EntityKey>, to shared: RenderedResponse, request: ReadRequest
  ) async -> RenderedResponse {
    guard let device = request.caller.device?.id,
      entities.contains(where: { shared.dependencies.types.contains($0.type) })
    else { return shared }
    do {
      if let response = shared.unkept {
        return try await passing(response, entities, over: shared, request, device: device)
      }
      guard shared.dependencies.entities.contains(where: entities.contains) else { return shared }
      let key = request.key(overlaidBy: device)
      if let known = cache.response(for: key), known.basis == shared.tag { return known }
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
      let (response, hasGaps) = render(snapshot, selection, over: shared, request, device: device)
    else {
      cache.release(ticket)
      return shared
    }
    // An entity that an overlay refers to and that is not stored can arrive without touching
    // anything in this response.
    if shared.isCurrent, !response.hasErrors, !hasGaps {
      cache.remember(response, ticket: ticket)
    } else {
      cache.release(ticket)
      response.expire()
    }
    return response
  }

  private func passing(
    _ response: UpstreamResponse, _ entities: Set<EntityKey>, over shared: RenderedResponse,
    _ request: ReadRequest, device: String
  ) async throws(StorageError) -> RenderedResponse {
    let selection = request.operation.selection(for: request.variables)
    let normalised = Normaliser.normalise(
      response, of: request.operation, variables: request.variables, selection: selection,
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
    _ snapshot: ResultSnapshot, _ selection: FieldSelection, over shared: RenderedResponse,
    _ request: ReadRequest, device: String
  ) -> (response: RenderedResponse, hasGaps: Bool)? {
    let result = ResultRenderer.render(
      snapshot, selection: selection,
      onError: shared.unkept == nil ? request.policy.onError : .partial, showsPending: true)
    guard result.isComplete else { return nil }
    var policy = request.policy
    // The queue's next step can revoke it: no cache on the way may reuse it without revalidation.
    policy.maxAge = .zero
    let body =
      shared.presentErrors.map { RenderedResponse.body(result.body, showing: $0) } ?? result.body
    let response = RenderedResponse(
      key: request.key(overlaidBy: device), body: body, received: shared.received,
      policy: policy,
      dependencies: RenderedResponse.Dependencies(
        request.operation, entities: Array(snapshot.entities.keys), device: device),
      hasErrors: snapshot.errors != nil || shared.presentErrors != nil, basis: shared.tag,
      basisKey: shared.key, unkept: nil)
    return (response, result.pendingGaps > 0)
  }
}

extension ReadRequest {
  /// The view of all callers who share the result.
  var sharedViewer: Viewer { caller.viewer(of: scope) }

  /// Returns the shared view with a device's overlays.
  func viewer(overlaidBy device: String) -> Viewer {
    Viewer(layers: [.ownData(ofDevice: device)] + sharedViewer.layers)
  }

  /// The views that a list the caller received earlier can be from.
  var possibleViewers: [Viewer] {
    (caller.device.map { [viewer(overlaidBy: $0.id)] } ?? []) + [sharedViewer]
  }

  /// Returns the key of the device's own view of the result. No stored result has a device's scope.
  func key(overlaidBy device: String) -> ResultKey {
    let shared = "\(scope.kind.rawValue) \(scope.subject.utf8.count):\(scope.subject)"
    return ResultKey(
      operation: operation.name, variables: variables.canonical,
      scope: .device(device, partition: shared + scope.partition))
  }
}

/// The entities that have overlays, by device.
///
/// It is kept in memory so that other callers' reads need no query: a device without overlays costs
/// one look-up, a caller without a device nothing. Each commit is noted before its writer resumes,
/// so a device whose change was acknowledged finds it here.
package final class OverlaidEntities: Sendable {
  private struct State {
    var devices: [String: Set<EntityKey>] = [:]
    /// Those with changes that are in the inbox of a cluster and not in the store yet.
    var provisional: [String: Set<EntityKey>] = [:]
    /// Counts of overlay changes (added, removed, replaced), in slots that devices share. A device
    /// that shares its slot looks once too often, never too seldom, and the size does not grow with
    /// the number of devices.
    var versions = [UInt64](repeating: 0, count: slotsMax)
  }

  private static let slotsMax = 4_096

  private let state = Mutex(State())
  private let isUsed = Atomic(false)

  /// - Parameter overlays: the overlays in the store.
  package init(_ overlays: [CommitReport.Overlay] = []) {
    note(overlays)
  }

  /// Notes a commit.
  package func note(_ report: CommitReport) {
    guard isUsed.load(ordering: .relaxed) || !report.overlays.isEmpty else { return }
    note(report.overlays)
    noteChanges(report.changes)
  }

  /// Returns the entities that the device has overlays for; nil if there are none.
  func entities(of device: String) -> Set<EntityKey>? {
    guard isUsed.load(ordering: .acquiring) else { return nil }
    return state.withLock { state in
      guard let provisional = state.provisional[device] else { return state.devices[device] }
      return provisional.union(state.devices[device] ?? [])
    }
  }

  /// Sets the entities that a device's submissions in the inbox of a cluster change.
  func setProvisional(_ keys: Set<EntityKey>, of device: String) {
    state.withLock { state in
      state.provisional[device] = keys.isEmpty ? nil : keys
      state.versions[Self.slot(of: device)] &+= 1
    }
    isUsed.store(true, ordering: .releasing)
  }

  /// Returns a number that changes whenever an overlay of the device is added, removed or replaced.
  func version(of device: String) -> UInt64 {
    guard isUsed.load(ordering: .acquiring) else { return 0 }
    return state.withLock { $0.versions[Self.slot(of: device)] }
  }

  private func note(_ overlays: [CommitReport.Overlay]) {
    guard !overlays.isEmpty else { return }
    state.withLock { state in
      for overlay in overlays {
        state.versions[Self.slot(of: overlay.device)] &+= 1
        if overlay.isLaid {
          state.devices[overlay.device, default: []].insert(overlay.key)
        } else {
          state.devices[overlay.device]?.remove(overlay.key)
          if state.devices[overlay.device]?.isEmpty == true { state.devices[overlay.device] = nil }
        }
      }
    }
    isUsed.store(true, ordering: .releasing)
  }

  /// Notes further changes of entities that already have overlays.
  private func noteChanges(_ changes: [CommitReport.Change]) {
    guard changes.contains(where: { $0.scope.kind == .device }) else { return }
    state.withLock { state in
      for change in changes where change.scope.kind == .device {
        guard state.devices[change.scope.subject]?.contains(change.key) == true else { continue }
        state.versions[Self.slot(of: change.scope.subject)] &+= 1
      }
    }
  }

  private static func slot(of device: String) -> Int {
    Int(UInt(bitPattern: device.hashValue) % UInt(slotsMax))
  }
}
