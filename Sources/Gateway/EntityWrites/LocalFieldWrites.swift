import Filtering
import LosslessJSON
import Model

/// Checks writes to the local fields of upstream's types. Their owner writes them to entities that it sees,
/// one or all that match a filter, with a body that names no field of upstream's: these are corrected by the
/// operator.
struct LocalFieldWrites {
  let schema: LocalSchema
  let entities: EntityRenderer
  let reach: FilterReach
  /// The value of `now()`.
  let now: Timestamp

  /// Returns the write; nil if it has faults, which the reader has noted.
  ///
  /// - Throws: what is wrong with the filter, or why the caller cannot write local fields of the type.
  func operation(
    _ request: EntityWriteRequest, _ reader: inout LocalValueReader, _ caller: Caller
  ) throws(Failure) -> LocalOperation? {
    guard let parts = schema.extensions[request.type], let type = schema.allFields(of: request.type)
    else { throw Failure(.notFound, "There is no local type \(request.type).") }
    let named = Set((request.body.members ?? []).map(\.name))
    for part in parts where part.fields.contains(where: { named.contains($0.name) }) {
      try Self.admit(caller, to: part, of: request.type)
    }
    let before = reader.faults.count
    let body = checked(request, type, &reader)
    guard
      request.action == .update || request.action == .updateOrInsert
        || request.action == .insertOrUpdate
    else {
      reader.note(
        "\(request.type) is an upstream type: its local fields are written with update",
        at: request.origin.isEmpty ? "" : "\(request.origin)/op")
      return nil
    }
    try reach.admit(caller, to: [request.type])
    let target: WriteTarget
    let filtered = entities.type(named: request.type)
    switch request.target {
    case .one(let id?) where LocalValueReader.id(.string(id)) != nil:
      target = .key(id)
    case .one:
      reader.note(
        "local fields of \(request.type) are written to entities that exist: name one by its id, as in "
          + "PATCH /v1/entities/\(request.type)/{id}, or several with filter or all",
        at: request.pointer)
      return nil
    case .many(let parameters):
      guard let filtered else {
        throw Failure(.notFound, "There is no entity type \(request.type).")
      }
      target = .filter(
        try request.filter(
          parameters, type: filtered, reach: reach, now: now, caller: caller))
    }
    guard reader.faults.count == before else { return nil }
    return LocalOperation(
      .update, type, target, filtered: filtered, body: body,
      precondition: request.precondition(entities), pointer: request.pointer)
  }

  /// Reads the body, and names every field that is not a local one. The key may be repeated.
  private func checked(
    _ request: EntityWriteRequest, _ type: LocalType, _ reader: inout LocalValueReader
  ) -> LocalBody {
    let keyFields = entities.keyFields(of: request.type)
    let members = (request.body.members ?? []).filter { !keyFields.contains($0.name) }
    checkKey(request, keyFields, &reader)
    let readable = members.filter { type.field($0.name) != nil || isReadOnly($0.name) }
    for member in members where type.field(member.name) == nil && !isReadOnly(member.name) {
      reader.note(
        "is not a local field of \(request.type): a body with local fields has no others, which only "
          + "upstream and the operator write",
        at: request.pointer.appending(pointerMember: member.name))
    }
    return LocalBody(
      .object(readable), type: type, isPatch: true, reader: &reader, pointer: request.pointer)
  }

  /// Compares the key in the body, if there is one, with that of the path.
  private func checkKey(
    _ request: EntityWriteRequest, _ keyFields: [String], _ reader: inout LocalValueReader
  ) {
    let given = (request.body.members ?? []).filter { keyFields.contains($0.name) }
    guard let first = given.first else { return }
    let place = request.pointer.appending(pointerMember: first.name)
    guard case .one(let target) = request.target else {
      return reader.note("names one entity, but the filter selects many", at: place)
    }
    // Without a key in the path the write is refused anyway.
    guard let id = target else { return }
    let texts = keyFields.compactMap { name in
      given.first { $0.name == name }.flatMap { $0.value.string ?? $0.value.number?.digits }
    }
    if given.count < keyFields.count {
      reader.note("the key has several fields: give all of them or none", at: place)
    } else if texts.count < keyFields.count
      || EntityKey(type: request.type, fields: texts).key != id
    {
      reader.note("is not the id in the path", at: place)
    }
  }

  private func isReadOnly(_ member: String) -> Bool { member.hasPrefix("_") }

  private static func admit(
    _ caller: Caller, to part: LocalType, of type: String
  ) throws(Failure) {
    let names = part.fields.map(\.name).joined(separator: ", ")
    switch part.scope {
    case .device where caller.device == nil:
      throw Failure(
        .unauthenticated,
        "Local fields of \(type) belong to a device (\(names)): send its token in Device-Token.")
    case .user where caller.user == nil:
      throw Failure(
        .signInRequired, "Local fields of \(type) belong to a user (\(names)): sign in.")
    case .device, .user, .public, .role, .claim: return
    }
  }
}
