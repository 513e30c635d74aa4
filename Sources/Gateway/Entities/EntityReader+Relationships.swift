import Filtering
package import Model

/// Relationships of entities: those of upstream's and local types, and those that settings define.
extension EntityReader {
  /// Returns a relationship's target: the entity itself, or a collection of the members in stored
  /// order. For members of a union or an interface, filter and order can use the columns that all its
  /// types have.
  package func relationship(
    _ field: String, of key: EntityKey, parameters: [CollectionRequest.Parameter],
    wantsTotal: Bool = false, caller: Caller
  ) async throws(Failure) -> Response {
    switch try await target(of: field, key, caller).target {
    case .one(let other):
      return try await entity(other, parameters: parameters, caller: caller)
    case .many(let members):
      return response(
        try await list(of: members, parameters: parameters, wantsTotal: wantsTotal, caller: caller),
        to: caller)
    }
  }

  /// Returns the page of ``relationship(_:of:parameters:wantsTotal:caller:)`` for a to-many
  /// relationship as documents.
  func list(
    ofRelationship field: String, of key: EntityKey, parameters: [CollectionRequest.Parameter],
    caller: Caller
  ) async throws(Failure) -> EntityList {
    guard case .many(let members) = try await target(of: field, key, caller).target else {
      throw Failure(
        .malformedRequest, "\(field) of \(key.type) is a to-one relationship and has no list.")
    }
    return try await list(of: members, parameters: parameters, caller: caller)
  }

  enum Target {
    case one(EntityKey)
    case many(Members)
  }

  struct Members {
    /// Nil if the declared type is unknown: there are no members.
    let subject: CollectionRequest.Subject?
    let keys: [EntityKey]
    /// What the members have in common if no list names them.
    var condition: FilterCondition?
  }

  /// Returns a relationship's target, and whether temporary ids of the caller's device are among its
  /// stored references.
  func target(
    of field: String, _ key: EntityKey, _ caller: Caller
  ) async throws(Failure) -> (target: Target, isResolved: Bool) {
    try admit(caller, to: key.type)
    _ = try directory.type(named: key.type)
    if let link = directory.link(field, of: key.type) {
      return (.many(try await members(of: link, key, caller)), false)
    }
    guard let shape = directory.relationship(field, of: key.type),
      case .object(let declared, _, _) = shape.value
    else { throw Failure(.notFound, "\(key.type) has no relationship \(field).") }
    let (key, record) = try await record(key, caller)
    guard let stored = try renderer.references(field, of: record, key)
    else { throw Failure(.notFound, "\(field) of \(key) has not been fetched by any operation.") }
    let temporary = Set(stored.compactMap { TemporaryID($0.key) })
    let known = try await self.known(temporary, to: caller)
    let references = stored.map { key in TemporaryID(key.key).flatMap { known[$0] } ?? key }
    if shape.isToMany != true {
      guard let other = references.first else {
        throw Failure(.notFound, "\(field) of \(key) is null.")
      }
      return (.one(other), !temporary.isEmpty)
    }
    let owner = "\(key.type.utf8.count):\(key.type)\(key.key)/\(field)"
    let members = Members(
      subject: directory.subject(declared: declared, members: references, owner: owner),
      keys: references)
    return (.many(members), !temporary.isEmpty)
  }

  /// Returns the members of a relationship that settings define: all stored entities that the caller
  /// sees and that name the owner's key.
  private func members(
    of link: EntityLink, _ key: EntityKey, _ caller: Caller
  ) async throws(Failure) -> Members {
    let type = try directory.type(named: link.type)
    let (key, _) = try await record(key, caller)
    let isInteger = type.columns.contains { $0.name == link.field && $0.kind == .integer }
    let value: FilterValue
    if isInteger {
      // A key that is no number is the key of no member.
      guard let number = Int64(key.key) else { return Members(subject: nil, keys: []) }
      value = .integer(number)
    } else {
      value = .text(key.key)
    }
    let owner = "\(key.type.utf8.count):\(key.type)\(key.key)/\(link.name)"
    return Members(
      subject: CollectionRequest.Subject(type, owner: owner), keys: [],
      condition: .comparison(column: .field(EntityPath(field: link.field)), .equal, value))
  }

  private func list(
    of members: Members, parameters: [CollectionRequest.Parameter], wantsTotal: Bool = false,
    caller: Caller
  ) async throws(Failure) -> EntityList {
    guard let subject = members.subject else { return EntityList(documents: [], total: 0) }
    for type in subject.shown { try admit(caller, to: type) }
    let reading = try read(parameters, of: subject, members)
    guard members.condition == nil else {
      return try await list(reading, wantsTotal: wantsTotal, caller)
    }
    return try await list(
      reading, mixed: subject.members == nil ? .members(members.keys) : nil,
      wantsTotal: wantsTotal, caller)
  }

  /// Reads a request for members of a relationship; if no list names them, by what they have in
  /// common.
  func read(
    _ parameters: [CollectionRequest.Parameter], of subject: CollectionRequest.Subject,
    _ members: Members
  ) throws(Failure) -> CollectionRequest.Reading {
    var reading = try CollectionRequest.read(
      parameters, of: subject, directory: directory, tokens: tokens, now: clock.now())
    if let condition = members.condition {
      let own = reading.query.filter?.condition
      reading.query.filter = Filter(
        condition: own.map { .and(condition, $0) } ?? condition,
        namesNow: reading.query.filter?.namesNow ?? false)
    }
    return reading
  }
}
