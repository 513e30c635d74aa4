import Model
import Storage
import Upstream

/// What a mutation is about: its object, what it does to it, and all else that it touches.
struct MutationTarget {
  let object: EntityKey?
  let effect: MutationEffect
  let references: [EntityKey]
  let mentions: Set<TemporaryID>
  let creates: [TemporaryEntity]

  /// - Parameters:
  ///   - named: what the client says; it wins over the operation's `@sync`.
  ///   - mentions: the temporary ids among the variables.
  init(
    _ operation: RegisteredOperation, variables: Variables, named: EntityKey?,
    references: [EntityKey], overlays: [OverlayChange], mentions: Set<TemporaryID>
  ) {
    func entity(_ target: EffectTarget) -> EntityKey? {
      guard case .entity(let key) = operation.resolve(target, with: variables) else { return nil }
      return key
    }
    let created = overlays.filter { $0.action == .create }.map(\.key)
    let object = named ?? operation.sync?.object.flatMap(entity) ?? created.first
    // Nothing that a mutation is told of by its variables is made by it.
    var made = created
    if let object, !made.contains(object) { made.insert(object, at: 0) }
    creates = made.compactMap { key in
      guard let id = TemporaryID(key.key), !mentions.contains(id) else { return nil }
      return TemporaryEntity(id: id, type: key.type)
    }
    let deleted = operation.effects.deletes.compactMap(entity)
    let expectedToGo = overlays.filter { $0.action == .delete }.map(\.key)
    if let object, (deleted + expectedToGo).contains(object) {
      effect = .delete
    } else if !creates.isEmpty {
      effect = .create
    } else {
      effect = .update
    }
    self.object = object
    self.references =
      references + (operation.sync?.references.compactMap(entity) ?? [])
    self.mentions = mentions
  }
}
