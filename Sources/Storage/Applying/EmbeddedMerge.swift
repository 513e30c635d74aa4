import LosslessJSON
import Model

/// Merges a later value of a field with an earlier one if the field holds embedded objects.
///
/// Objects are merged member by member, the later value winning, unless a leaf (or a reference)
/// that both have differs: then they describe different things and the later one replaces the
/// earlier. Lists of equal length merge element by element. Everything else is replaced.
enum EmbeddedMerge {
  static func merge(_ earlier: [UInt8], _ later: [UInt8]) -> [UInt8] {
    guard earlier != later, let before = try? JSONDocument(checked: earlier),
      let after = try? JSONDocument(checked: later)
    else { return later }
    var writer = JSONWriter()
    writer.reserve(earlier.count + later.count)
    write(before.root, after.root, &writer)
    return writer.bytes
  }

  private static func write(_ earlier: JSONNode, _ later: JSONNode, _ writer: inout JSONWriter) {
    if isEmbedded(earlier), isEmbedded(later), agree(earlier, later) {
      writeUnion(earlier, later, &writer)
    } else if earlier.kind == .array, later.kind == .array, holdsEmbedded(earlier),
      holdsEmbedded(later), earlier.count == later.count
    {
      writer.beginArray()
      for (before, after) in zip(earlier.elements, later.elements) { write(before, after, &writer) }
      writer.endArray()
    } else {
      writer.raw(later)
    }
  }

  private static func writeUnion(
    _ earlier: JSONNode, _ later: JSONNode, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    for member in earlier.members {
      writer.name(member.nameNode)
      if let after = later[member.name] {
        write(member.value, after, &writer)
      } else {
        writer.raw(member.value)
      }
    }
    for member in later.members where earlier[member.name] == nil {
      writer.name(member.nameNode)
      writer.raw(member.value)
    }
    writer.endObject()
  }

  /// Whether no leaf that both have differs. Structures and the nulls in their place are not
  /// compared.
  private static func agree(_ earlier: JSONNode, _ later: JSONNode) -> Bool {
    for member in later.members {
      guard let before = earlier[member.name] else { continue }
      let after = member.value
      if holdsEmbedded(before) || holdsEmbedded(after) { continue }
      if !before.hasSameText(as: after) { return false }
    }
    return true
  }

  /// A keyless object; references and a custom scalar's objects carry no type name.
  private static func isEmbedded(_ node: JSONNode) -> Bool {
    node.kind == .object && node[StoredForm.typenameMember] != nil
  }

  private static func holdsEmbedded(_ node: JSONNode) -> Bool {
    node.kind == .array ? node.elements.contains(where: holdsEmbedded) : isEmbedded(node)
  }
}
