import Filtering
import LosslessJSON
package import Model
package import Storage
package import Upstream

/// An operator's corrections of upstream data: a wrong value is fixed, a deleted entity is removed,
/// until upstream returns something else.
///
/// For the order rule a correction is the response of a call that begins and ends now: calls in
/// flight cannot undo it, later ones can. It is written to the scope of upstream's public responses;
/// data that upstream returned to single users is unchanged. Nothing is sent upstream.
package struct CorrectionService: Sendable {
  private let catalogue: EntityCatalogue
  private let store: Store
  private let entities: EntityRenderer
  private let calls: CallSequence
  private let epoch: MutationEpoch
  private let clock: WallClock
  private let deadline: QueryDeadline
  private let origins: [String: UpstreamName]
  private let reach: FilterReach

  /// - Parameter origins: the upstream of each type, if there are several; of a type that several
  ///   share, one of them.
  package init(
    catalogue: EntityCatalogue, store: Store, entities: EntityRenderer, calls: CallSequence,
    epoch: MutationEpoch, clock: WallClock, deadline: QueryDeadline,
    origins: [String: UpstreamName] = [:], reach: FilterReach = .none
  ) {
    self.reach = reach
    self.origins = origins
    self.catalogue = catalogue
    self.store = store
    self.entities = entities
    self.calls = calls
    self.epoch = epoch
    self.clock = clock
    self.deadline = deadline
  }

  /// Returns whether there is an upstream type of that name.
  func knows(_ type: String) -> Bool { catalogue.type(named: type) != nil }

  /// Performs all corrections or none, see ``EntityWrites/write(_:misread:by:key:)``.
  func write(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail], by caller: Caller,
    key: EntityWriteKey?
  ) async throws(Failure) -> EntityWriteAnswer {
    let corrections = try corrections(requests, misread: misread, by: caller)
    let scope = try scope(of: requests, by: caller)
    let number = calls.begin()
    defer { calls.end(number) }
    let result: Result<WriteCommit, WriteRefusal>
    do throws(StorageError) {
      result = try await store.correct(
        corrections, in: scope, call: number,
        horizon: calls.horizon(of: number), now: clock.now(), deadline: deadline,
        key: key?.stored(for: .role(.admin), entities))
    } catch {
      throw Failure(writing: error, deadline: deadline)
    }
    let isReplay = (try? result.get())?.replay != nil
    if !isReplay { epoch.advance() }
    return EntityWriteAnswer(outcomes: try entities.outcomes(result), isReplay: isReplay)
  }

  private func corrections(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail], by caller: Caller
  ) throws(Failure) -> [EntityCorrection] {
    var reader = CorrectionReader(catalogue: catalogue)
    var refusal = ListRefusal(misread: misread)
    var corrections: [EntityCorrection] = []
    var seen: Set<EntityKey> = []
    for request in requests {
      guard let type = catalogue.type(named: request.type) else {
        throw Failure(.notFound, "There is no entity type \(request.type).")
      }
      try Self.admit(caller, to: type)
      let read: EntityCorrection?
      do throws(Failure) {
        read = try correction(request, type, &reader, caller)
      } catch {
        try refusal.note(error)
        continue
      }
      guard let correction = read else { continue }
      switch correction.target {
      case .key(let key):
        if !seen.insert(EntityKey(type: type.name, key: key)).inserted {
          reader.note("is written twice in this list", at: request.pointer)
        }
      case .filter where requests.count > 1:
        reader.note(
          "a filter on an upstream type must be sent as a separate request", at: request.pointer)
      case .filter: break
      }
      corrections.append(correction)
    }
    try refusal.check(with: reader.faults)
    return corrections
  }

  /// Returns the scope of the public responses of the types' upstream.
  private func scope(
    of requests: [EntityWriteRequest], by caller: Caller
  ) throws(Failure) -> Scope {
    let upstreams = Set(requests.compactMap { origins[$0.type] }).sorted()
    let scopes = Set(upstreams.map { caller.seen(by: $0).scope(sharing: .public) })
    guard scopes.count < 2 else {
      throw Failure(
        .malformedRequest,
        "Types of the upstreams \(upstreams.map(\.text).joined(separator: " and ")) must be written in "
          + "separate requests: callers see their data by different header fields.")
    }
    return scopes.first ?? caller.scope(sharing: .public)
  }

  private static func admit(_ caller: Caller, to type: EntityType) throws(Failure) {
    guard !caller.isAdmin else { return }
    let isKnown = caller.hasToken || caller.subject != nil || caller.device != nil
    let message = "\(type.name) is an upstream type: writing it requires the admin token."
    throw Failure(isKnown ? .forbidden : .unauthenticated, message)
  }

  private func correction(
    _ request: EntityWriteRequest, _ type: EntityType, _ reader: inout CorrectionReader,
    _ caller: Caller
  ) throws(Failure) -> EntityCorrection? {
    guard request.action != .replace else {
      reader.note(
        "\(type.name) is an upstream type, whose entities are not replaced: use update or "
          + "updateOrInsert", at: "\(request.origin)/op")
      return nil
    }
    var fields: [EntityCorrection.Field] = []
    if request.action != .delete {
      fields = reader.fields(request.body, of: type, at: request.pointer)
    }
    let target: WriteTarget
    switch request.target {
    case .one(let id):
      let key = reader.key(
        id, of: type, action: request.action, fields: &fields, at: request.pointer)
      guard let key else { return nil }
      target = .key(key)
    case .many(let parameters):
      target = .filter(
        try request.filter(
          parameters, type: type, reach: reach, now: clock.now(), caller: caller))
      for name in type.keyFields where fields.contains(where: { $0.name == name }) {
        reader.note(
          "names one entity, but the filter selects many",
          at: request.pointer.appending(pointerMember: name))
      }
    }
    return EntityCorrection(
      request.action, type, target, fields: fields,
      precondition: request.precondition(entities), pointer: request.pointer)
  }
}
