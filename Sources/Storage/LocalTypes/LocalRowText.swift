import LosslessJSON
import Model

/// The text of a local row: every field of its type in declared order, then what a type had before
/// and lost, in alphabetical order. The same content is always the same text.
enum LocalRowText {
  static func bytes(_ fields: [String: JSONValue], of type: LocalType) -> [UInt8] {
    let declared = Set(type.fields.map(\.name))
    var writer = JSONWriter()
    writer.beginObject()
    for field in type.fields {
      writer.name(field.name)
      writer.value(fields[field.name] ?? field.emptyValue)
    }
    for name in fields.keys.filter({ !declared.contains($0) }).sorted() {
      guard let value = fields[name] else { continue }
      writer.name(name)
      writer.value(value)
    }
    writer.endObject()
    return writer.bytes
  }

  static func fields(_ bytes: [UInt8]) throws(StorageError) -> [String: JSONValue] {
    do throws(JSONParseError) {
      let members = try JSONValue(checked: bytes).members ?? []
      return Dictionary(
        members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    } catch {
      throw .corrupt("a stored row is not JSON: \(error)")
    }
  }
}
