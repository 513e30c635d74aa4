/// What a list of local writes does to one entity, from the state before the list to the state after it.
///
/// An entity that other operations of the list change again is still one change; one that the list
/// leaves as it was is none. Entities that a relationship's other side or a cascade changes are changes
/// too, of the operation that caused them.
///
/// Of an upstream entity it is about the local fields that one owner has of it. Before the first write these
/// have their defaults, so a change of them is always an update.
package struct LocalChange: Hashable, Sendable {
  package enum Operation: String, Hashable, Sendable, CaseIterable {
    case insert
    case update
    case delete
  }

  package let key: EntityKey
  package let operation: Operation
  /// The stored JSON of the entity before the list, of an upstream entity that of its key and its local
  /// fields; nil for an insertion.
  package let before: [UInt8]?
  /// Likewise after the list; nil for a deletion.
  package let after: [UInt8]?
  /// The scope of the entity's owner.
  package let owner: Scope
  /// The index in the list of the operation that changed the entity last.
  package let place: Int

  /// - Returns: nil if both states are the same.
  package init?(
    key: EntityKey, before: [UInt8]?, after: [UInt8]?, owner: Scope, place: Int
  ) {
    switch (before, after) {
    case (nil, nil): return nil
    case (nil, _?): operation = .insert
    case (_?, nil): operation = .delete
    case (let before?, let after?):
      guard before != after else { return nil }
      operation = .update
    }
    self.key = key
    self.before = before
    self.after = after
    self.owner = owner
    self.place = place
  }

  package var trigger: HookTrigger { .write(type: key.type, operation) }
}

/// The outcome of a mutation, as hooks report it.
package struct SettledOutcome: Sendable {
  package enum State: String, Hashable, Sendable, CaseIterable {
    case applied
    case rejected
    case parked
  }

  /// Of the mutation.
  package let id: String
  package let operation: String
  package let state: State
  /// Why it was parked or rejected, if the queue knows.
  package let reason: String?
  /// The entity that the mutation is about: outcomes of one entity are reported in order.
  package let object: EntityKey?
  /// Upstream's response if it was applied, otherwise the problem; JSON.
  package let result: [UInt8]?
  package let device: String?
  /// The verified user.
  package let user: String?

  package init(
    id: String, operation: String, state: State, reason: String? = nil, object: EntityKey? = nil,
    result: [UInt8]?, device: String?, user: String?
  ) {
    self.id = id
    self.operation = operation
    self.state = state
    self.reason = reason
    self.object = object
    self.result = result
    self.device = device
    self.user = user
  }

  package var trigger: HookTrigger { .outcome(operation: operation, state) }
}
