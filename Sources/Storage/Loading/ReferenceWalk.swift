import LosslessJSON
import Model

/// Finds the references that a selection follows in stored fields, and the selections that apply to
/// their targets.
struct ReferenceWalk {
  /// The selections still to follow, by type and key.
  private(set) var frontier: [String: [ExactText: [ObjectSelection]]] = [:]
  private var followed: Set<Step> = []

  private struct Step: Hashable {
    let key: EntityKey
    let selection: ObjectIdentifier
  }

  mutating func takeFrontier() -> [String: [ExactText: [ObjectSelection]]] {
    defer { frontier = [:] }
    return frontier
  }

  /// Follows a result's roots.
  mutating func follow(_ root: JSONNode, _ selection: FieldSelection) {
    guard let fields = selection.single ?? selection.types.values.first else { return }
    follow([root], fields)
  }

  /// Follows one object's fields, each in the first layer that has it; also in the layers below an
  /// overlay, which show where the overlay leads nowhere.
  mutating func follow(_ layers: [JSONNode], _ selection: ObjectSelection) {
    let isOverlaid = layers.count > 1 && layers[0][StoredForm.pendingMember] != nil
    for field in selection.fields {
      guard case .object(let inner) = field.value else { continue }
      for (index, layer) in layers.enumerated() {
        guard let value = layer[field.storageName] else { continue }
        collect(value, inner)
        guard isOverlaid, index == 0 else { break }
      }
    }
  }

  private mutating func collect(_ value: JSONNode, _ selection: FieldSelection) {
    switch value.kind {
    case .array:
      for element in value.elements { collect(element, selection) }
    case .object:
      if let reference = value[StoredForm.referenceMember] {
        note(reference, selection)
      } else if let fields = Self.fields(of: value, selection) {
        follow([value], fields)
      }
    case .null, .true, .false, .number, .string:
      return
    }
  }

  private mutating func note(_ reference: JSONNode, _ selection: FieldSelection) {
    var parts = reference.elements
    guard let type = parts.next()?.string, let key = parts.next()?.string,
      let fields = selection.types[type]
    else { return }
    let step = Step(
      key: EntityKey(type: type, key: key), selection: ObjectIdentifier(fields))
    guard followed.insert(step).inserted else { return }
    frontier[type, default: [:]][ExactText(key), default: []].append(fields)
  }

  private static func fields(
    of embedded: JSONNode, _ selection: FieldSelection
  ) -> ObjectSelection? {
    if let type = embedded[StoredForm.typenameMember]?.string, let fields = selection.types[type] {
      return fields
    }
    return selection.single
  }
}

extension ObjectSelection {
  /// Whether anything below its own leaves is selected.
  var hasObjects: Bool {
    fields.contains { field in
      if case .object = field.value { true } else { false }
    }
  }
}
