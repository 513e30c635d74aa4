import LosslessJSON
import Model

/// Merges two stored values of one field from the same response.
///
/// Embedded objects merge their fields, and lists of equal length their elements. If a scalar in
/// both differs they are two objects, and the later one is kept.
enum StoredMerge {
  /// The merged text; nil if the first value contains everything.
  static func merge(_ first: Range<Int>, _ second: Range<Int>, in bytes: [UInt8]) -> [UInt8]? {
    if bytes[first] == bytes[second] { return nil }
    // Texts that were just written are well-formed.
    guard let first = try? JSONDocument(checked: bytes, range: first),
      let second = try? JSONDocument(checked: bytes, range: second)
    else { return nil }
    var writer = JSONWriter()
    write(first.root, second.root, to: &writer)
    return writer.bytes
  }

  private static func write(_ first: JSONNode, _ second: JSONNode, to writer: inout JSONWriter) {
    if isEmbedded(first), isEmbedded(second), agree(first, second) {
      writer.beginObject()
      for member in first.members {
        writer.name(member.nameNode)
        if let other = second[member.name] {
          write(member.value, other, to: &writer)
        } else {
          writer.value(member.value)
        }
      }
      for member in second.members where first[member.name] == nil {
        writer.name(member.nameNode)
        writer.value(member.value)
      }
      writer.endObject()
    } else if first.kind == .array, second.kind == .array, first.count == second.count {
      writer.beginArray()
      for (left, right) in zip(first.elements, second.elements) {
        write(left, right, to: &writer)
      }
      writer.endArray()
    } else {
      writer.value(second)
    }
  }

  private static func isEmbedded(_ node: JSONNode) -> Bool {
    node.members.first { _ in true }?.isNamed(StoredForm.typenameMember) ?? false
  }

  private static func agree(_ first: JSONNode, _ second: JSONNode) -> Bool {
    first.members.allSatisfy { member in
      guard !member.value.isContainer, let other = second[member.name], !other.isContainer
      else { return true }
      return member.value.hasSameText(as: other)
    }
  }
}
