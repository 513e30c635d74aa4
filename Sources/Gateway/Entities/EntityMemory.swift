import LosslessJSON
import Model
import Synchronization
import Upstream

/// Entities that were shown before, parsed, with the documents that were rendered from them.
///
/// A document follows from the entity's stored texts, the form and what is nested in it alone, and all of these
/// are compared before a known one is shown. So nothing needs to be forgotten when something changes, and every
/// viewer gets what would be rendered for it; what is saved is to parse, write and hash the same texts again.
///
/// Bounded in bytes, in two generations: those that were not used while the younger one filled are forgotten.
/// Synchronisation: the mutex guards the generations.
final class EntityMemory: Sendable {
  /// The default limit: about 10,000 entities of a few hundred bytes.
  static let defaultBytesMax = 16 << 20

  /// An entity, and the size of its texts: viewers with different texts have different places, mostly.
  private struct Place: Hashable {
    let key: EntityKey
    let layerCount: Int
    let byteCount: Int
  }

  private struct State {
    var recent: [Place: EntityRenderer.StoredEntity] = [:]
    var former: [Place: EntityRenderer.StoredEntity] = [:]
    /// The approximate size of the recent generation.
    var byteCount = 0
  }

  private let byteLimit: Int
  private let state = Mutex(State())

  init(byteLimit: Int = defaultBytesMax) {
    self.byteLimit = byteLimit
  }

  /// Returns an entity, made by `make` unless it is known with the same texts; nil if `make` returns none.
  func entity(
    _ key: EntityKey, _ layers: [[UInt8]],
    _ make: () throws(Failure) -> EntityRenderer.StoredEntity?
  ) throws(Failure) -> EntityRenderer.StoredEntity? {
    let place = Place(
      key: key, layerCount: layers.count, byteCount: layers.reduce(0) { $0 + $1.count })
    if let known = known(place), known.layers.count == layers.count,
      zip(known.layers, layers).allSatisfy({ $0.bytes == $1 })
    {
      return known
    }
    guard var entity = try make() else { return nil }
    entity.rendered = RenderedForms()
    keep(entity, at: place)
    return entity
  }

  private func known(_ place: Place) -> EntityRenderer.StoredEntity? {
    state.withLock { state in
      if let known = state.recent[place] { return known }
      guard let known = state.former[place] else { return nil }
      admit(known, at: place, &state)
      return known
    }
  }

  private func keep(_ entity: EntityRenderer.StoredEntity, at place: Place) {
    state.withLock { admit(entity, at: place, &$0) }
  }

  private func admit(
    _ entity: EntityRenderer.StoredEntity, at place: Place, _ state: inout State
  ) {
    if state.byteCount > byteLimit / 2 {
      state.former = state.recent
      state.recent = [:]
      state.byteCount = 0
    }
    state.recent[place] = entity
    state.byteCount += Self.size(of: entity, at: place)
  }

  /// The approximate size of an entity: its texts, the tapes of these, about as long, and the documents, of which
  /// one is yet to come.
  private static func size(of entity: EntityRenderer.StoredEntity, at place: Place) -> Int {
    512 + place.key.key.utf8.count
      + place.byteCount * 2
      + max(place.byteCount + 256, entity.rendered?.byteCount ?? 0)
  }
}

/// The documents of one stored entity, by their form.
final class RenderedForms: Sendable {
  /// Beyond so many, the oldest is forgotten.
  private static let countMax = 3
  /// Longer documents are not kept: those with many nested entities would fill the memory.
  private static let bytesMax = 16 << 10

  private struct Rendered {
    let selection: ObjectSelection?
    let showsKey: Bool
    let nested: [NestedContent]
    let document: EntityDocument
  }

  private let all = Mutex<[Rendered]>([])

  var byteCount: Int { all.withLock { $0.reduce(0) { $0 + $1.document.body.count + 256 } } }

  func document(
    _ selection: ObjectSelection?, showsKey: Bool, _ nested: [NestedContent]
  ) -> EntityDocument? {
    all.withLock { all in
      all.first { rendered in
        rendered.selection === selection && rendered.showsKey == showsKey
          && rendered.nested.elementsEqual(nested) { $0.isSame(as: $1) }
      }?.document
    }
  }

  func keep(
    _ document: EntityDocument, _ selection: ObjectSelection?, showsKey: Bool,
    _ nested: [NestedContent]
  ) {
    guard document.body.count <= Self.bytesMax else { return }
    all.withLock { all in
      if all.count == Self.countMax { all.removeFirst() }
      all.append(
        Rendered(selection: selection, showsKey: showsKey, nested: nested, document: document))
    }
  }
}

extension NestedContent {
  /// Whether both have the same documents, byte for byte.
  fileprivate func isSame(as other: NestedContent) -> Bool {
    guard name == other.name else { return false }
    switch (value, other.value) {
    case (.entity(let mine), .entity(let theirs)), (.unstored(let mine), .unstored(let theirs)):
      return mine.isSame(as: theirs)
    case (.null, .null), (.missing, .missing): return true
    case (.list(let mine, let hasMore), .list(let theirs, let othersHaveMore)):
      return hasMore == othersHaveMore && mine.elementsEqual(theirs) { $0.isSame(as: $1) }
    case (.entity, _), (.unstored, _), (.null, _), (.missing, _), (.list, _): return false
    }
  }
}

extension EntityDocument {
  fileprivate func isSame(as other: EntityDocument) -> Bool {
    body == other.body && key == other.key && revision == other.revision
  }
}
