import LosslessJSON
import Model

/// The entities that a stored text refers to, wherever in it.
///
/// Unlike a ``ReferenceWalk`` it knows no selection, so what looks like a reference inside a custom
/// scalar counts as one: an entity too many is kept, never one too few.
enum StoredReferences {
  static func append(
    in text: [UInt8], to references: inout [EntityKey]
  ) throws(StorageError) {
    do throws(JSONParseError) {
      append(in: try JSONDocument(checked: text).root, to: &references)
    } catch {
      throw .corrupt("a stored row is not JSON: \(error)")
    }
  }

  private static func append(in node: JSONNode, to references: inout [EntityKey]) {
    switch node.kind {
    case .array:
      for element in node.elements { append(in: element, to: &references) }
    case .object:
      for member in node.members {
        if member.isNamed(StoredForm.referenceMember), let key = key(member.value) {
          references.append(key)
        } else {
          append(in: member.value, to: &references)
        }
      }
    case .null, .true, .false, .number, .string:
      return
    }
  }

  private static func key(_ reference: JSONNode) -> EntityKey? {
    guard reference.kind == .array else { return nil }
    var parts = reference.elements
    guard let type = parts.next()?.string, let key = parts.next()?.string else { return nil }
    return EntityKey(type: type, key: key)
  }
}
